"""Fields that are linear in the weights of their last layer."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, Hypernetwork, Layerwise, Linear, OneNeuron, TimeInduced, UserError
from tinns.nn import (
    FourierFeatures,
    LinearOutput,
    ModifiedMLP,
    PirateNet,
    ResNet,
    SeparableMLP,
    SpaceTime,
)

pytestmark = pytest.mark.usefixtures("float64")

TUBE = Box(x=(-1, 1), y=(0, 2), t=(0, 1), periodic="x")
ZERO = (0, 0, 0)
POINT = {"x": jnp.asarray(0.37), "y": jnp.asarray(1.2), "t": jnp.asarray(0.61)}

LINEAR = {
    "space-time": SpaceTime(MLP((4,), output_bias=True)),
    "space-time separable": SpaceTime(SeparableMLP(MLP((4,), output_bias=True), rank=2)),
    "modified MLP": SpaceTime(ModifiedMLP((4, 4), output_bias=True)),
    "fourier": SpaceTime(ResNet((4,), output_bias=True), fourier=FourierFeatures(4)),
    "factorised": SpaceTime(PirateNet(4, 1, factorised=True, output_bias=True)),
    "layerwise": TimeInduced(MLP((4,), output_bias=True), Layerwise(MLP((3,)))),
    "linear in time": TimeInduced(PirateNet(4, 1, factorised=True, output_bias=True), Linear()),
    "fourier of space and time": TimeInduced(
        ResNet((4,)),
        Layerwise(MLP((3,))),
        fourier=FourierFeatures(4),
        fourier_time=FourierFeatures(2),
    ),
}


@pytest.mark.parametrize("name", LINEAR)
def test_u_is_linear_in_its_output_weights(name, drawn):
    field = LINEAR[name]
    assert isinstance(field, LinearOutput)
    psi = drawn(field.init, TUBE, 2)
    shape = field.output_weights(psi).shape
    random = np.random.default_rng(0)
    first, second = (jnp.asarray(random.normal(size=shape)) for _ in range(2))

    @jax.jit
    def u(weights):
        fitted = field.with_output_weights(psi, weights)
        return field.derivatives(fitted, TUBE, 2, POINT, [ZERO])[ZERO]

    sums = u(first) - 2.5 * u(second)
    np.testing.assert_allclose(u(first - 2.5 * second), sums, rtol=1e-11, atol=1e-13)
    assert np.abs(u(first)).min() > 1e-6
    kept = field.with_output_weights(psi, first)
    np.testing.assert_array_equal(field.output_weights(kept), first)
    assert jax.tree.structure(kept) == jax.tree.structure(psi)


@pytest.mark.parametrize("trajectory", [OneNeuron(), Hypernetwork()])
def test_trajectories_without_a_resting_part_have_no_weights_to_fit(trajectory):
    field = TimeInduced(MLP((4,)), trajectory)
    with pytest.raises(UserError, match="Layerwise"):
        field.output_weights(field.init(jax.random.key(0), TUBE, 1))


def test_a_fit_of_the_output_weights_recovers_what_the_features_can_represent(drawn):
    field = TimeInduced(ResNet((6,), width=6), Layerwise(MLP((3,))))
    psi = drawn(field.init, TUBE, 1)
    random = np.random.default_rng(2)
    points = {axis: random.uniform(*TUBE.interval(axis), 40) for axis in TUBE.axes}
    sought = jnp.asarray(random.normal(size=field.output_weights(psi).shape))

    @jax.jit
    def values(weights):
        fitted = field.with_output_weights(psi, weights)
        return jax.vmap(lambda p: field.derivatives(fitted, TUBE, 1, p, [ZERO])[ZERO][0])(points)

    features = np.stack([values(row.reshape(sought.shape)) for row in np.eye(sought.size)], axis=1)
    found, *_ = np.linalg.lstsq(features, values(sought))
    np.testing.assert_allclose(found.reshape(sought.shape), sought, rtol=1e-7)


class TellsNothing:
    """A backbone of the user's own, with no last weight to fit."""

    def init(self, key, inputs, outputs):
        return (jnp.ones((outputs, inputs)),)

    def __call__(self, theta, z):
        return theta[0] @ z


@pytest.mark.parametrize(
    "field",
    [
        SpaceTime(TellsNothing()),
        TimeInduced(TellsNothing(), Linear()),
        SpaceTime(SeparableMLP(TellsNothing())),
    ],
)
def test_a_backbone_must_tell_its_last_weight(field):
    with pytest.raises(UserError, match="TellsNothing tells no last weight"):
        field.output_weights(field.init(jax.random.key(0), TUBE, 1))
