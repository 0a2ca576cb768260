"""Every optimiser trains a small time-induced network through `solve`."""

import numpy as np
import pytest

import tinns
from tinns import LBFGS, SOAP, Adam, Counts, Recipe, SelfScaledBroyden, Stop
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("quick_compilation")

SMALL = Recipe(
    tinns.TimeInduced(tinns.MLP((6,)), tinns.Linear()),
    points=Counts(200, 40, 20),
    validation=Counts(100, 20, 10),
    redraw=None,
    stop=Stop(iterations=40),
    keep="last",
)
QUICK = {"learning_rate": 1e-2, "warmup": 5, "decay_steps": 100}


@pytest.mark.parametrize(
    ("optimizer", "precision", "factor"),
    [
        (Adam(**QUICK), "float32", 0.8),
        (SOAP(**QUICK), "float32", 0.8),
        (LBFGS(memory=10), "float64", 0.1),
        (SelfScaledBroyden(), "float64", 0.1),
    ],
    ids=["Adam", "SOAP", "LBFGS", "SelfScaledBroyden"],
)
def test_the_loss_falls(optimizer, precision, factor):
    recipe = SMALL.replace(optimizer=optimizer, precision=precision)
    solution = tinns.solve(Burgers(viscosity=0.1), recipe, progress=False)
    history = solution.history
    assert solution.result["precision"] == precision
    assert history["loss"][-1] < factor * history["loss"][0]
    assert {"learning_rate", "step_norm", "loss_equation"} <= set(history.columns)
    assert np.all(history["learning_rate"][1:] > 0)
