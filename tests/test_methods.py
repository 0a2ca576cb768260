import jax
import pytest

from tinns import Recipe, UserError
from tinns.methods import METHODS, apply_method
from tinns.problems import AllenCahn, Burgers

# [TINN, Tables 2 and 5]: the counts with which methods are compared.
COUNTS = {
    "tinn": (1145, 1185),
    "tinn-adam": (1145, 1185),
    "tinn-lbfgs": (1145, 1185),
    "tinn-linear": (1144, 1188),
    "tinn-one-neuron": (1188, 1242),
    "hypernetwork": (1162, 1202),
    "mlp": (1160, 1202),
}


@pytest.mark.parametrize("method", COUNTS)
def test_a_method_has_the_parameters_the_paper_states(method):
    for problem, count in zip((Burgers(), AllenCahn()), COUNTS[method], strict=True):
        field = apply_method(method, problem, Recipe()).field
        shapes = jax.eval_shape(lambda f=field, p=problem: f.init(jax.random.key(0), p.domain, 1))
        assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


def test_a_method_keeps_the_rest_of_the_recipe():
    recipe = Burgers.recipes["paper"]
    for method in METHODS:
        changed = apply_method(method, Burgers(), recipe)
        assert changed.points == recipe.points
        assert changed.weights == recipe.weights


def test_an_unknown_method_suggests_the_nearest():
    with pytest.raises(UserError, match=r"'tin'.*did you mean 'tinn'"):
        apply_method("tin", Burgers(), Recipe())
