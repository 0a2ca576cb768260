"""Pictures of a solution: the function and its error, the training, the path through weights."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from tinns.domain import TIME
from tinns.errors import UserError
from tinns.fields import Constrained, Field, Layerwise, TimeInduced
from tinns.files import write_whole
from tinns.solution import Solution
from tinns.training import History

SIGNED_COLOURS = "RdBu_r"
ONE_SIGNED_COLOURS = "viridis"
ERROR_COLOURS = "magma"
ERROR_FLOOR = 1e-16


def plot_solution(solution: Solution, path: str | Path) -> Path:
    """Reference, prediction and absolute error over (x, t), with slices at several times."""
    if len(solution.domain.space) == 1:
        figure = _one_dimension(solution)
    else:
        figure = _several_dimensions(solution)
    return _save(figure, path)


def plot_training(solution: Solution, path: str | Path) -> Path:
    """Loss, validation loss, error and damping against iterations."""
    history = solution.history
    if len(history) == 0:
        raise UserError("this solution carries no history to draw")
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2)
    series = (("loss", "training loss"), ("validation_loss", "validation loss"))
    for name, label in series:
        left.semilogy(*history.measured(name), label=label, lw=1.2, marker=_marker(history, name))
    iterations, errors = history.measured("relative_l2")
    if errors.size:
        dot = _marker(history, "relative_l2")
        left.semilogy(iterations, errors, "k", label="relative L2 error", lw=1.6, marker=dot)
    left.set(xlabel="iteration", title=f"{_title(solution)}: convergence")
    left.legend(frameon=False)
    if "step_size" in history:  # of an ODE solver
        right.semilogy(history["time"], history["step_size"], color="tab:green", label="step")
        right.set(xlabel="t", title="steps in time")
        right.legend(frameon=False)
        return _save(figure, path)
    column, label = ("damping", "damping μ") if "damping" in history else ("step_norm", "‖step‖")
    right.semilogy(*history.measured(column), color="tab:green", lw=1.2, label=label)
    if column == "damping":
        right.semilogy(*history.measured("step_norm"), color="tab:gray", lw=0.8, label="‖step‖")
    right.set(xlabel="iteration", title="damping and steps")
    right.legend(frameon=False)
    return _save(figure, path)


def _marker(history: History, name: str) -> str | None:
    """A dot for a value that was measured once: a line through one point is not seen."""
    return "o" if history.measured(name)[1].size == 1 else None


def has_trajectory(solution: Solution) -> bool:
    """Whether the weights move along the paper's layer-wise code Φ(t)."""
    field = _network(solution)
    return isinstance(field, TimeInduced) and isinstance(field.trajectory, Layerwise)


def plot_trajectory(solution: Solution, path: str | Path) -> Path:
    """Φ(t), one curve per weight or bias group, and the gates α."""
    field = _network(solution)
    if not (isinstance(field, TimeInduced) and isinstance(field.trajectory, Layerwise)):
        raise UserError("only a layer-wise trajectory has a code Φ(t) to draw")
    trajectory, psi = field.trajectory, solution.psi["field"]
    times = np.linspace(*solution.domain.interval(TIME), 300)
    with jax.enable_x64(solution.precision == "float64"):
        phi = np.asarray(jax.vmap(lambda t: trajectory.phi(psi, t))(times))
    names = [
        f"${letter}_{{{number + 1}}}$"
        for number, layer in enumerate(psi["offset"])
        for letter, _ in zip("Wb", layer, strict=False)
    ]
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    for number, name in enumerate(names):
        left.plot(times, phi[:, number], label=name)
    left.set(xlabel="t", title=f"{_title(solution)}: temporal code Φ(t)")
    left.legend(frameon=False, ncols=2)
    right.bar(names, np.asarray(psi["alpha"]), color="tab:gray")
    right.axhline(0, color="k", lw=0.5)
    right.set(title="gates α")
    return _save(figure, path)


def _network(solution: Solution) -> Field:
    """The field that holds ψ, without the conditions built in around it."""
    field = solution.field
    return field.inner if isinstance(field, Constrained) else field


def _one_dimension(solution: Solution) -> Figure:
    (space,) = solution.domain.space
    name = solution.unknowns[0]
    grid = solution.grid(**{space: 301, TIME: 202})  # 201 intervals: a third of them is whole
    x, t, u = grid[space].values, grid[TIME].values, grid[name].values
    known = _known(solution, {space: x, TIME: t})
    figure = _figure(13, 7.5) if known is not None else _figure(9, 7)
    rows = figure.add_gridspec(2, 1, height_ratios=(1.3, 1))
    panels = [("prediction", u)] if known is None else [("reference", known), ("prediction", u)]
    top = rows[0].subgridspec(1, len(panels) + (known is not None))
    colours = _colours(panels[0][1])
    for number, (label, values) in enumerate(panels):
        axes = figure.add_subplot(top[number])
        image = axes.pcolormesh(t, x, values, rasterized=True, **colours)
        axes.set(title=label, xlabel="t", ylabel=space)
        figure.colorbar(image, ax=axes)
    if known is not None:
        axes = figure.add_subplot(top[len(panels)])
        _error_image(figure, axes, t, x, np.abs(u - known))
        axes.set(xlabel="t", ylabel=space)
    times = np.linspace(t[0], t[-1], 4)
    bottom = rows[1].subgridspec(1, len(times))
    for number, time in enumerate(times):
        axes = figure.add_subplot(bottom[number])
        column = int(np.argmin(np.abs(t - time)))
        margin = 0.08 * (colours["vmax"] - colours["vmin"])
        if known is not None:
            axes.plot(x, known[:, column], color="0.7", lw=4, label="reference")
        axes.plot(x, u[:, column], "k--" if known is not None else "k", lw=1.2, label="prediction")
        axes.set(title=f"t = {t[column]:.3g}", xlabel=space)
        axes.set_ylim(colours["vmin"] - margin, colours["vmax"] + margin)
        if number == 0:
            axes.set_ylabel(name)
            if known is not None:
                axes.legend(frameon=False, fontsize="small")
    figure.suptitle(_headline(solution))
    return figure


def _several_dimensions(solution: Solution) -> Figure:
    first, second, *rest = solution.domain.space
    name = solution.unknowns[0]
    middle = {axis: [sum(solution.domain.interval(axis)) / 2] for axis in rest}
    times = np.linspace(*solution.domain.interval(TIME), 4)
    axes_points = {a: np.linspace(*solution.domain.interval(a), 101) for a in (first, second)}
    grid = solution.grid(**axes_points, **middle, t=times)
    u = grid[name].values.reshape(101, 101, len(times))
    known = _known(solution, {**axes_points, **middle, TIME: times})
    rows = [("prediction", u)]
    if known is not None:
        known = known.reshape(u.shape)
        rows = [("reference", known), ("prediction", u), ("|error|", np.abs(u - known))]
    figure = _figure(3.2 * len(times) + 1, 3.0 * len(rows))
    panels = figure.subplots(len(rows), len(times), squeeze=False, sharex=True, sharey=True)
    for row, (label, values) in enumerate(rows):
        style = _error_colours(values) if label == "|error|" else _colours(rows[0][1])
        shown = np.maximum(values, style["norm"].vmin) if label == "|error|" else values
        for column, time in enumerate(times):
            panel = panels[row, column]
            image = panel.pcolormesh(
                *axes_points.values(), shown[..., column].T, rasterized=True, **style
            )
            panel.set(title=f"{label}, t = {time:.3g}", aspect="equal")
            panel.set_xlabel(first if row == len(rows) - 1 else "")
            panel.set_ylabel(second if column == 0 else "")
        figure.colorbar(image, ax=panels[row], shrink=0.9)
    figure.suptitle(_headline(solution))
    return figure


def _colours(values: np.ndarray) -> dict[str, Any]:
    """A diverging scale round zero for values of both signs, else one from end to end."""
    lowest, highest = float(values.min()), float(values.max())
    if lowest < -1e-3 * abs(highest) and highest > 1e-3 * abs(lowest):
        limit = max(-lowest, highest)
        return {"cmap": SIGNED_COLOURS, "vmin": -limit, "vmax": limit}
    if highest - lowest == 0:
        highest = lowest + 1.0
    return {"cmap": ONE_SIGNED_COLOURS, "vmin": lowest, "vmax": highest}


def _error_image(
    figure: Figure, axes: Axes, x: np.ndarray, y: np.ndarray, error: np.ndarray
) -> None:
    style = _error_colours(error)
    shown = np.maximum(error, style["norm"].vmin)
    image = axes.pcolormesh(x, y, shown, rasterized=True, **style)
    axes.set(title=f"|error|, at most {error.max():.1e}")
    figure.colorbar(image, ax=axes)


def _error_colours(error: np.ndarray) -> dict[str, Any]:
    """A logarithmic scale that leaves out the smallest errors, over at least one decade."""
    top = max(float(error.max()), 10 * ERROR_FLOOR)
    bottom = max(float(np.quantile(error, 0.05)), top * 1e-6, ERROR_FLOOR)
    return {"cmap": ERROR_COLOURS, "norm": LogNorm(min(bottom, top / 10), top)}


def _known(solution: Solution, axes: dict[str, np.ndarray | list[float]]) -> np.ndarray | None:
    """The reference for the first unknown on a grid, or None."""
    reference = solution.problem.known_solution() if solution.problem is not None else None
    if reference is None:
        return None
    values = reference.on_grid(**{axis: np.asarray(points) for axis, points in axes.items()})
    return values[..., 0] if values.ndim > len(axes) else values


def _title(solution: Solution) -> str:
    return solution.problem.name if solution.problem is not None else "solution"


def _headline(solution: Solution) -> str:
    error = solution.result.get("relative_l2")
    stated = "" if error is None else f", relative L2 error {error:.2e}"
    return f"{_title(solution)}: {solution.parameters} parameters{stated}"


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Figure, path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() not in {".png", ".pdf", ".svg"}:
        raise UserError(f"cannot draw {path}: expected a name that ends in .png, .pdf or .svg")
    return write_whole(path, lambda temporary: figure.savefig(temporary, dpi=150))
