"""Records of cells with known numbers, made without training."""

from tinns.paper.cells import Cell, current_settings
from tinns.paper.profiles import profile_named
from tinns.paper.records import Record, Status
from tinns.solvers import StopReason

PAPER = profile_named("paper")
SMOKE = profile_named("smoke")


def cell(method="tinn", recipe="paper", seed=0, problem="burgers", precision=None, budget="paper"):
    return Cell(problem, method, recipe, precision, seed, budget)


def made_up(cell, error=1e-3, profile=PAPER, **changes):
    """A finished run of 10 s at 100 iterations per second, whose error is 10 `error` / seconds."""
    settings = current_settings(cell, profile)
    curve = tuple(
        {"iteration": 100 * t, "seconds": float(t), "loss": 1.0, "relative_l2": 10 * error / t}
        for t in (1, 2, 5, 10)
    )
    facts = {
        "problem": cell.problem,
        "method": cell.method,
        "recipe": cell.recipe or cell.method,
        "seed": cell.seed,
        "profile": profile,
        "settings": settings and {**settings, "stop": {"iterations": 1000}},
        "device": "GPU",
        "versions": {"jax": "0.10", "tinns": "0.1"},
        "finished": "2026-01-01T00:00:00Z",
        "parameters": 1145,
        "iterations": 1000,
        "seconds": 10.0,
        "stop_reason": StopReason.ITERATIONS.value,
        "relative_l2": error,
        "curve": curve,
    }
    return Record(**(facts | changes))


def failed(cell, reason="out of memory", profile=PAPER, **changes):
    """A run that ended with an error."""
    nothing = {"relative_l2": None, "curve": (), "stop_reason": None}
    return made_up(
        cell, profile=profile, status=Status.FAILED, reason=reason, **(nothing | changes)
    )


def put(store, cell, error=1e-3, **changes):
    """Store a made-up run of a cell."""
    store.write(cell, made_up(cell, error, **changes))
