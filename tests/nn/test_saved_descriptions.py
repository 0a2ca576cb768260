"""Every architecture can be written to a solution file and read again."""

import jax
import numpy as np
import pytest

import tinns
from tinns import MLP, Layerwise, Linear, SpaceTime, TimeInduced
from tinns.nn import (
    FourierFeatures,
    ModifiedMLP,
    PirateNet,
    ResNet,
    SeparableField,
    SeparableMLP,
)
from tinns.problems import AllenCahn, KleinGordon
from tinns.solution.core import Solution
from tinns.solution.storage import describe, revive
from tinns.solvers import History

pytestmark = pytest.mark.usefixtures("quick_compilation")

FIELDS = {
    "modified MLP": SpaceTime(ModifiedMLP((4, 4), "sin", first="layer")),
    "ResNet": TimeInduced(ResNet((4, 3), 2, None, activated=False), Linear()),
    "PirateNet": SpaceTime(PirateNet(4, 2, factorised=True), fourier=FourierFeatures(6, 2.0)),
    "fixed waves": TimeInduced(
        MLP((4,), glorot="normal"),
        Layerwise(MLP((3,))),
        fourier=FourierFeatures(6, trained=False, seed=3),
        fourier_time=FourierFeatures(4),
    ),
    "separable": SeparableField(ModifiedMLP((4, 4)), rank=3, scaled=True, split_periodic=True),
}


@pytest.mark.parametrize("name", [*FIELDS, "separable space"])
def test_a_loaded_solution_is_bitwise_the_same(tmp_path, name):
    in_the_plane = name == "separable space"
    problem = KleinGordon() if in_the_plane else AllenCahn()
    field = TimeInduced(SeparableMLP(MLP((4,)), 2)) if in_the_plane else FIELDS[name]
    with jax.enable_x64(True):
        psi = field.init(jax.random.key(7), problem.domain, 1)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    solution = Solution(problem.domain, ("u",), field, psi, "float64", problem, History({}), {})
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.field == field
    assert revive(describe(field)) == field
    points = {axis: 0.3 for axis in problem.domain.space} | {"t": np.linspace(0, 1, 5)}
    np.testing.assert_array_equal(again(**points), solution(**points))
    assert again.parameters == sum(leaf.size for leaf in jax.tree.leaves(psi))
