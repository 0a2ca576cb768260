"""The problems of the paper's appendix, solved for a few iterations with small networks."""

import numpy as np
import pytest

import tinns
from tinns import MLP, Counts, Linear, PaperLM, TimeInduced
from tinns.problems import problem_named
from tinns.recipes import recipe_for
from tinns.solution.quantities import quantity_shapes

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture
def briefly(monkeypatch):
    """Solve a problem with few points and a small network, its error stated on few points, too."""

    def solve(name, iterations, **changes):
        problem = problem_named(name)
        thinned = {axis: points[::6] for axis, points in problem.test_grid().items()}
        monkeypatch.setattr(type(problem), "test_grid", lambda self: thinned)
        few = Counts(60, 20, 12)
        recipe = recipe_for(problem, "fast").replace(
            field=TimeInduced(MLP((5,)), Linear(), scaled=True),
            optimizer=PaperLM(),
            points=few,
            validation=few,
            **changes,
        )
        return problem, tinns.solve(problem, recipe, iterations=iterations, progress=False)

    return solve


@pytest.mark.parametrize(
    "name", ["flow-mixing", "klein-gordon-3d", "navier-stokes-3d", "transport", "inverse-burgers"]
)
def test_a_few_iterations_lower_the_loss(name, briefly):
    problem, solution = briefly(name, 6)
    assert solution.history["loss"][-1] < 0.95 * solution.history["loss"][0]
    assert np.isfinite(solution.result["relative_l2"])
    assert set(solution.result["errors"]) == set(quantity_shapes(problem))


def test_a_few_iterations_lower_the_loss_in_each_window_of_kuramoto_sivashinsky(briefly):
    _, solution = briefly("kuramoto-sivashinsky", 24, windows=3)
    for window in (1, 2, 3):
        losses = solution.history["loss"][solution.history["window"] == window]
        assert len(losses) == 8
        assert losses[-1] < 0.95 * losses[0]
    assert len(solution.jumps()) == 2
    assert np.isfinite(solution.result["relative_l2"])
