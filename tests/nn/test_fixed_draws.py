"""A seed means the same parameters forever: sums of every architecture's first draw."""

import jax
import numpy as np
import pytest

from tinns import MLP, Box, Hypernetwork, Layerwise, Linear, OneNeuron, SpaceTime, TimeInduced
from tinns.nn import (
    FourierFeatures,
    ModifiedMLP,
    PirateNet,
    ResNet,
    SeparableField,
    SeparableMLP,
    sine_induced,
)

pytestmark = pytest.mark.usefixtures("float64")

TUBE = Box(x=(-1, 1), y=(0, 2), t=(0, 1), periodic="x")
WAVES = FourierFeatures(6, 2.0)

# The field, and Σ (n+1) |ψ_n| over the leaves n of its parameters, so that their order matters.
DRAWS = {
    "MLP": (SpaceTime(MLP((4, 3), output_bias=True)), 36.83089169076855),
    "normal MLP": (
        SpaceTime(MLP((4,), input_gain=3.0, glorot="normal"), scaled=True),
        26.98290479762308,
    ),
    "modified MLP": (SpaceTime(ModifiedMLP((4, 4), first="layer")), 147.15982867682766),
    "ResNet": (SpaceTime(ResNet((4, 3), blocks=2, width=5)), 473.0456609387588),
    "PirateNet": (SpaceTime(PirateNet(4, 2, factorised=True), fourier=WAVES), 1996.6198347371683),
    "separable space-time": (SpaceTime(SeparableMLP(MLP((4,)), rank=2)), 132.52983850286998),
    "separable field": (SeparableField(MLP((4,)), rank=3, split_periodic=True), 362.26905445832415),
    "layerwise": (TimeInduced(MLP((4, 3)), Layerwise(MLP((3,)))), 185.16119972911392),
    "linear": (TimeInduced(SeparableMLP(MLP((4,)), rank=2), Linear()), 107.08564919500579),
    "one neuron": (TimeInduced(ResNet((4,), width=None), OneNeuron()), 757.8789284861659),
    "hypernetwork": (TimeInduced(MLP((4,)), Hypernetwork(MLP((3, 2)))), 80.33927725523787),
    "waves of space": (TimeInduced(MLP((4,)), Linear(), fourier=WAVES), 57.507117977199925),
    "waves of time": (
        TimeInduced(MLP((4,)), Layerwise(MLP((3,))), fourier_time=WAVES),
        131.38886367750482,
    ),
    "sines": (sine_induced((4, 3)), 467.93515433970924),
}


def weighted_sum(psi):
    return sum((n + 1) * np.abs(leaf).sum() for n, leaf in enumerate(jax.tree.leaves(psi)))


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_gives_the_same_parameters_in_the_same_order(name):
    field, expected = DRAWS[name]
    psi = field.init(jax.random.key(5), TUBE, 2)
    np.testing.assert_allclose(weighted_sum(psi), expected, rtol=1e-14)
