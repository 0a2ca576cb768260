"""The problems of the paper's appendix, solved for a few iterations with small networks."""

import numpy as np
import pytest

import tinns
from tinns import MLP, Counts, LevenbergMarquardt, Linear, TimeInduced
from tinns.problems import problem_named
from tinns.quantities import quantity_shapes

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize(
    "name", ["flow-mixing", "klein-gordon-3d", "navier-stokes-3d", "transport"]
)
def test_a_few_iterations_lower_the_loss(name, monkeypatch):
    problem = problem_named(name)
    thinned = {axis: points[::6] for axis, points in problem.test_grid().items()}
    monkeypatch.setattr(type(problem), "test_grid", lambda self: thinned)
    few = Counts(60, 20, 12)
    recipe = problem.recipe("fast").but(
        field=TimeInduced(MLP((5,)), Linear(), scaled=True),
        optimizer=LevenbergMarquardt(),
        points=few,
        validation=few,
    )
    solution = tinns.solve(problem, recipe, iterations=6, progress=False)
    assert solution.history["loss"][-1] < 0.95 * solution.history["loss"][0]
    assert np.isfinite(solution.result["relative_l2"])
    assert set(solution.result["errors"]) == set(quantity_shapes(problem))
