"""Backbones against plain NumPy forward passes of their equations, and their Taylor series."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, UserError
from tinns.nn import (
    Formula,
    FourierFeatures,
    ModifiedMLP,
    PirateNet,
    ResNet,
    SeparableMLP,
    SpaceTime,
)

pytestmark = pytest.mark.usefixtures("float64")

CIRCLE = Box(x=(-1, 1), t=(0, 1), periodic="x")
INPUT = np.random.default_rng(4).normal(size=3)


def affine(layer, z):
    weight, bias = layer
    return np.dot(weight, z) + bias


def modified(theta, x):
    """H ← Z⊙U + (1-Z)⊙V, the first Z on the input; linear output without bias."""
    w_u, w_v, first, second, (last,) = theta
    u, v = np.tanh(affine(w_u, x)), np.tanh(affine(w_v, x))
    z = np.tanh(affine(first, x))
    h = z * u + (1 - z) * v
    z = np.tanh(affine(second, h))
    h = z * u + (1 - z) * v
    return last @ h


def modified_in_separable_networks(theta, x):
    """U, V, H0 from the input, then H ← (1-Z)⊙U + Z⊙V; output with bias."""
    w_u, w_v, start, first, second, last = theta
    u, v, h = (np.tanh(affine(layer, x)) for layer in (w_u, w_v, start))
    for layer in (first, second):
        z = np.tanh(affine(layer, h))
        h = (1 - z) * u + z * v
    return affine(last, h)


def bottlenecks(theta, x):
    """Three layers, the gated skip before the last activation; a first and a last layer."""
    first, blocks, last = theta
    z = np.sin(affine(first, x))
    for (one, two, three), gate in blocks:
        inner = affine(three, np.sin(affine(two, np.sin(affine(one, z)))))
        z = np.sin(inner + gate * z)
    return affine(last, z)


def one_residual_block(theta, x):
    """U(w x + b) + α x with U one hidden layer, seen through the output weights."""
    _, (((inner, outer), alpha),), (last,) = theta
    return last @ (affine(outer, np.tanh(affine(inner, x))) + alpha * x)


def pirate(theta, e):
    """f, z1, g, z2, q and x ← α q + (1-α) x in each block."""
    w_1, w_2, blocks, (last,) = theta
    u, v = np.tanh(affine(w_1, e)), np.tanh(affine(w_2, e))
    x = e
    for one, two, three, alpha in blocks:
        f = np.tanh(affine(one, x))
        z1 = f * u + (1 - f) * v
        g = np.tanh(affine(two, z1))
        z2 = g * u + (1 - g) * v
        q = np.tanh(affine(three, z2))
        x = alpha * q + (1 - alpha) * x
    return last @ x


def factorised_pirate(theta, e):
    """The same with every kernel g ⊙ v, one scale per output unit."""

    def kernel(layer):
        v, g, bias = layer
        return (g[:, None] * v, bias)

    w_1, w_2, blocks, (v, g) = theta
    plain = tuple((*(kernel(layer) for layer in block[:3]), block[3]) for block in blocks)
    return pirate((kernel(w_1), kernel(w_2), plain, (g[:, None] * v,)), e)


def separable(theta, x):
    """Σ_j f_oj(x1) g_oj(x2) h_oj(x3) over a rank of 4, for two outputs."""

    def features(layers, coordinate):
        (first, second) = layers
        return (second[0] @ np.tanh(affine(first, np.array([coordinate])))).reshape(2, 4)

    f, g, h = (features(layers, coordinate) for layers, coordinate in zip(theta, x, strict=True))
    return np.einsum("oj,oj,oj->o", f, g, h)


EQUATIONS = {
    "modified MLP": (ModifiedMLP((5, 5)), modified),
    "modified MLP of SPINN": (
        ModifiedMLP((5, 5, 5), first="layer", output_bias=True),
        modified_in_separable_networks,
    ),
    "ResNet": (ResNet((4, 6), 2, 5, "sin", output_bias=True), bottlenecks),
    "one residual block": (ResNet((6,), width=None, activated=False), one_residual_block),
    "PirateNet": (PirateNet(5, blocks=2), pirate),
    "factorised PirateNet": (PirateNet(5, blocks=2, factorised=True), factorised_pirate),
    "separable": (SeparableMLP(MLP((5,)), rank=4), separable),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_the_equations_of_each_architecture(name, drawn):
    backbone, equations = EQUATIONS[name]
    theta = drawn(backbone.init, 3, 2)
    u = jax.jit(backbone)(theta, INPUT)
    assert u.shape == (2,)
    np.testing.assert_allclose(u, equations(theta, INPUT), rtol=1e-12)


def test_the_residual_form_of_the_paper_is_a_special_case(drawn):
    backbone = ResNet((6,), width=None, activated=False)
    *inner, (last,) = drawn(backbone.init, 1, 1)
    x, (((w, outer), alpha),) = np.array([0.4]), inner[1]
    u = jax.jit(backbone)((*inner, (np.ones_like(last),)), x)
    np.testing.assert_allclose(u, affine(outer, np.tanh(affine(w, x))) + alpha * x, rtol=1e-13)


@pytest.mark.parametrize(
    "network",
    [backbone for name, (backbone, _) in EQUATIONS.items() if name != "one residual block"],
    ids=[name for name in EQUATIONS if name != "one residual block"],
)
def test_series_give_the_derivatives_of_nested_forward_mode(network, drawn):
    field = SpaceTime(network, scaled=True)
    psi = drawn(field.init, CIRCLE, 2)
    agrees_with_nested_forward_mode(field, psi)


@pytest.mark.parametrize("trained", [True, False])
def test_series_through_fourier_features(trained, drawn):
    field = SpaceTime(PirateNet(4, 1), fourier=FourierFeatures(6, 2.0, trained))
    psi = drawn(field.init, CIRCLE, 2)
    agrees_with_nested_forward_mode(field, psi)


def agrees_with_nested_forward_mode(field, psi):
    wanted = [(0, 0), (1, 0), (2, 1), (3, 0), (0, 2)]
    plain = Formula(lambda x, t: field(psi, CIRCLE, 2, {"x": x, "t": t}))
    point = {"x": jnp.asarray(0.37), "t": jnp.asarray(0.61)}
    series = jax.jit(lambda p: field.derivatives(psi, CIRCLE, 2, p, wanted))(point)
    nested = jax.jit(lambda p: plain.derivatives((), CIRCLE, 2, p, wanted))(point)
    for k in wanted:
        scale = np.abs(nested[k]).max()
        assert scale > 1e-3
        np.testing.assert_allclose(series[k], nested[k], rtol=0, atol=1e-11 * scale)


def test_a_pirate_net_starts_as_a_linear_map_of_its_embedding():
    backbone = PirateNet(5, factorised=True)
    theta = backbone.init(jax.random.key(0), 4, 1)
    v, g = theta[-1]
    e = np.random.default_rng(1).normal(size=4)
    np.testing.assert_allclose(jax.jit(backbone)(theta, e), g * (v @ e), rtol=1e-13)


def test_factorised_weights_start_with_the_variance_of_glorot():
    theta = PirateNet(300, 1, factorised=True).init(jax.random.key(0), 200, 1)
    (v, g, bias), (plain,) = theta[0], theta[-1][:1]
    assert plain.shape == (1, 200)
    assert np.std(g[:, None] * v) == pytest.approx(np.sqrt(2 / 500), rel=0.02)
    assert np.mean(np.log(g)) == pytest.approx(1.0, abs=0.03)
    assert np.std(np.log(g)) == pytest.approx(0.1, rel=0.2)
    assert not bias.any()


@pytest.mark.parametrize("glorot", ["uniform", "normal"])
def test_glorot_has_its_variance_in_both_kinds(glorot):
    (weight, bias), _ = MLP((300,), glorot=glorot).init(jax.random.key(0), 200, 1)
    assert np.std(weight) == pytest.approx(np.sqrt(2 / 500), rel=0.02)
    kurtosis = np.mean(weight**4) / np.mean(weight**2) ** 2
    assert kurtosis == pytest.approx({"uniform": 1.8, "normal": 2.37}[glorot], rel=0.02)
    assert not bias.any()


def test_layers_of_one_network_are_drawn_apart():
    for backbone, _ in EQUATIONS.values():
        theta = backbone.init(jax.random.key(0), 5, 5)
        weights = [leaf for leaf in jax.tree.leaves(theta) if leaf.ndim == 2]
        for one, other in itertools.combinations(weights, 2):
            assert one.shape != other.shape or not np.allclose(one, other)


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (lambda: ModifiedMLP((4, 5)), "equal widths"),
        (lambda: ModifiedMLP((4,), first="layer"), "two widths"),
        (lambda: ModifiedMLP((4, 4), first="second"), "input or layer"),
        (lambda: ResNet((4, 0)), "hidden"),
        (lambda: ResNet(blocks=0), "blocks=0"),
        (lambda: ResNet(width=-3), "width=-3"),
        (lambda: PirateNet(width=2.5), r"width=2\.5"),
        (lambda: PirateNet(activation="tahn"), "did you mean 'tanh'"),
        (lambda: SeparableMLP(rank=0), "rank=0"),
        (lambda: SeparableMLP().init(jax.random.key(0), 1, 1), "nothing to separate"),
        (lambda: SeparableMLP().over((2, 1)).init(jax.random.key(0), 2, 1), "2 entries"),
        (lambda: MLP(glorot="gaussian"), "gaussian"),
        (lambda: FourierFeatures(7), "even"),
        (lambda: FourierFeatures(scale=0), "scale=0"),
        (lambda: FourierFeatures(seed=-1), "seed=-1"),
    ],
)
def test_an_impossible_architecture_is_refused(build, complaint):
    with pytest.raises(UserError, match=complaint):
        build()
