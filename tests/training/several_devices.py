"""Trains the same system on one device and on several, and prints how far apart the results are.

Run by test_devices.py in a process of its own, because JAX counts its devices once.
"""

import sys

import jax
import numpy as np
from jax.flatten_util import ravel_pytree

from tinns import LBFGS, AcceleratedLM, Adam, Counts, LevenbergMarquardt, Recipe, Redraw, Stop
from tinns.fields import MLP, Linear, TimeInduced
from tinns.problems import Wave
from tinns.residuals import assemble
from tinns.training import Trained, train
from tinns.training.progress import Silent
from tinns.training.windows import train_in_windows

OPTIMIZERS = {
    "accelerated": AcceleratedLM(),
    "stable": AcceleratedLM(stable=True, hopeless=1e30),
    "algorithm-1": LevenbergMarquardt(),
    "lbfgs": LBFGS(memory=5),
    "adam": Adam(warmup=1),
    "windows": LevenbergMarquardt(),
}


def trained(recipe: Recipe, name: str) -> Trained:
    wave = Wave()
    if name != "windows":
        return train(assemble(wave, recipe.field), recipe, seed=0)
    system = assemble(wave.reposed(wave.domain.over(0, 1)), recipe.field)
    return train_in_windows(system, recipe, 0, (0.0, 0.5, 1.0), [None, None], Silent())


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
        runs = [trained(recipe.but(devices=count), name) for count in (1, None)]
        alone, together = (np.asarray(ravel_pytree(run.psi)[0]) for run in runs)
        distance = np.linalg.norm(together - alone) / np.linalg.norm(alone)
        moved = runs[0].history["loss"][-1] / runs[0].history["loss"][0]
        print(name, float(distance), float(moved), flush=True)


if __name__ == "__main__":
    with jax.enable_x64(True):
        main()
