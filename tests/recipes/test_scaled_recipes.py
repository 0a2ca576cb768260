"""Scaling is the default of every field and of the default recipe; tuned recipes have none."""

import pytest

import tinns
from tinns.problems import PROBLEMS
from tinns.recipes import RECIPES, recipe_for
from tinns.recipes.methods import METHODS, apply_method


@pytest.mark.parametrize(
    "field",
    [tinns.TimeInduced(), tinns.SpaceTime(), tinns.SeparableField(), tinns.sine_induced()],
    ids=lambda field: type(field).__name__,
)
def test_every_field_scales_its_coordinates(field):
    assert field.scaled


def test_the_default_recipe_is_dimensionless_and_renews_its_validation():
    recipe = tinns.Recipe()
    assert recipe.field.scaled
    assert recipe.dimensionless
    assert recipe.renewal is not None
    assert recipe.redraw.crowded


@pytest.mark.parametrize("problem", RECIPES)
def test_tuned_recipes_see_rows_and_coordinates_as_the_problem_states_them(problem):
    """Their weights are for these rows; a few networks have always seen scaled coordinates."""
    for name, recipe in RECIPES[problem].items():
        assert not recipe.dimensionless
        assert recipe.renewal is None
        assert not recipe.redraw.crowded
        is_scaled = problem == "kuramoto-sivashinsky" or (problem, name) == ("transport", "fast")
        assert recipe.field.scaled == is_scaled
        assert recipe.task(PROBLEMS[problem]()).scales is None


@pytest.mark.parametrize("method", METHODS)
def test_methods_scale_where_the_recipe_does(method):
    problem = PROBLEMS["burgers"]()
    recipe = apply_method(method, problem, recipe_for(problem, "paper"))
    assert not recipe.dimensionless
    assert not getattr(recipe.field, "scaled", False)
