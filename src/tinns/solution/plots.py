"""Figures of a solution: the function and its error, the training, the trajectory of weights."""

from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

import jax
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure, FigureBase
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import NullFormatter

from tinns._runtime.errors import UserError
from tinns._runtime.files import write_whole
from tinns._runtime.precision import computing_in
from tinns.geometry import TIME
from tinns.nn import Constrained, Field, TimeInduced
from tinns.nn.backbones import Theta
from tinns.optim.optimizer import DAMPING, STEP_NORM
from tinns.solution.core import Solution
from tinns.solvers import History
from tinns.solvers.frozen_features.options import SIMULATED_TIME, STEP_SIZE
from tinns.solvers.history import ERROR, LOSS, VALIDATION_LOSS

SIGNED_COLOURS = "RdBu_r"
ONE_SIGNED_COLOURS = "viridis"
ERROR_COLOURS = "magma"
ERROR_FLOOR = 1e-16


class Colours(TypedDict):
    """A linear colour scale."""

    cmap: str
    vmin: float
    vmax: float


class ErrorColours(TypedDict):
    """A logarithmic colour scale."""

    cmap: str
    norm: LogNorm


def plot_solution(solution: Solution, path: str | Path) -> Path:
    """Draw `solution_figure` into a .png, .pdf or .svg file."""
    return _save(solution_figure, solution, path)


def plot_training(solution: Solution, path: str | Path) -> Path:
    """Draw `training_figure` into a .png, .pdf or .svg file."""
    return _save(training_figure, solution, path)


def plot_trajectory(solution: Solution, path: str | Path) -> Path:
    """Draw `trajectory_figure` into a .png, .pdf or .svg file."""
    return _save(trajectory_figure, solution, path)


def solution_figure(solution: Solution) -> Figure:
    """Reference, prediction and absolute error of every unknown, at several times."""
    if len(solution.domain.space) == 1:
        return _one_dimension(solution)
    return _several_dimensions(solution)


def training_figure(solution: Solution) -> Figure:
    """Loss, validation loss, error and damping against iterations."""
    history = solution.history
    if len(history) == 0:
        raise UserError("this solution has no history to plot")
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2)
    series = ((LOSS, "training loss"), (VALIDATION_LOSS, "validation loss"))
    for name, label in series:
        left.semilogy(*history.measured(name), label=label, lw=1.2, marker=_marker(history, name))
    iterations, errors = history.measured(ERROR)
    if errors.size:
        dot = _marker(history, ERROR)
        left.semilogy(iterations, errors, "k", label="relative L2 error", lw=1.6, marker=dot)
    left.set(xlabel="iteration", title=f"{_title(solution)}: convergence")
    left.legend(frameon=False)
    if STEP_SIZE in history:
        right.semilogy(history[SIMULATED_TIME], history[STEP_SIZE], color="tab:green", label="step")
        right.set(xlabel="t", title="steps in time")
        right.legend(frameon=False)
        return figure
    column, label = (DAMPING, "damping μ") if DAMPING in history else (STEP_NORM, "‖step‖")
    right.semilogy(*history.measured(column), color="tab:green", lw=1.2, label=label)
    if column == DAMPING:
        right.semilogy(*history.measured(STEP_NORM), color="tab:gray", lw=0.8, label="‖step‖")
    right.set(xlabel="iteration", title="damping and steps")
    right.legend(frameon=False)
    return figure


def _marker(history: History, name: str) -> str | None:
    """A dot for a value that was measured only once: a line through one point is invisible."""
    return "o" if history.measured(name)[1].size == 1 else None


def has_trajectory(solution: Solution) -> bool:
    """Whether the weights follow the paper's layer-wise temporal code Φ(t)."""
    field = _network(solution)
    return isinstance(field, TimeInduced) and field.has_temporal_code


def trajectory_figure(solution: Solution) -> Figure:
    """Φ(t), one curve per weight or bias group, and the gates α."""
    field = _network(solution)
    if not (isinstance(field, TimeInduced) and field.has_temporal_code):
        raise UserError("only a layer-wise trajectory has a temporal code Φ(t) to plot")
    psi, domain = solution.psi["field"], solution.domain
    times = np.linspace(*solution.domain.interval(TIME), 300)
    with computing_in(solution.precision):
        phi = np.asarray(jax.vmap(lambda t: field.temporal_code(psi, domain, t))(times))
    path_of_weights = field.path(psi)
    names = _group_names(path_of_weights["offset"])
    figure = _figure(10, 4)
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    for number, name in enumerate(names):
        left.plot(times, phi[:, number], label=name)
    left.set(xlabel="t", title=f"{_title(solution)}: temporal code Φ(t)")
    left.legend(frameon=False, ncols=2 + len(names) // 12, fontsize="small")
    right.barh(names[::-1], np.asarray(path_of_weights["alpha"])[::-1], color="tab:gray")
    right.axvline(0, color="k", lw=0.5)
    right.set(title="gates α")
    return figure


def _group_names(theta: Theta) -> list[str]:
    """W1, b1, W2, ... for the groups of parameters in their order; g for a single number."""
    names, weights = [], 0
    for leaf in jax.tree.leaves(theta):
        weights += leaf.ndim == 2
        names.append(f"${'gbW'[leaf.ndim]}_{{{weights}}}$")
    return names


def _network(solution: Solution) -> Field:
    """The field that holds ψ, without the conditions built in around it."""
    field = solution.field
    return field.inner if isinstance(field, Constrained) else field


def _one_dimension(solution: Solution) -> Figure:
    """For each unknown: images over (t, x), and below them slices at four times."""
    (space,) = solution.domain.space
    grid = solution.grid(**{space: 301, TIME: 202})  # 201 intervals: a third of them is whole
    x, t = grid[space].values, grid[TIME].values
    known = _known(solution, {space: x, TIME: t})
    width, height = (13, 7.5) if known else (9, 7)
    figure = _figure(width, height * len(solution.unknowns))
    for part, name in _parts(figure, solution):
        rows = part.add_gridspec(2, 1, height_ratios=(1.3, 1))
        u, exact = grid[name].values, known.get(name)
        colours = _colours(u if exact is None else exact)
        _images(part, rows[0], (space, t, x), u, exact, colours)
        _slices(part, rows[1], (space, t, x), u, exact, colours, name)
    figure.suptitle(_headline(solution))
    return figure


def _images(
    part: FigureBase,
    place: SubplotSpec,
    axes: tuple[str, np.ndarray, np.ndarray],
    u: np.ndarray,
    exact: np.ndarray | None,
    colours: Colours,
) -> None:
    """Reference, prediction and error, or the prediction alone."""
    space, t, x = axes
    shown = [("prediction", u)] if exact is None else [("reference", exact), ("prediction", u)]
    columns = place.subgridspec(1, len(shown) + (exact is not None))
    for number, (label, values) in enumerate(shown):
        panel = part.add_subplot(columns[number])
        image = panel.pcolormesh(t, x, values, rasterized=True, **colours)
        panel.set(title=label, xlabel="t", ylabel=space)
        part.colorbar(image, ax=panel)
    if exact is not None:
        panel = part.add_subplot(columns[len(shown)])
        _error_image(part, panel, t, x, np.abs(u - exact))
        panel.set(xlabel="t", ylabel=space)


def _slices(
    part: FigureBase,
    place: SubplotSpec,
    axes: tuple[str, np.ndarray, np.ndarray],
    u: np.ndarray,
    exact: np.ndarray | None,
    colours: Colours,
    name: str,
) -> None:
    """u over x at four times."""
    space, t, x = axes
    times = np.linspace(t[0], t[-1], 4)
    margin = 0.08 * (colours["vmax"] - colours["vmin"])
    columns = place.subgridspec(1, len(times))
    for number, time in enumerate(times):
        panel = part.add_subplot(columns[number])
        column = int(np.argmin(np.abs(t - time)))
        if exact is not None:
            panel.plot(x, exact[:, column], color="0.7", lw=4, label="reference")
        style = "k--" if exact is not None else "k"
        panel.plot(x, u[:, column], style, lw=1.2, label="prediction")
        panel.set(title=f"t = {t[column]:.3g}", xlabel=space)
        panel.set_ylim(colours["vmin"] - margin, colours["vmax"] + margin)
        if number == 0:
            panel.set_ylabel(name)
            if exact is not None:
                panel.legend(frameon=False, fontsize="small")


def _several_dimensions(solution: Solution) -> Figure:
    """For each unknown: rows of reference, prediction and error over (x, y), at four times."""
    first, second, *rest = solution.domain.space
    cut = {axis: _cut(*solution.domain.interval(axis)) for axis in rest}
    times = np.linspace(*solution.domain.interval(TIME), 4)
    plane = {a: np.linspace(*solution.domain.interval(a), 101) for a in (first, second)}
    points = {**plane, **{axis: np.array([value]) for axis, value in cut.items()}, TIME: times}
    grid = solution.grid(**points)
    known = _known(solution, points)
    shape, unknowns = (101, 101, len(times)), solution.unknowns
    height = (3.0 if len(unknowns) == 1 else 2.2) * (3 if known else 1) * len(unknowns)
    figure = _figure((3.2 if len(unknowns) == 1 else 2.0) * len(times) + 1, height)
    for part, name in _parts(figure, solution):
        u, exact = grid[name].values.reshape(shape), known.get(name)
        rows = [("prediction", u)]
        if exact is not None:
            exact = exact.reshape(shape)
            rows = [("reference", exact), ("prediction", u), ("|error|", np.abs(u - exact))]
        panels = part.subplots(len(rows), len(times), squeeze=False, sharex=True, sharey=True)
        for row, (label, values) in enumerate(rows):
            if label == "|error|":
                shown, style = _error_colours(values)
            else:
                shown, style = values, _colours(rows[0][1])
            images = []
            for column, time in enumerate(times):
                panel = panels[row, column]
                images.append(
                    panel.pcolormesh(
                        *plane.values(), shown[..., column].T, rasterized=True, **style
                    )
                )
                panel.set(title=f"{label}, t = {time:.3g}", aspect="equal")
                panel.set_xlabel(first if row == len(rows) - 1 else "")
                panel.set_ylabel(second if column == 0 else "")
            bar = part.colorbar(images[-1], ax=panels[row], shrink=0.9)
            bar.minorformatter = NullFormatter()
    where = ", ".join(f"{axis} = {value:.3g}" for axis, value in cut.items())
    figure.suptitle(_headline(solution) + (f"; at {where}" if where else ""))
    return figure


def _parts(figure: Figure, solution: Solution) -> list[tuple[FigureBase, str]]:
    """One part of the figure for each unknown, titled where there are several."""
    unknowns = solution.unknowns
    if len(unknowns) == 1:
        return [(figure, unknowns[0])]
    parts = figure.subfigures(len(unknowns), 1, squeeze=False)[:, 0]
    for part, name in zip(parts, unknowns, strict=True):
        part.suptitle(name, fontweight="bold")
    return list(zip(parts, unknowns, strict=True))


def _cut(lower: float, upper: float) -> float:
    """Where an axis that is not drawn is cut: off the middle, where odd functions vanish."""
    return lower + 0.375 * (upper - lower)


def _colours(values: np.ndarray) -> Colours:
    """A diverging scale around zero for values of both signs, else one over their range."""
    lowest, highest = float(np.nanmin(values)), float(np.nanmax(values))
    if lowest < -1e-3 * abs(highest) and highest > 1e-3 * abs(lowest):
        limit = max(-lowest, highest)
        return {"cmap": SIGNED_COLOURS, "vmin": -limit, "vmax": limit}
    if highest - lowest == 0:
        highest = lowest + 1.0
    return {"cmap": ONE_SIGNED_COLOURS, "vmin": lowest, "vmax": highest}


def _error_image(
    figure: FigureBase, axes: Axes, x: np.ndarray, y: np.ndarray, error: np.ndarray
) -> None:
    shown, style = _error_colours(error)
    image = axes.pcolormesh(x, y, shown, rasterized=True, **style)
    axes.set(title=f"|error|, at most {np.nanmax(error):.1e}")
    figure.colorbar(image, ax=axes).minorformatter = NullFormatter()


def _error_colours(error: np.ndarray) -> tuple[np.ndarray, ErrorColours]:
    """The errors on a logarithmic scale over at least one decade, and that scale.

    It leaves out the smallest errors, which are raised to its lower end.
    """
    top = max(float(np.nanmax(error)), 10 * ERROR_FLOOR)
    bottom = max(float(np.nanquantile(error, 0.05)), top * 1e-6, ERROR_FLOOR)
    bottom = min(bottom, top / 10)
    return np.maximum(error, bottom), {"cmap": ERROR_COLOURS, "norm": LogNorm(bottom, top)}


def _known(solution: Solution, axes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The reference on a grid by unknown; NaN, which is not drawn, where it is not finite."""
    reference = solution.problem.known_solution() if solution.problem is not None else None
    if reference is None:
        return {}
    values = reference.on_grid(**axes)
    values = np.where(np.isfinite(values), values, np.nan)
    columns = np.moveaxis(values, -1, 0) if values.ndim > len(axes) else [values]
    return dict(zip(solution.unknowns, columns, strict=False))


def _title(solution: Solution) -> str:
    return solution.problem.name if solution.problem is not None else "solution"


def _headline(solution: Solution) -> str:
    parts, estimate = [f"{solution.parameters} parameters"], solution.result.get("estimate")
    if solution.result.get("relative_l2") is not None:
        parts.append(f"relative L2 error {solution.result['relative_l2']:.2e}")
    if estimate and estimate["relative_l2"] is not None:
        parts.append(f"estimated {estimate['relative_l2']:.1e}")
    if solution.verdict is not None:
        parts.append(solution.verdict.status)
    return f"{_title(solution)}: {', '.join(parts)}"


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(draw: Callable[[Solution], Figure], solution: Solution, path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() not in {".png", ".pdf", ".svg"}:
        raise UserError(f"cannot plot to {path}: expected a name that ends in .png, .pdf or .svg")
    figure = draw(solution)
    return write_whole(path, lambda temporary: figure.savefig(temporary, dpi=150))
