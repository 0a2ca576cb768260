"""Parameter counts of the networks that the paper compares with [TINN, Tables 1 to 4, 6 and 7]."""

import jax
import pytest

from tinns import MLP, Hypernetwork, Layerwise, Linear, OneNeuron, SpaceTime, TimeInduced
from tinns.nn import FourierFeatures, ModifiedMLP, PirateNet, SeparableField
from tinns.problems import AllenCahn, Burgers, KleinGordon

FROZEN = FourierFeatures(256, trained=False)
COPINN = SeparableField(ModifiedMLP((200,) * 5, first="layer", output_bias=True))
COPINN_IN_THE_PLANE = SeparableField(ModifiedMLP((128,) * 5, first="layer", output_bias=True))
SPINN = SeparableField(MLP((195,) * 5, output_bias=True), rank=128, split_periodic=True)
FACTORISED = PirateNet(200, factorised=True, output_bias=True)
SMALL_PIRATE = SpaceTime(PirateNet(11), fourier=FourierFeatures(8, trained=False))
LARGE = TimeInduced(MLP((150,) * 4), Layerwise(MLP((150,) * 4)), fourier=FourierFeatures())
LARGE_IN_THE_PLANE = TimeInduced(
    MLP((100,) * 4),
    Layerwise(MLP((100,) * 4)),
    fourier=FourierFeatures(50),
    fourier_time=FourierFeatures(50),
)
SAME_STRATEGY = TimeInduced(MLP((100,) * 5), Layerwise(MLP((100, 100))), fourier=FROZEN)


@pytest.mark.parametrize(
    ("field", "problem", "count"),
    [
        (SpaceTime(MLP((320,) * 4)), Burgers, 309440),
        (SpaceTime(MLP((320,) * 4)), AllenCahn, 309760),
        (SpaceTime(MLP((320,) * 4)), KleinGordon, 309760),
        (COPINN, Burgers, 336864),
        (COPINN, AllenCahn, 337464),
        (COPINN_IN_THE_PLANE, KleinGordon, 212832),
        (SpaceTime(FACTORISED, fourier=FourierFeatures()), Burgers, 534853),
        (SpaceTime(FACTORISED, fourier=FourierFeatures()), AllenCahn, 534981),
        (
            SpaceTime(PirateNet(150, factorised=True, output_bias=True), fourier=FourierFeatures()),
            KleinGordon,
            379281,
        ),
        *((SpaceTime(PirateNet(200), fourier=FROZEN), p, 532227) for p in (Burgers, AllenCahn)),
        *((SMALL_PIRATE, problem, 1190) for problem in (Burgers, AllenCahn, KleinGordon)),
        (LARGE, Burgers, 283037),
        (LARGE, AllenCahn, 283165),
        (LARGE_IN_THE_PLANE, KleinGordon, 107384),
        (SAME_STRATEGY, Burgers, 143811),
        (SAME_STRATEGY, AllenCahn, 143811),
        (SpaceTime(MLP((305,) * 6), fourier=FROZEN), Burgers, 545340),
        (SPINN, Burgers, 356716),
        (SPINN, AllenCahn, 535074),
        (SPINN, KleinGordon, 535074),
        (SpaceTime(MLP((20, 20))), Burgers, 500),
        (SpaceTime(MLP((20, 20))), AllenCahn, 520),
        (TimeInduced(trajectory=Hypernetwork(MLP((50, 2)))), Burgers, 1162),
        (TimeInduced(trajectory=Hypernetwork(MLP((50, 2)))), AllenCahn, 1202),
        (TimeInduced(MLP((22, 22)), Linear()), Burgers, 1144),
        (TimeInduced(MLP((22, 22)), Linear()), AllenCahn, 1188),
        (TimeInduced(MLP((18, 18)), OneNeuron()), Burgers, 1188),
        (TimeInduced(MLP((18, 18)), OneNeuron()), AllenCahn, 1242),
    ],
)
def test_networks_are_as_large_as_the_published_ones(field, problem, count):
    shapes = jax.eval_shape(lambda: field.init(jax.random.key(0), problem.domain, 1))
    assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


@pytest.mark.parametrize(("inputs", "layers", "width", "rank"), [(1, 5, 20, 8), (2, 3, 7, 5)])
def test_the_count_of_a_separable_networks_part(inputs, layers, width, rank):
    network = ModifiedMLP((width,) * layers, first="layer", output_bias=True)
    theta = jax.eval_shape(lambda: network.init(jax.random.key(0), inputs, rank))
    expected = 3 * (inputs + 1) * width + (layers - 1) * (width**2 + width) + (width + 1) * rank
    assert sum(leaf.size for leaf in jax.tree.leaves(theta)) == expected
