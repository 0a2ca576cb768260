"""Whether weights that follow a solution in time move along one direction [TINN, Appendix A.2].

A network in space alone is fitted to u*(·, t) of Korteweg-de Vries at many times. For each group of
parameters (W1, b1, ...) the values at all times are the rows of a matrix, and σ1² / Σ σi² is the
share that the leading direction explains.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from tinns._runtime.compilation import compiled
from tinns._runtime.host_blas import single_threaded_blas
from tinns.geometry import Batch, Domain
from tinns.nn import MLP
from tinns.nn.embeddings import embed_space, embedded_width
from tinns.objective import Block, Objective
from tinns.optim.lm import AcceleratedLM
from tinns.paper.diagnostics.findings import Findings, Request
from tinns.paper.published import published
from tinns.problems import KortewegDeVries
from tinns.solvers import Stop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TIMES, POINTS = 101, 1024
BACKBONE = MLP((20, 20))
USUAL = Stop(iterations=300)  # of each fit
TARGET = 1e-4  # relative error at which a fit ends: that of the paper's TINN on KdV
BATCH = 10  # steps in one call of the compiled program
Data = Mapping[str, Array]
Steps = Callable[[PyTree, PyTree, Data, Array, Array], PyTree]
# A fit starts where the one before ended; strong damping at first keeps it near there. Points are
# few, so the stable solve is used throughout.
OPTIMIZER = AcceleratedLM(mu0=1e-2, scaling=None, stable=True)


@dataclass(frozen=True)
class Fits:
    """Parameters of the network at every time, group by group, and how well they fit."""

    times: np.ndarray
    groups: dict[str, np.ndarray]  # W1, b1, ...: (times, entries)
    errors: np.ndarray  # ‖u_θ(t) - u*(·, t)‖ / ‖u*(·, t)‖
    iterations: np.ndarray


def rank_one_shares(request: Request, times: int = TIMES, points: int = POINTS) -> Findings:
    """σ1² / Σ σi² of each group of parameters, as it is and about its mean in time."""
    stop = request.stop(USUAL)
    fits = fit_times(BACKBONE, times, points, stop, request.seed, request.progress)
    shares = {
        name: {"whole": leading_share(path), "centred": leading_share(path - path.mean(axis=0))}
        for name, path in fits.groups.items()
    }
    rows_printed = published()["singular-values"].problems["kdv"]
    printed = {g: row.share for g, row in rows_printed.items() if row.share is not None}
    rows = tuple(
        (
            f"{name}(t)",
            f"{100 * share['whole']:.1f} %",
            f"{100 * share['centred']:.1f} %",
            f"{100 * printed[name]:.0f} %" if name in printed else "–",
        )
        for name, share in shares.items()
    )
    worst = int(np.argmax(fits.errors))
    reached = int(np.sum(fits.errors <= TARGET))
    remarks = (
        f"The network of {sum(path.shape[1] for path in fits.groups.values())} parameters is "
        f"fitted by least squares to {points} values of u*(·, t) at each of {times} times. Each "
        "fit starts from the previous one (continuation), so that the order of neurons is kept.",
        f"Relative errors of the fits: median {np.median(fits.errors):.1e}, largest "
        f"{fits.errors[worst]:.1e} at t = {fits.times[worst]:.3g}; {reached} of {times} reach the "
        f"{TARGET:.0e} at which a fit ends.",
        "The paper does not say whether the mean in time is subtracted. Its caption gives the "
        "formula alone, which is the column of the whole; its text mentions explained variation. "
        "The mean distance from the paper's values is "
        f"{_distance(shares, printed, 'whole'):.1f} percentage points for the whole and "
        f"{_distance(shares, printed, 'centred'):.1f} about the mean.",
    )
    data = {
        "diagnostic": "rank-one",
        "problem": "kdv",
        "seed": request.seed,
        "backbone": list(BACKBONE.hidden),
        "points": points,
        "target": TARGET,
        "shares": shares,
        "published": printed,
        "times": fits.times.tolist(),
        "fit_errors": fits.errors.tolist(),
        "iterations": int(fits.iterations.sum()),
        "fit_iterations": fits.iterations.tolist(),
    }
    header = ("matrix", "σ1²/Σσi², whole", "about the mean in time", "the paper's")
    title = "Share of the leading direction in the path of the weights, KdV"
    return Findings(title, header, rows, remarks, data, _picture(fits))


def leading_share(matrix: np.ndarray) -> float:
    """σ1² / Σ σi²; 1 for a matrix of zeros."""
    squares = np.linalg.svd(matrix, compute_uv=False) ** 2
    total = squares.sum()
    return float(squares[0] / total) if total > 0 else 1.0


def _distance(
    shares: Mapping[str, Mapping[str, float]], printed: Mapping[str, float], column: str
) -> float:
    """The mean distance from the paper's values, in percentage points."""
    return float(np.mean([100 * abs(shares[g][column] - value) for g, value in printed.items()]))


def fit_times(
    backbone: MLP, times: int, points: int, stop: Stop, seed: int, progress: bool
) -> Fits:
    """Fit the backbone to u*(·, t) at equidistant times, each from the parameters before."""
    problem = KortewegDeVries()
    (x_low, x_high), t = problem.domain.interval("x"), np.linspace(0, 1, times)
    x = np.linspace(x_low, x_high, points, endpoint=False)  # the end is the beginning
    with shown(progress, times) as bar:
        known = problem.reference().on_grid(x=x, t=t)
        norms = np.sqrt(np.mean(known**2, axis=0))
        with jax.enable_x64(True), single_threaded_blas():
            theta = backbone.init(jax.random.key(seed), embedded_width(problem.domain), 1)
            steps = _compiled_steps(backbone, problem.domain, theta, points)
            errors, counts, paths, began = [], [], [], time.perf_counter()
            for number in range(times):
                data = {"x": jnp.asarray(x), "u": jnp.asarray(known[:, number])}
                end = began + stop.seconds * (number + 1) / times if stop.seconds else None
                theta, error, count = _fit(steps, theta, data, norms[number], stop, end)
                errors.append(error)
                counts.append(count)
                paths.append([np.asarray(leaf).ravel() for leaf in jax.tree.leaves(theta)])
                bar(number + 1, t[number], error)
    names = [
        f"{letter}{number + 1}"
        for number, layer in enumerate(theta)
        for letter, _ in zip("Wb", layer, strict=False)
    ]
    groups = {name: np.stack([p[g] for p in paths]) for g, name in enumerate(names)}
    return Fits(t, groups, np.array(errors), np.array(counts))


def _compiled_steps(backbone: MLP, domain: Domain, theta: PyTree, points: int) -> Steps:
    """Compile a program that takes several steps: (θ, state, data, target, most) -> θ, state, loss,
    count.

    It is compiled once for all times, since only the data differ.
    """

    def rows(theta: PyTree, point: Batch) -> Array:
        u = backbone(theta, embed_space(domain, {"x": point["x"]}, scaled=False))
        return jnp.asarray(u) - (point.values or {})["u"]

    def steps(theta: PyTree, state: PyTree, data: Data, target: Array, most: Array) -> PyTree:
        batch = Batch({"x": data["x"]}, values={"u": data["u"]})
        objective = Objective((Block("values", ("u",), rows),), (batch,))

        def body(value: PyTree) -> PyTree:
            theta, state, _, count = value
            theta, state, _ = OPTIMIZER.step(objective, theta, state)
            return theta, state, jnp.sum(objective.losses(theta)), count + 1

        def keeps_going(value: PyTree) -> Array:
            return (value[2] > target) & (value[3] < most)

        start = jnp.sum(objective.losses(theta))
        return jax.lax.while_loop(keeps_going, body, (theta, state, start, jnp.zeros_like(most)))

    data = {name: jnp.zeros(points) for name in ("x", "u")}
    target, most = jnp.asarray(0.0), jnp.asarray(0)
    return compiled(steps, theta, OPTIMIZER.init(theta), data, target, most)


def _fit(
    steps: Steps, theta: PyTree, data: Data, norm: float, stop: Stop, end: float | None
) -> tuple[PyTree, float, int]:
    """Fit until the target or a limit is reached: θ, the relative error and the number of steps."""
    state, done = OPTIMIZER.init(theta), 0
    goal = jnp.asarray((TARGET * norm) ** 2)
    while True:
        left = BATCH if stop.iterations is None else min(BATCH, stop.iterations - done)
        theta, state, loss, count = steps(theta, state, data, goal, jnp.asarray(left))
        done += int(count)
        out_of_steps = stop.iterations is not None and done >= stop.iterations
        out_of_time = end is not None and time.perf_counter() >= end
        if loss <= goal or out_of_steps or out_of_time:
            return theta, float(np.sqrt(loss)) / norm, done


@contextmanager
def shown(progress: bool, total: int) -> Iterator[Callable[[int, float, float], None]]:
    """A progress bar over the fitted times, or nothing."""
    if not progress:
        yield lambda *_: None
        return
    columns = (BarColumn(bar_width=20), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as line:
        task = line.add_task("preparing the reference and the first fit", total=total)

        def update(done: int, t: float, error: float) -> None:
            text = f"{done} of {total} fits, t = {t:.3f}, error {error:.1e}"
            line.update(task, completed=done, description=text)

        yield update


def _picture(fits: Fits) -> "Figure":
    """The leading direction over time, the singular values, and the errors of the fits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for name, path in fits.groups.items():
        u, sigma, _ = np.linalg.svd(path - path.mean(axis=0), full_matrices=False)
        left.plot(fits.times, u[:, 0] * np.sign(u[-1, 0]), label=f"${name[0]}_{name[1:]}$")
        shares = sigma**2 / max(np.sum(sigma**2), np.finfo(float).tiny)
        middle.semilogy(np.arange(len(shares[:10])) + 1, shares[:10], "o-", ms=4)
    left.set(xlabel="t", title="leading direction about the mean, over time")
    left.legend(frameon=False, ncols=2)
    middle.set(xlabel="i", title="σi² / Σ σ² about the mean")
    right.semilogy(fits.times, fits.errors, "k", lw=1.2)
    right.axhline(TARGET, color="0.6", lw=1, ls="--")
    right.set(xlabel="t", title="relative L2 error of the fits")
    return figure
