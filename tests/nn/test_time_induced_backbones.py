"""Every backbone with time-induced weights equals itself with the weights θ(t) formed."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, Hypernetwork, Layerwise, Linear, OneNeuron, TimeInduced, UserError
from tinns.nn import (
    Formula,
    FourierFeatures,
    ModifiedMLP,
    PirateNet,
    ResNet,
    SeparableMLP,
    SpaceTime,
)
from tinns.nn.embeddings import embed_space

pytestmark = pytest.mark.usefixtures("float64")

TUBE = Box(x=(-1, 1), y=(0, 2), t=(0, 1), periodic="x")
POINT = {"x": jnp.asarray(0.37), "y": jnp.asarray(1.2), "t": jnp.asarray(0.61)}
WANTED = [(0, 0, 0), (1, 0, 1)]

BACKBONES = {
    "modified MLP": ModifiedMLP((4, 4)),
    "modified MLP of SPINN": ModifiedMLP((4, 4), first="layer", output_bias=True),
    "ResNet": ResNet((4, 3), width=4),
    "one residual block": ResNet((4,), width=None, activated=False),
    "factorised PirateNet": PirateNet(4, 1, factorised=True, output_bias=True),
    "separable": SeparableMLP(MLP((4,)), rank=2, parts=(2, 1)),
}


def on_affine_path(trajectory, psi, t):
    """θ_g(t) = a_g φ_g(t) + b_g, leaf by leaf."""
    slopes, tree = jax.tree.flatten(psi["slope"])
    offsets = jax.tree.leaves(psi["offset"])
    if isinstance(trajectory, Layerwise):
        network = trajectory.network(psi["network"], jnp.stack([t]))
        phi = (1 - psi["alpha"]) * t + psi["alpha"] * network
    else:
        phi = [t] * len(slopes)
    return jax.tree.unflatten(
        tree, [a * phi[g] + b for g, (a, b) in enumerate(zip(slopes, offsets, strict=True))]
    )


def of_one_neuron(trajectory, psi, t):
    """θ(t) = w2 tanh(w1 t + b), entry by entry."""
    return jax.tree.map(
        lambda w2, w1, b: w2 * jnp.tanh(w1 * t + b), psi["outer"], psi["inner"], psi["shift"]
    )


def from_a_flat_vector(trajectory, psi, t, like):
    """θ(t) cut from the output of the hypernetwork, leaf after leaf."""
    flat = trajectory.network(psi["network"], jnp.stack([t]))
    leaves, tree = jax.tree.flatten(like)
    ends = np.cumsum([leaf.size for leaf in leaves])
    pieces = jnp.split(flat, ends[:-1])
    return jax.tree.unflatten(
        tree, [p.reshape(leaf.shape) for p, leaf in zip(pieces, leaves, strict=True)]
    )


@pytest.mark.parametrize("name", BACKBONES)
def test_layerwise_weights_are_the_formed_ones(name, drawn):
    agrees_with_formed_weights(BACKBONES[name], Layerwise(MLP((3,))), on_affine_path, drawn)


def test_weights_linear_in_time_are_the_formed_ones(drawn):
    agrees_with_formed_weights(BACKBONES["ResNet"], Linear(), on_affine_path, drawn)


@pytest.mark.parametrize("name", ["one residual block", "separable"])
def test_weights_of_one_neuron_are_the_formed_ones(name, drawn):
    agrees_with_formed_weights(BACKBONES[name], OneNeuron(), of_one_neuron, drawn)


def test_weights_from_a_hypernetwork_are_the_formed_ones(drawn):
    backbone = BACKBONES["modified MLP"]
    form = partial(from_a_flat_vector, like=backbone.init(jax.random.key(0), 3, 2))
    agrees_with_formed_weights(backbone, Hypernetwork(MLP((3,))), form, drawn)


def agrees_with_formed_weights(backbone, trajectory, form, drawn):
    field = TimeInduced(backbone, trajectory, scaled=False)
    psi = drawn(field.init, TUBE, 2)

    def formed(psi):
        def u(**coordinates):
            theta = form(trajectory, psi, coordinates["t"])
            return backbone(theta, embed_space(TUBE, coordinates, scaled=False))

        return Formula(u).derivatives((), TUBE, 2, POINT, WANTED)

    moving = jax.jit(lambda psi: field.derivatives(psi, TUBE, 2, POINT, WANTED))(psi)
    explicit = jax.jit(formed)(psi)
    for k in WANTED:
        size = np.abs(explicit[k]).max()
        np.testing.assert_allclose(moving[k], explicit[k], rtol=0, atol=1e-12 + 1e-11 * size)
    assert np.abs(explicit[1, 0, 1]).max() > 1e-4


def test_a_separable_backbone_learns_from_the_field_which_inputs_belong_together():
    told, fitted = SeparableMLP(MLP((4,)), parts=(2, 1)), SeparableMLP(MLP((4,)))
    one, other = (TimeInduced(b, Linear()).init(jax.random.key(0), TUBE, 1) for b in (told, fitted))
    assert jax.tree.map(jnp.shape, one) == jax.tree.map(jnp.shape, other)
    assert one["offset"][0][0][0].shape == (4, 2)
    assert one["offset"][1][0][0].shape == (4, 1)


@pytest.mark.parametrize("field", [TimeInduced, SpaceTime])
def test_a_separable_backbone_refuses_what_mixes_coordinates(field):
    with pytest.raises(UserError, match="mix the coordinates"):
        field(SeparableMLP(), fourier=FourierFeatures(4))


def test_a_separable_backbone_refuses_a_single_coordinate():
    line = Box(x=(0, 1), t=(0, 1), periodic="x")
    with pytest.raises(UserError, match="nothing to separate"):
        TimeInduced(SeparableMLP()).init(jax.random.key(0), line, 1)
