"""Methods: the paper's parameter counts and settings, and each of them runs."""

import jax
import numpy as np
import pytest

import tinns
from tinns import Counts, Recipe, Stop, TensorGrid, UserError
from tinns.paper.cells import shrunk
from tinns.problems import AllenCahn, Burgers, KleinGordon, KortewegDeVries, Wave
from tinns.recipes import RECIPES, recipe_for, recipes_for
from tinns.recipes.methods import METHODS, apply_method
from tinns.recipes.variants import VARIANTS

# [TINN, Tables 1 to 4, 6, 7 and 10]: the counts with which methods are compared.
COUNTS = {
    "tinn": (1145, 1185, 1185),
    "tinn-adam": (1145, 1185, 1185),
    "tinn-lbfgs": (1145, 1185, 1185),
    "tinn-linear": (1144, 1188, None),
    "tinn-one-neuron": (1188, 1242, None),
    "hypernetwork": (1162, 1202, 1202),
    "mlp": (1160, 1202, 1202),
    "submlp": (500, 520, 520),
    "piratenet-small": (1190, 1190, 1190),
    "pinn": (309440, 309760, 309760),
    "copinn": (336864, 337464, 212832),
    "piratenet": (534853, 534981, 379281),
    "piratenet-adam": (534853, 534981, 379281),
    "tinn-large": (283037, 283165, 107384),
    "mlp-fourier": (545340, 545340, 545340),
    "spinn-plain": (356716, 535074, 535074),
    "piratenet-plain": (532227, 532227, 532227),
    "tinn-fourier": (143811, 143811, 143811),
}
THREE = (Burgers(), AllenCahn(), KleinGordon())


@pytest.mark.parametrize("method", COUNTS)
def test_a_method_has_the_parameters_the_paper_states(method):
    for problem, count in zip(THREE, COUNTS[method], strict=True):
        if count is None:
            continue
        field = apply_method(method, problem, recipe_for(problem, "paper")).field
        shapes = jax.eval_shape(lambda f=field, p=problem: f.init(jax.random.key(0), p.domain, 1))
        assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


@pytest.mark.parametrize("method", VARIANTS)
def test_a_variant_keeps_the_rest_of_the_recipe(method):
    recipe = RECIPES["burgers"]["paper"]
    changed = apply_method(method, Burgers(), recipe)
    assert changed.points == recipe.points
    assert changed.weights == recipe.weights
    assert changed.precision == recipe.precision


@pytest.mark.parametrize(
    ("problem", "method", "iterations", "steps"),
    [
        (Burgers(), "pinn", 250_000, 5_000),
        (KleinGordon(), "pinn", 125_000, 2_500),
        (AllenCahn(), "copinn", 1_050_000, 21_000),
        (Wave(), "copinn", 1_100_000, 22_000),
        (KleinGordon(), "copinn", 200_000, 4_000),
        (KortewegDeVries(), "piratenet", 100_000, 2_000),
        (Burgers(), "tinn-large", 160_000, 2_000),
        (KleinGordon(), "tinn-large", 200_000, 2_000),
    ],
)
def test_budgets_and_schedules_are_those_the_paper_prints(problem, method, iterations, steps):
    recipe = apply_method(method, problem, recipe_for(problem, "paper"))
    assert recipe.stop == Stop(iterations=iterations)
    assert (recipe.optimizer.over, recipe.optimizer.decay_steps) == (iterations, steps)
    assert recipe.precision == "float32"


@pytest.mark.parametrize(
    ("problem", "method", "points"),
    [
        (Burgers(), "pinn", Counts(10_000, 500, 400)),
        (KleinGordon(), "pinn", Counts(15_000, 4_000, 8_000)),
        (Burgers(), "piratenet", Counts(8192, 256, 200)),
        (KleinGordon(), "piratenet", Counts(8192, 10_201, 81_204)),
        (Wave(), "piratenet", Counts(8192, 128, 400)),
    ],
)
def test_points_are_as_many_as_the_paper_prints(problem, method, points):
    assert apply_method(method, problem, recipe_for(problem, "paper")).points == points


def test_separable_networks_stand_on_grids_of_256_points_an_axis():
    for problem in THREE:
        assert apply_method("copinn", problem, Recipe()).sampler == TensorGrid(256)


@pytest.mark.usefixtures("quick_compilation")
def test_copinn_runs_in_two_dimensions_of_space():
    """There a grid has four faces and three conditions."""
    problem = KleinGordon()
    recipe = shrunk(apply_method("copinn", problem, recipe_for(problem, "paper")))
    recipe = recipe.replace(stop=Stop(iterations=3))
    solution = tinns.solve(problem, recipe=recipe, progress=False)
    assert np.isfinite(solution.history["loss"]).all()
    assert np.isfinite(solution(x=0.1, y=0.2, t=0.3))


def test_every_method_is_described_and_baselines_know_any_problem(heat):
    for name, method in METHODS.items():
        assert method.description
        if name not in ("tinn-separable",):
            assert isinstance(apply_method(name, heat, Recipe()), Recipe)


@pytest.mark.parametrize("method", ["mlp", "tinn-linear", "pinn", "copinn", "tinn"])
def test_a_method_scales_coordinates_where_the_recipe_does(method, heat):
    assert apply_method(method, heat, Recipe()).field.scaled
    assert not apply_method(method, Burgers(), recipe_for(Burgers(), "fast")).field.scaled


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(UserError, match=r"'tin'.*did you mean 'tinn'"):
        apply_method("tin", Burgers(), Recipe())


def test_recipes_belong_to_a_class_not_to_a_name():
    class Burgers(tinns.problems.Burgers):
        """A variant of the package's problem keeps its recipes."""

    class Wave(tinns.Problem):
        """A problem of one's own, called like one of the package."""

    assert recipes_for(Burgers()) is RECIPES["burgers"]
    assert recipes_for(Wave()) == {}
