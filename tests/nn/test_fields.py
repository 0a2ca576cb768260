"""Fields: parameter counts of the paper, the published start, embeddings, moving weights."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tinns import (
    MLP,
    Box,
    Hypernetwork,
    Layerwise,
    Linear,
    OneNeuron,
    SpaceTime,
    TimeInduced,
    UserError,
)
from tinns.nn.series import Series, closure
from tinns.nn.trajectories import Formed, Moving

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(-1, 1), t=(0, 1))
CIRCLE = Box(x=(-1, 1), t=(0, 1), periodic="x")
SQUARE = Box(x=(-1, 1), y=(-1, 1), t=(0, 1))
CUBE = Box(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 1))


@pytest.mark.parametrize(
    ("field", "domain", "outputs", "count"),
    [
        (TimeInduced(), LINE, 1, 1145),
        (TimeInduced(), CIRCLE, 1, 1185),
        (TimeInduced(), SQUARE, 1, 1185),
        (TimeInduced(), CUBE, 1, 1225),
        (TimeInduced(), CUBE, 3, 1305),
        (TimeInduced(MLP((20,) * 4), Layerwise(MLP((20, 20)))), CIRCLE, 1, 3329),
        (TimeInduced(MLP((20, 20)), Hypernetwork(MLP((10, 10)))), LINE, 1, 4930),
        (TimeInduced(MLP((20, 20)), Hypernetwork(MLP((50, 2)))), LINE, 1, 1162),
        (TimeInduced(MLP((22, 22)), Linear()), LINE, 1, 1144),
        (TimeInduced(MLP((22, 22)), Linear()), CIRCLE, 1, 1188),
        (TimeInduced(MLP((18, 18)), OneNeuron()), LINE, 1, 1188),
        (TimeInduced(MLP((18, 18)), OneNeuron()), CIRCLE, 1, 1242),
        (SpaceTime(MLP((20, 50))), LINE, 1, 1160),
        (SpaceTime(MLP((20, 50))), CIRCLE, 1, 1180),
    ],
)
def test_parameter_counts_of_the_paper(field, domain, outputs, count):
    shapes = jax.eval_shape(lambda: field.init(jax.random.key(0), domain, outputs))
    assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == count


@partial(jax.jit, static_argnums=(0, 2, 4))
def values_at(field, psi, domain, points, index=(0, 0)):
    return jax.vmap(lambda p: field.derivatives(psi, domain, 1, p, [index])[index])(points)


@pytest.fixture(scope="module")
def scattered(float64):
    random = np.random.default_rng(5)
    return {"x": random.uniform(-1, 1, 20), "t": random.uniform(0, 1, 20)}


def test_a_space_time_network_is_a_time_induced_one(scattered):
    plain = SpaceTime(MLP((6, 5)))
    network = plain.init(jax.random.key(2), LINE, 1)
    network = jax.tree.map(lambda leaf: leaf + 0.1, network)
    (w1, b1), *rest = network
    offset = ((w1[:, :-1], b1), *rest)
    still = jax.tree.map(jnp.zeros_like, offset)
    slope = ((still[0][0], w1[:, -1]), *still[1:])

    induced = TimeInduced(MLP((6, 5)), Layerwise(MLP((3,))))
    psi = induced.init(jax.random.key(3), LINE, 1) | {
        "alpha": jnp.zeros(5),
        "slope": slope,
        "offset": offset,
    }
    np.testing.assert_allclose(
        values_at(induced, psi, LINE, scattered),
        values_at(plain, network, LINE, scattered),
        rtol=0,
        atol=1e-14,
    )


def test_without_gates_the_temporal_code_is_time():
    trajectory = Layerwise(MLP((3,)))
    psi = trajectory.init(jax.random.key(0), MLP((4, 4)), 1, 1)
    open_gates = psi | {"alpha": jnp.zeros(5)}
    np.testing.assert_array_equal(trajectory.phi(open_gates, jnp.asarray(0.3)), np.full(5, 0.3))
    network = trajectory.network(psi["network"], jnp.asarray([0.3]))
    np.testing.assert_allclose(trajectory.phi(psi, jnp.asarray(0.3)), network, rtol=1e-15)


def test_the_published_start():
    psi = Layerwise(MLP((10, 10))).init(jax.random.key(0), MLP((20, 20)), 1, 1)
    np.testing.assert_array_equal(psi["alpha"], np.ones(5))
    fans = {(20, 1): 21, (20, 20): 40, (1, 20): 21}
    for slope, offset in zip(psi["slope"], psi["offset"], strict=True):
        assert not slope[0].any()
        bound = np.sqrt(6 / fans[offset[0].shape])
        assert 0.5 * bound < np.abs(offset[0]).max() <= bound
        if len(offset) == 2:
            assert not offset[1].any()
            bound = np.sqrt(6 / (1 + 20))
            assert 0.5 * bound < np.abs(slope[1]).max() <= bound
    assert len(psi["offset"][-1]) == 1


def test_different_keys_give_different_starts():
    field = TimeInduced()
    first, second = (ravel_pytree(field.init(jax.random.key(k), LINE, 1))[0] for k in (0, 1))
    assert not np.allclose(first, second)


@pytest.mark.parametrize("index", [(0, 0), (1, 0), (2, 0), (1, 1)])
def test_a_periodic_axis_joins_smoothly(index):
    field = TimeInduced(MLP((6,)), Layerwise(MLP((3,))))
    psi = field.init(jax.random.key(0), CIRCLE, 1)
    t = jnp.linspace(0, 1, 5)
    lower = values_at(field, psi, CIRCLE, {"x": jnp.full(5, -1.0), "t": t}, index)
    upper = values_at(field, psi, CIRCLE, {"x": jnp.full(5, 1.0), "t": t}, index)
    inside = values_at(field, psi, CIRCLE, {"x": jnp.full(5, 0.3), "t": t}, index)
    np.testing.assert_allclose(lower, upper, atol=1e-13)
    assert not np.allclose(lower, inside, atol=1e-3)


def test_moving_weights_equal_formed_matrices():
    random = np.random.default_rng(0)
    a, b = (jnp.asarray(random.normal(size=(3, 4))) for _ in range(2))
    slope, offset = (jnp.asarray(random.normal(size=3)) for _ in range(2))
    z = jnp.asarray(random.normal(size=4))
    phi = jnp.asarray(0.7)
    moved = Moving(a, b, phi) @ z + Moving(slope, offset, phi)
    formed = (0.7 * a + b) @ z + (0.7 * slope + offset)
    np.testing.assert_allclose(moved, formed, rtol=1e-14)


def test_moving_weights_equal_formed_matrices_for_series():
    random = np.random.default_rng(0)
    a, b = (jnp.asarray(random.normal(size=(3, 4))) for _ in range(2))
    basis = closure([(2, 2)])
    x, t = Series.variable(0.3, 0, basis), Series.variable(0.6, 1, basis)
    z = (x * x) * jnp.asarray(random.normal(size=4))
    phi = t * t
    moved, formed = Moving(a, b, phi) @ z, Formed(phi * a + b) @ z
    for k in basis:
        np.testing.assert_allclose(moved.derivative(k), formed.derivative(k), rtol=1e-13)


@pytest.mark.parametrize("trajectory", [Layerwise(MLP((3,))), Linear(), OneNeuron()])
def test_the_start_moves_in_time_and_has_the_size_of_a_plain_network(trajectory, scattered):
    field = TimeInduced(MLP((20, 20)), trajectory)
    psi = field.init(jax.random.key(0), LINE, 1)
    u = values_at(field, psi, LINE, scattered)
    u_t = values_at(field, psi, LINE, scattered, (0, 1))
    assert 1e-2 < np.abs(u).max() < 10
    assert np.abs(u_t).max() > 1e-4


@pytest.mark.parametrize("hidden", [(), (0,), (5, -1)])
def test_an_impossible_network_is_refused(hidden):
    with pytest.raises(UserError, match="hidden"):
        MLP(hidden)


def test_an_unknown_activation_suggests_the_nearest():
    with pytest.raises(UserError, match=r"'tahn'.*did you mean 'tanh'"):
        MLP((4,), "tahn")
