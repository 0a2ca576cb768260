"""The error |∂u/∂x(0, t) - ∂u*/∂x(0, t)| on Burgers, at the steep layer [TINN, Section 3.1]."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from tinns.paper.diagnostics.findings import Findings, Request
from tinns.paper.diagnostics.two_networks import (
    COLOURS,
    LABELS,
    facts,
    side_by_side,
    solved_by_both,
)
from tinns.problems import Burgers
from tinns.recipes.recipe import Stop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RECIPE = "fast"
USUAL = Stop(seconds=60.0, patience=500)  # of each network
TIMES = 401
LINES = {
    "parameters": ("parameters", "d"),
    "iterations": ("iterations", "d"),
    "relative L2 error of u": ("relative_l2", ".2e"),
    "error of u_x(0, t): mean": ("mean_error", ".2e"),
    "largest": ("largest_error", ".2e"),
    "at t =": ("time_of_largest_error", ".3f"),
}
FLOOR = 1e-16  # smaller errors are drawn as this one


def slope_errors(request: Request) -> Findings:
    """The error of u_x(0, t) over time for an MLP and a TINN of equal size."""
    solutions = solved_by_both(request, RECIPE, USUAL)
    times = np.linspace(0, 1, TIMES)
    exact = exact_slope(times)
    errors = {
        method: np.abs(solution.derivative("u_x", x=0.0, t=times) - exact)
        for method, solution in solutions.items()
    }
    networks = {
        method: {
            **facts(solution),
            "largest_error": float(errors[method].max()),
            "mean_error": float(errors[method].mean()),
            "time_of_largest_error": float(times[np.argmax(errors[method])]),
            "errors": errors[method].tolist(),
        }
        for method, solution in solutions.items()
    }
    header, rows = side_by_side(networks, LINES)
    steepest = int(np.argmin(exact))
    remarks = (
        f"Both networks use recipe `{RECIPE}` with the same limits and seed. The exact slope comes "
        f"from the Cole-Hopf formula; over {TIMES} times its extreme value is "
        f"{exact[steepest]:.4f} at t = {times[steepest]:.4f}.",
    )
    data = {
        "diagnostic": "spatial-derivative",
        "problem": "burgers",
        "recipe": RECIPE,
        "seed": request.seed,
        "times": times.tolist(),
        "exact": exact.tolist(),
        "networks": networks,
    }
    title = "Error of the spatial derivative at x = 0, Burgers"
    return Findings(title, header, rows, remarks, data, _picture(times, exact, errors))


def exact_slope(times: np.ndarray) -> np.ndarray:
    """∂u*/∂x(0, t), by automatic differentiation of the exact formula."""
    formula = Burgers().reference().formula
    with jax.enable_x64(True):
        slope = jax.vmap(lambda t: jax.grad(lambda x: formula(x=x, t=t))(jnp.zeros_like(t)))
        return np.asarray(jax.jit(slope)(jnp.asarray(times, float)))


def _picture(times: np.ndarray, exact: np.ndarray, errors: dict[str, np.ndarray]) -> "Figure":
    """The errors over time, and the exact slope."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.6, 1))
    for method, error in errors.items():
        label, colour = LABELS[method], COLOURS[method]
        left.semilogy(times, np.maximum(error, FLOOR), color=colour, lw=1.6, label=label)
    left.set(xlabel="t", title="Burgers: absolute error of u_x(0, t)")
    left.legend(frameon=False)
    right.plot(times, exact, "k", lw=1.6)
    right.set(xlabel="t", title="exact u_x(0, t)")
    for axes in (left, right):
        axes.grid(color="0.9", lw=0.6)
    return figure
