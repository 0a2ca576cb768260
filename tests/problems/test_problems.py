"""Every problem of the package: its reference satisfies its equation and conditions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Counts, Recipe, Uniform, UserError
from tinns.geometry import Initial
from tinns.nn import Formula
from tinns.objective import assemble
from tinns.problems import PROBLEMS, problem_named
from tinns.recipes import recipe_for, recipes_for

pytestmark = pytest.mark.usefixtures("float64")

# The largest row: round-off, which the highest derivative magnifies.
BOUNDS = {
    "burgers": 1e-12,
    "allen-cahn": 5e-11,
    "klein-gordon": 1e-13,
    "kdv": 2e-11,
    "wave": 1e-12,
    "kuramoto-sivashinsky": 1e-10,
    "flow-mixing": 1e-14,
    "klein-gordon-3d": 1e-12,
    "navier-stokes-3d": 1e-12,
    "transport": 1e-12,
    "inverse-burgers": 1e-12,
}

# The numbers of parameters that the paper states [TINN, Appendices B and E]; one window each.
PARAMETERS = {
    "burgers": 1145,
    "allen-cahn": 1185,
    "klein-gordon": 1185,
    "kdv": 1185,
    "wave": 1145,
    "kuramoto-sivashinsky": 3329,
    "flow-mixing": 1185,
    "klein-gordon-3d": 1225,
    "navier-stokes-3d": 1305,
    "transport": 1145,
    "inverse-burgers": 1147,
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_reference_makes_every_row_vanish(name):
    problem = problem_named(name)
    system = assemble(problem, Formula(problem.reference().formula))
    data = system.draw(jax.random.key(0), Counts(60, 40, 20), Uniform())
    psi = {"field": (), "coefficients": {n: problem.truth[n] for n in problem.trainable}}
    for block, points in zip(system.blocks, data, strict=True):
        rows = jax.jit(jax.vmap(lambda point, b=block: b.rows(psi, point)))(points)
        worst = dict(zip(block.row_names, np.abs(rows).max(axis=0).tolist(), strict=True))
        assert max(worst.values()) <= BOUNDS[name], worst


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_knows_its_name_its_grid_and_its_recipes(name):
    problem = problem_named(name)
    assert problem.name == name
    assert tuple(problem.test_grid()) == problem.domain.axes
    for axis, points in problem.test_grid().items():
        lower, upper = problem.domain.interval(axis)
        assert lower <= points.min() < points.max() <= upper
    assert {"fast", "paper"} <= set(recipes_for(problem))
    conditions = {condition.name for condition in problem.all_conditions()}
    for recipe in recipes_for(problem).values():
        assert isinstance(recipe, Recipe)
        assert set(recipe.weights) <= conditions


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_papers_networks_have_the_papers_numbers_of_parameters(name):
    problem = problem_named(name)
    system = assemble(problem, recipe_for(problem, "paper").field)
    shapes = jax.eval_shape(system.init, jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == PARAMETERS[name]


def test_initial_points_never_meet_a_singular_end():
    problem = problem_named("transport")
    at_zero = Initial().draw(
        jax.random.key(0), problem.domain, Counts(1, 3), lambda key, count, n: jnp.zeros((count, n))
    )
    assert 0 < at_zero["x"].max() < 1e-15
    assert np.isfinite(problem.reference()(**at_zero.coordinates)).all()
    grid = problem.test_grid()
    assert grid["x"].min() > 0
    assert grid["t"].min() > 0


def test_the_reference_follows_the_coefficients():
    slow, fast = (PROBLEMS["wave"](speed=c).reference()(x=0.3, t=0.2) for c in (1.0, 2.0))
    assert abs(slow - fast) > 0.1


def test_an_unknown_problem_suggests_the_nearest():
    with pytest.raises(UserError, match=r"'burgrs'.*did you mean 'burgers'"):
        problem_named("burgrs")


def test_an_unknown_recipe_suggests_the_nearest():
    with pytest.raises(UserError, match=r"wave.*'papr'.*did you mean 'paper'"):
        recipe_for(problem_named("wave"), "papr")


def test_inverse_burgers_seeks_two_numbers_of_which_it_knows_the_truth():
    problem = problem_named("inverse-burgers")
    assert set(problem.trainable) == set(problem.truth)
    assert all(abs(problem.trainable[n] - true) > 1e-3 for n, true in problem.truth.items())
    assert problem.known_solution() is not None
    (data,) = problem.conditions()
    assert data.region.columns["u"].shape == (2000,)
