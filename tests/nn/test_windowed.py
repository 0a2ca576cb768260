"""Fields in time windows: each its own network, in its own time; the next goes on from the last."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, Hypernetwork, Layerwise, Linear, OneNeuron, TimeInduced
from tinns.nn import Windowed
from tinns.problem import Problem
from tinns.solution import Solution

pytestmark = pytest.mark.usefixtures("float64")

BOX = Box(x=(0, 2), t=(1, 3))
EDGES = (1.0, 1.5, 3.0)
INDICES = [(0, 0), (1, 0), (0, 1), (2, 1), (0, 2)]


class OnNinePoints(Problem):
    """Any problem on the box, scored on nine places."""

    domain = BOX

    def equation(self, u, x, t):
        return u.t

    def test_grid(self):
        return {"x": np.linspace(0, 2, 9), "t": np.linspace(1, 3, 5)}


def at(field, psi, domain, x, t, index=(0, 0)):
    point = {"x": jnp.asarray(x, float), "t": jnp.asarray(t, float)}
    return field.derivatives(psi, domain, 1, point, [index])[index][0]


@pytest.fixture(scope="module")
def inner():
    return TimeInduced(MLP((5,)), Layerwise(MLP((3,))), scaled=True)


@pytest.fixture(scope="module")
def psi(float64, inner):
    return Windowed(inner, EDGES).init(jax.random.key(0), BOX, 1)


def test_each_window_has_its_own_parameters_and_its_own_time(inner, psi):
    field = Windowed(inner, EDGES)
    for t, number, own in ((1.0, 0, 0.0), (1.25, 0, 0.5), (1.5, 1, 0.0), (2.25, 1, 0.5), (3, 1, 1)):
        expected = at(inner, psi[number], BOX.over(0, 1), 0.7, own)
        np.testing.assert_allclose(at(field, psi, BOX, 0.7, t), expected, rtol=1e-15)


@pytest.mark.parametrize("index", INDICES[1:])
def test_derivatives_are_those_of_true_time(inner, psi, index):
    field = Windowed(inner, EDGES)

    def value(x, t):
        return at(field, psi, BOX, x, t)

    for axis, order in enumerate(index):
        for _ in range(order):
            value = jax.grad(value, axis)
    for t in (1.2, 2.9):
        np.testing.assert_allclose(
            at(field, psi, BOX, 0.7, t, index), value(0.7, t), rtol=1e-9, atol=1e-12
        )


def test_jumps_are_those_between_the_networks_at_the_edge(inner, psi):
    xs = np.linspace(0, 2, 9)
    before = np.array([at(inner, psi[0], BOX.over(0, 1), x, 1.0) for x in xs])
    after = np.array([at(inner, psi[1], BOX.over(0, 1), x, 0.0) for x in xs])
    stored = {"field": psi, "coefficients": {}}
    solution = Solution(BOX, ("u",), Windowed(inner, EDGES), stored, problem=OnNinePoints())
    expected = np.linalg.norm(after - before) / np.linalg.norm(before)
    np.testing.assert_allclose(solution.jumps(), [expected], rtol=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize(
    "trajectory", [Layerwise(MLP((3,))), Linear(), OneNeuron(), Hypernetwork(MLP((3,)))]
)
def test_advanced_parameters_start_where_the_others_end(trajectory, scaled):
    field, box = TimeInduced(MLP((5,)), trajectory, scaled), BOX.over(0, 1)
    psi = field.init(jax.random.key(1), box, 1)
    psi = jax.tree.map(lambda leaf: leaf + 0.3, psi)  # no slope is zero
    advanced = field.advanced(psi, box)
    assert abs(at(field, psi, box, 0.4, 1.0) - at(field, psi, box, 0.4, 0.0)) > 1e-3
    for x in (0.0, 0.4, 1.7):
        np.testing.assert_allclose(
            at(field, advanced, box, x, 0.0), at(field, psi, box, x, 1.0), rtol=1e-13
        )
