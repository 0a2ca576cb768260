"""The two networks that are compared on Burgers: an MLP in (x, t) and a time-induced one."""

from collections.abc import Mapping

from tinns._solve import solve
from tinns.paper.diagnostics.findings import Request
from tinns.paper.records import JSON
from tinns.problems import problem_named
from tinns.recipes import recipe_for
from tinns.recipes.recipe import Stop
from tinns.solution.core import Solution
from tinns.solvers import StopReason

# Widths 20 and 50 against 20 and 20: 1160 and 1145 parameters [TINN, Appendix F.1].
LABELS = {"mlp": "MLP", "tinn": "TINN"}
COLOURS = {"mlp": "#D55E00", "tinn": "#0072B2"}


def solved_by_both(request: Request, recipe: str, usual: Stop) -> dict[str, Solution]:
    """Burgers by each network: same recipe, same limits, same seed, same points at the start."""
    problem = problem_named("burgers")
    chosen = recipe_for(problem, recipe).replace(stop=request.stop(usual))
    solutions = {}
    for method in LABELS:
        solution = solve(problem, chosen, method, request.seed, progress=request.progress)
        if solution.result["stop_reason"] == StopReason.INTERRUPTED:
            raise KeyboardInterrupt  # one network alone is not a comparison
        solutions[method] = solution
    return solutions


def facts(solution: Solution) -> dict[str, JSON]:
    """The facts of a run that a comparison states."""
    names = ("parameters", "iterations", "seconds", "relative_l2", "loss", "validation_loss")
    names += ("stop_reason", "device", "versions")
    return {name: solution.result[name] for name in names}


def side_by_side(
    networks: Mapping[str, Mapping[str, JSON]], lines: Mapping[str, tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """A header and rows with one column per network; a line maps a label to (fact, format)."""
    rows = []
    for label, (name, form) in lines.items():
        values = [found[name] for found in networks.values()]
        rows.append((label, *("–" if value is None else format(value, form) for value in values)))
    return ("", *(LABELS[method] for method in networks)), tuple(rows)
