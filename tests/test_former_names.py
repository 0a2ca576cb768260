"""Names of earlier versions keep working and name their successors."""

import pytest

import tinns
from tinns.problems import Burgers
from tinns.recipes import recipe_for


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("Unknown", tinns.Trainable),
        ("Separable", tinns.SeparableField),
        ("SeparableSpace", tinns.SeparableMLP),
        ("Separation", tinns.FrozenFeatures),
        ("LevenbergMarquardt", tinns.PaperLM),
        ("Algorithm1", tinns.PaperDamping),
    ],
)
def test_a_former_name_is_its_successor(former, present):
    with pytest.warns(DeprecationWarning, match=present.__name__):
        assert getattr(tinns, former) is present


def test_recipes_take_the_former_settings():
    network = tinns.SpaceTime(tinns.MLP((3,)))
    with pytest.warns(DeprecationWarning, match="fit_initial_layer"):
        informed = tinns.Recipe(field=network, informed=True)
    assert informed == tinns.Recipe(field=network, fit_initial_layer=True)
    with pytest.warns(DeprecationWarning, match="solver="):
        separation = tinns.Recipe(tinns.RandomFeatures(), optimizer=tinns.FrozenFeatures())
    assert separation == tinns.Recipe(tinns.RandomFeatures(), solver=tinns.FrozenFeatures())
    with pytest.warns(DeprecationWarning, match="replace"):
        fewer = informed.but(devices=1)
    assert fewer == informed.replace(devices=1)


def test_a_problem_names_its_recipes():
    problem = Burgers()
    with pytest.warns(DeprecationWarning, match="recipe_for"):
        assert problem.recipe("paper") is recipe_for(problem, "paper")
