"""Trains the same system on one device and on several, and prints how far apart the results are.

Run by test_devices.py in a process of its own, because JAX counts its devices once.
"""

import sys

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from tinns import LBFGS, AcceleratedLM, Adam, Counts, PaperLM, Recipe, Redraw, Stop
from tinns.nn import MLP, Linear, TimeInduced
from tinns.problems import Wave
from tinns.solvers import Trained, solve_task

OPTIMIZERS = {
    "accelerated": AcceleratedLM(),
    "stable": AcceleratedLM(stable=True, hopeless=1e30),
    "algorithm-1": PaperLM(),
    "lbfgs": LBFGS(memory=5),
    "adam": Adam(warmup=1),
    "windows": PaperLM(),
}


def trained(recipe: Recipe, name: str) -> Trained:
    edges = (0.0, 0.5, 1.0) if name == "windows" else (0.0, 1.0)
    return solve_task(recipe.build_solver(edges), recipe.task(Wave()))


def main() -> None:
    jax.config.update("jax_disable_most_optimizations", True)
    assert len(jax.devices()) == int(sys.argv[1])
    for name in sys.argv[2:]:
        recipe = Recipe(
            TimeInduced(MLP((5,)), Linear()),
            OPTIMIZERS[name],
            points=Counts(37, 11, 6),  # no multiples of the number of devices
            validation=Counts(13, 5, 2),
            redraw=Redraw(1e-9 if name in ("algorithm-1", "windows") else 2.0, candidates=2),
            stop=Stop(iterations=5),
            chunk=20 if name == "stable" else None,
        )
        runs = [trained(recipe.replace(devices=count), name) for count in (1, None)]
        alone, together = (np.asarray(ravel_pytree(run.psi)[0]) for run in runs)
        distance = np.linalg.norm(together - alone) / np.linalg.norm(alone)
        moved = runs[0].history["loss"][-1] / runs[0].history["loss"][0]
        print(name, float(distance), float(moved), flush=True)


if __name__ == "__main__":
    with jax.enable_x64(True):
        main()
