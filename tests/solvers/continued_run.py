"""Continues runs from states on disk and writes their outcomes; run in a process of its own."""

import sys
from pathlib import Path
from unittest import mock

import jax
import numpy as np

import tinns
from tinns.solvers import pack, resume, window_edges
from tinns.solvers.least_squares import training

COUNTS = tinns.Counts(60, 20, 10)
FIELD = tinns.TimeInduced(tinns.MLP((6,)), scaled=True)
REDRAW = tinns.Redraw(1e-9, candidates=2, ladder=(1, 2))

CASES = {
    "adaptive points": {"redraw": REDRAW, "renewal": tinns.Renewal(every=3)},
    "balancing": {"redraw": REDRAW, "balance": tinns.Balance()},
    "batches of Adam": {
        "optimizer": tinns.Adam(over=100),
        "redraw": tinns.Redraw(None, every=2),
        "balance": tinns.GradientNorms(every=3),
    },
    "quasi-Newton": {"optimizer": tinns.LBFGS(memory=4), "redraw": REDRAW},
    "the paper's": {"optimizer": tinns.PaperLM(), "redraw": REDRAW, "renewal": None},
    "windows": {"redraw": REDRAW, "balance": tinns.Balance(), "windows": 3},
    "frozen features": {
        "field": tinns.RandomFeatures(30),
        "solver": tinns.FrozenFeatures("Kvaerno3", rtol=1e-8, atol=1e-8),
        "stop": tinns.Stop(seconds=60.0),
    },
}
STEPS = {"windows": 7, "frozen features": 1}  # look-ups before the state is written; otherwise 5


def posed(name):
    """A run and its limits."""
    recipe = tinns.Recipe(
        **{"field": FIELD, "points": COUNTS, "validation": COUNTS, "stop": tinns.Stop(12)}
        | CASES[name]
    )
    problem = tinns.problems.Burgers(viscosity=0.1)
    solver = recipe.build_solver(window_edges(recipe.windows, problem.domain))
    return solver, recipe.task(problem)


def outcome(trained):
    leaves = [np.ravel(np.asarray(leaf, float)) for leaf in jax.tree.leaves(trained.psi)]
    numbers = [trained.loss, trained.validation_loss, trained.iterations]
    columns = trained.history.columns
    timed = {"seconds", "relative_l2"}
    kept = [columns[name] for name in sorted(columns.keys() - timed)]
    return {"psi": np.concatenate(leaves), "numbers": np.array(numbers), "history": np.stack(kept)}


def outcomes(name, path):
    """The outcome of an uninterrupted run, and of one that wrote its state in its middle."""
    solver, task = posed(name)
    run = solver.prepare(task)
    uninterrupted = outcome(resume(run, run.start(), task.stop))
    state = run.start()
    with mock.patch.object(training, "CAPACITY", 2):  # iterations between two look-ups
        for _ in range(STEPS.get(name, 5)):
            state = run.advance(state, task.stop)
    assert run.reason(state, task.stop) is None
    np.savez(path, **pack(state))
    return uninterrupted, outcome(resume(run, state, task.stop))


def main():
    """Continue every run whose state lies in a folder."""
    jax.config.update("jax_disable_most_optimizations", True)
    folder = Path(sys.argv[1])
    for name in CASES:
        solver, task = posed(name)
        run = solver.prepare(task)
        with np.load(folder / f"{name}.npz") as arrays:
            restored = run.restore(dict(arrays))
        end = outcome(resume(run, restored, task.stop))
        np.savez(folder / f"{name}-continued.npz", **end)


if __name__ == "__main__":
    with jax.enable_x64(True):
        main()
