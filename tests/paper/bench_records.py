"""Records of cells that look like real ones."""

import time

from tinns.paper.cells import DONE, Cell, profile_named, settings

PAPER = profile_named("paper")


def made_up(cell, error=1e-3, profile=PAPER, **changes):
    """A finished cell whose error falls like 1/seconds, at 100 iterations a second, in 10 s."""
    curve = [
        {"iteration": 100 * t, "seconds": float(t), "loss": 1.0, "relative_l2": 10 * error / t}
        for t in (1, 2, 5, 10)
    ]
    result = {
        "problem": cell.problem,
        "method": cell.method,
        "recipe": cell.recipe,
        "seed": cell.seed,
        "parameters": 1145,
        "iterations": 1000,
        "seconds": 10.0,
        "relative_l2": error,
        "errors": {},
        "device": "GPU",
        "versions": {"jax": "0.10", "tinns": "0.1"},
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }
    record = {
        "cell": vars(cell),
        "profile": vars(profile),
        "status": DONE,
        "reason": None,
        "settings": settings(cell, profile),
        "result": result | changes.pop("result", {}),
        "curve": curve,
    }
    return record | changes


def failed(cell, reason="out of memory", profile=PAPER):
    return made_up(cell, profile=profile, status="failed", reason=reason, result={}, curve=[])


def cell(method="tinn", recipe="paper", seed=0, problem="burgers", precision=None, budget="paper"):
    return Cell(problem, method, recipe, precision, seed, budget)
