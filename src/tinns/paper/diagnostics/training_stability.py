"""How smoothly an MLP and a TINN train on Burgers by Algorithm 1 [TINN, Section 5]."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import median_filter

from tinns.paper.diagnostics.findings import Findings, Request
from tinns.paper.diagnostics.two_networks import (
    COLOURS,
    LABELS,
    facts,
    side_by_side,
    solved_by_both,
)
from tinns.paper.records import JSON, plain
from tinns.recipes.recipe import Stop
from tinns.solvers import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECIPE = "paper"
USUAL = Stop(iterations=30_000, seconds=120.0)  # of each network, whichever comes first
WINDOW = 51  # iterations over which the running median is taken
LINES = {
    "parameters": ("parameters", "d"),
    "final relative L2 error": ("relative_l2", ".2e"),
    "training loss": ("final_loss", ".2e"),
    "iterations in which it rose": ("rises", ".1%"),
    "spread of log10 ‖update‖": ("spread_of_updates", ".3f"),
    "validation / training loss": ("median_gap", ".3f"),
    "redraws of the points": ("redraws", "d"),
}
CURVES = ("loss", "validation_loss", "step_norm")


def compare_training(request: Request) -> Findings:
    """Training loss, validation loss and ‖update‖ over iterations, for both networks."""
    solutions = solved_by_both(request, RECIPE, USUAL)
    common = min(len(solution.history) for solution in solutions.values())
    networks = {
        method: {
            **facts(solution),
            **unsteadiness(solution.history, common),
            **{name: plain(solution.history[name]) for name in CURVES},
        }
        for method, solution in solutions.items()
    }
    header, rows = side_by_side(networks, LINES)
    remarks = (
        f"Recipe `{RECIPE}`: Algorithm 1 on the paper's points and weights, with the same seed. "
        f"All numbers except the final error cover the {common} iterations that both networks "
        "completed.",
        "A rise directly after the points were redrawn is not counted. The spread is the standard "
        f"deviation about a running median of {WINDOW} iterations; validation / training is the "
        "median of the ratio of the two losses.",
    )
    data = {
        "diagnostic": "training-stability",
        "problem": "burgers",
        "recipe": RECIPE,
        "seed": request.seed,
        "common_iterations": common,
        "window": WINDOW,
        "networks": networks,
    }
    title = "Stability of training, Burgers by Algorithm 1"
    histories = {method: solution.history for method, solution in solutions.items()}
    return Findings(title, header, rows, remarks, data, _picture(histories))


def unsteadiness(history: History, iterations: int) -> dict[str, JSON]:
    """How often the loss rose, how much the updates scattered, and validation over training loss.

    Computed over the first `iterations`; None if there is nothing to measure.
    """
    loss, validation, steps, redraws = (history[name][:iterations] for name in (*CURVES, "redraws"))
    same_points = np.diff(redraws) == 0
    rose = (np.diff(loss) > 0)[same_points]
    moved = np.log10(steps[np.isfinite(steps) & (steps > 0)])
    scatter = moved - median_filter(moved, WINDOW, mode="nearest") if moved.size else moved
    gap = validation / loss
    return {
        "final_loss": float(loss[-1]),
        "rises": float(rose.mean()) if rose.size else None,
        "spread_of_updates": float(scatter.std()) if scatter.size else None,
        "median_gap": float(np.median(gap[np.isfinite(gap)])) if np.isfinite(gap).any() else None,
        "redraws": int(redraws[-1]),
    }


def _picture(histories: dict[str, History]) -> "Figure":
    """Losses on the left and norms of the updates on the right, as in the paper."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for method, history in histories.items():
        label, colour = LABELS[method], COLOURS[method]
        iterations = history["iteration"]
        left.semilogy(iterations, history["loss"], color=colour, lw=1.1, label=f"{label}, training")
        left.semilogy(
            *history.measured("validation_loss"),
            color=colour,
            lw=0.8,
            ls=(0, (3, 1.5)),
            alpha=0.7,
            label=f"{label}, validation",
        )
        right.semilogy(*history.measured("step_norm"), color=colour, lw=0.8, label=label)
    left.set(xlabel="iteration", title="Burgers by Algorithm 1: loss")
    right.set(xlabel="iteration", title="‖update of the parameters‖")
    for axes in (left, right):
        axes.legend(frameon=False)
        axes.grid(color="0.9", lw=0.6)
    return figure
