"""Fourier features: the waves themselves, trained or fixed, of space and of time."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, Hypernetwork, Layerwise, Linear, SpaceTime, TimeInduced, UserError
from tinns.nn import FourierFeatures

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(-1, 3), t=(0, 2))
CIRCLE = Box(x=(-1, 1), t=(0, 1), periodic="x")
X, T = 0.37, 0.61


def value(field, psi, domain=LINE, x=X, t=T):
    at = {"x": jnp.asarray(x), "t": jnp.asarray(t)}
    return jax.jit(lambda psi: field(psi, domain, 1, at))(psi)


def test_cosines_and_sines_of_a_gaussian_kernel():
    features = FourierFeatures(4000, scale=3.0)
    kernel = features.init(jax.random.key(0), 2)
    z = np.array([0.2, -1.1])
    waves = np.asarray(kernel) @ z
    np.testing.assert_allclose(
        features(kernel, jnp.asarray(z)), [*np.cos(waves), *np.sin(waves)], rtol=0, atol=1e-12
    )
    assert kernel.shape == (2000, 2)
    assert np.std(kernel) == pytest.approx(3.0, rel=0.05)


def test_a_fixed_kernel_has_no_parameters_and_depends_on_its_seed_alone():
    first, again, other = (FourierFeatures(64, 2.0, False, seed) for seed in (1, 1, 2))
    z = jnp.asarray([0.4, 0.1])
    assert jax.tree.leaves(first.init(jax.random.key(0), 2)) == []
    np.testing.assert_array_equal(first((), z), again((), z))
    assert not np.allclose(first((), z), other((), z))
    waves = first((), jnp.asarray([1e-6, 0.0]))[32:] / 1e-6  # sin(B z)/ε is nearly B's column
    assert np.std(waves) == pytest.approx(2.0, rel=0.4)


def test_a_fixed_kernel_is_the_same_in_both_precisions():
    features = FourierFeatures(16, trained=False)
    double = np.asarray(features((), jnp.asarray([0.3])))
    with jax.enable_x64(False):
        single = np.asarray(features((), jnp.asarray([0.3])))
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
    np.testing.assert_allclose(single, double, rtol=0, atol=1e-6)


def test_space_time_networks_see_waves_of_the_embedded_space_and_of_time(drawn):
    field = SpaceTime(MLP((5,)), scaled=False, fourier=FourierFeatures(6))
    psi = drawn(field.init, CIRCLE, 1)
    waves = psi["fourier"] @ [np.cos(np.pi * X), np.sin(np.pi * X), T]
    (w1, b1), (w2,) = psi["network"]
    expected = w2 @ np.tanh(w1 @ np.concatenate([np.cos(waves), np.sin(waves)]) + b1)
    np.testing.assert_allclose(value(field, psi, CIRCLE), expected, rtol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
def test_time_induced_networks_see_waves_of_space_and_their_codes_waves_of_time(scaled, drawn):
    field = TimeInduced(
        MLP((5,)), Layerwise(MLP((3,))), scaled, FourierFeatures(6), FourierFeatures(4)
    )
    psi = drawn(field.init, LINE, 1)
    x, t = ((X - 1) / 2, T - 1) if scaled else (X, T)

    path, in_space, in_time = psi["path"], psi["fourier"][:, 0] * x, psi["fourier_time"][:, 0] * t
    (v1, c1), (v2,) = path["network"]
    code = v2 @ np.tanh(v1 @ [*np.cos(in_time), *np.sin(in_time)] + c1)
    phi = (1 - path["alpha"]) * t + path["alpha"] * code
    np.testing.assert_allclose(field.temporal_code(psi, LINE, jnp.asarray(T)), phi, rtol=1e-12)

    (a1, p1), (a2,) = path["slope"]
    (b1, q1), (b2,) = path["offset"]
    hidden = (phi[0] * a1 + b1) @ [*np.cos(in_space), *np.sin(in_space)] + phi[1] * p1 + q1
    expected = (phi[2] * a2 + b2) @ np.tanh(hidden)
    np.testing.assert_allclose(value(field, psi), expected, rtol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_next_window_starts_where_the_last_one_ended(scaled, drawn):
    field = TimeInduced(
        MLP((5,)), Layerwise(MLP((3,))), scaled, FourierFeatures(6), FourierFeatures(4)
    )
    psi = drawn(field.init, LINE, 1)
    end = value(field, psi, t=2.0)
    np.testing.assert_allclose(value(field, field.advanced(psi, LINE), t=0.0), end, rtol=1e-12)
    assert not np.allclose(value(field, psi, t=0.0), end)


def test_without_fourier_features_parameters_are_arranged_as_ever():
    plain = TimeInduced(MLP((5,)), Layerwise(MLP((3,)))).init(jax.random.key(0), LINE, 1)
    assert set(plain) == {"network", "alpha", "slope", "offset"}
    assert len(SpaceTime(MLP((5,))).init(jax.random.key(0), LINE, 1)) == 2


@pytest.mark.parametrize("trajectory", [Linear(), Hypernetwork()])
def test_waves_of_time_need_a_time_network(trajectory):
    with pytest.raises(UserError, match="fourier_time"):
        TimeInduced(trajectory=trajectory, fourier_time=FourierFeatures(4))
