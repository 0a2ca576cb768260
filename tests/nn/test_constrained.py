"""Constrained fields: what is prescribed is met for any ψ; derivatives are those of the value."""

from functools import partial
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, Layerwise, OneNeuron, SpaceTime, TimeInduced
from tinns.nn import Constrained, Formula
from tinns.nn.constrained import Exact

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(-1, 2), t=(0.5, 2))
SQUARE = Box(x=(-1, 1), y=(0, 3), t=(0, 1))
CYLINDER = Box(x=(0, 1), y=(-1, 1), t=(0, 1), periodic="x")

INDUCED = TimeInduced(MLP((5, 4)), Layerwise(MLP((3,))))
FIELDS = {
    "layerwise": INDUCED,
    "scaled one-neuron": TimeInduced(MLP((4,)), OneNeuron("sin"), scaled=True),
    "space-time": SpaceTime(MLP((5, 4))),
    "formula": Formula(lambda x, t: jnp.exp(-t * x) + jnp.sin(3 * x * t)),
}


def smooth(p):
    """A function of (x, t) that serves as one solution of all conditions on the line."""
    return jnp.sin(2 * p["x"] + p["t"]) + p["x"] * p["t"] ** 3


def smooth_velocity(p):
    return jnp.cos(2 * p["x"] + p["t"]) + 3 * p["x"] * p["t"] ** 2


def smooth_on_square(p):
    return jnp.sin(p["x"] + 2 * p["y"] - 3 * p["t"]) + p["x"] * p["y"] * p["t"]


def faces(domain, function, *names):
    chosen = names or [face.name for face in domain.faces]
    return tuple((domain.face(name), function) for name in chosen)


def random_psi(field, domain, outputs=1):
    """ψ away from its start, so that nothing is zero by accident."""
    psi = field.init(jax.random.key(1), domain, outputs)
    leaves, tree = jax.tree.flatten(psi)
    noise = [jax.random.normal(jax.random.key(n), leaf.shape) for n, leaf in enumerate(leaves)]
    return jax.tree.unflatten(tree, [a + 0.5 * b for a, b in zip(leaves, noise, strict=True)])


@partial(jax.jit, static_argnums=(0, 2, 4))
def derivatives_at(field, psi, domain, points, index):
    outputs = len(field.exact)
    return jax.vmap(lambda p: field.derivatives(psi, domain, outputs, p, [index])[index])(points)


def scattered(domain, count=20, **fixed):
    random = np.random.default_rng(3)
    points = {axis: jnp.asarray(random.uniform(*i, count)) for axis, i in domain.bounds}
    return points | {axis: jnp.full(count, value) for axis, value in fixed.items()}


def assert_meets(field, psi, domain, output, index, function, **place):
    points = scattered(domain, **place)
    values = derivatives_at(field, psi, domain, points, index)[:, output]
    np.testing.assert_allclose(values, jax.vmap(function)(points), rtol=0, atol=1e-13)


def assert_free(field, psi, domain, output, function):
    """Inside the box the field is none of the prescribed functions: ψ still matters there."""
    points = scattered(domain)
    values = derivatives_at(field, psi, domain, points, (0,) * len(domain.axes))[:, output]
    assert np.abs(values - jax.vmap(function)(points)).max() > 0.05


@pytest.mark.parametrize(
    ("kind", "named"),
    [*((kind, ()) for kind in FIELDS), ("space-time", ("x-",)), ("formula", ("x+",))],
)
def test_on_a_line(kind, named):
    exact = Exact(smooth, smooth_velocity, faces(LINE, smooth, *named))
    field = Constrained(FIELDS[kind], (exact,))
    psi = random_psi(field, LINE)
    assert_meets(field, psi, LINE, 0, (0, 0), smooth, t=0.5)
    assert_meets(field, psi, LINE, 0, (0, 1), smooth_velocity, t=0.5)
    for face, _ in exact.faces:
        assert_meets(field, psi, LINE, 0, (0, 0), smooth, x=face.value)
        assert_meets(field, psi, LINE, 0, (0, 1), smooth_velocity, x=face.value)
    assert_free(field, psi, LINE, 0, smooth)


@pytest.mark.parametrize("kind", ["layerwise", "space-time"])
def test_on_a_square_with_values_that_move_in_time(kind):
    exact = Exact(smooth_on_square, None, faces(SQUARE, smooth_on_square))
    field = Constrained(FIELDS[kind], (exact,))
    psi = random_psi(field, SQUARE)
    assert_meets(field, psi, SQUARE, 0, (0, 0, 0), smooth_on_square, t=0.0)
    for face in SQUARE.faces:
        place = {face.axis: face.value}
        assert_meets(field, psi, SQUARE, 0, (0, 0, 0), smooth_on_square, **place)
    assert_free(field, psi, SQUARE, 0, smooth_on_square)


def test_faces_alone_leave_the_start_free():
    field = Constrained(INDUCED, (Exact(faces=faces(LINE, smooth)),))
    psi = random_psi(field, LINE)
    assert_meets(field, psi, LINE, 0, (0, 0), smooth, x=-1.0)
    start = scattered(LINE, t=0.5)
    values = derivatives_at(field, psi, LINE, start, (0, 0))[:, 0]
    assert np.abs(values - jax.vmap(smooth)(start)).max() > 0.05


def test_each_output_has_conditions_of_its_own():
    exact = (Exact(smooth, smooth_velocity), Exact(), Exact(faces=faces(LINE, smooth, "x+")))
    field = Constrained(INDUCED, exact)
    psi = random_psi(field, LINE, 3)
    assert_meets(field, psi, LINE, 0, (0, 0), smooth, t=0.5)
    assert_meets(field, psi, LINE, 0, (0, 1), smooth_velocity, t=0.5)
    assert_meets(field, psi, LINE, 2, (0, 0), smooth, x=2.0)
    free, plain = (
        derivatives_at(f, psi, LINE, scattered(LINE), (1, 1))
        for f in (field, Constrained(INDUCED, (Exact(),) * 3))
    )
    np.testing.assert_allclose(free[:, 1], plain[:, 1], rtol=1e-12)


def test_on_a_periodic_axis_the_field_goes_round():
    def wave(p):
        return jnp.sin(2 * pi * p["x"]) * p["y"] + p["t"]

    field = Constrained(INDUCED, (Exact(wave, None, faces(CYLINDER, wave)),))
    psi = random_psi(field, CYLINDER)
    assert_meets(field, psi, CYLINDER, 0, (0, 0, 0), wave, t=0.0)
    assert_meets(field, psi, CYLINDER, 0, (0, 0, 0), wave, y=1.0)
    points = scattered(CYLINDER)
    for index in ((0, 0, 0), (2, 0, 0), (1, 0, 1)):
        here = derivatives_at(field, psi, CYLINDER, points, index)
        for turns in (-1, 1, 2):
            there = derivatives_at(field, psi, CYLINDER, points | {"x": points["x"] + turns}, index)
            np.testing.assert_allclose(there, here, rtol=1e-11, atol=1e-11)


def differentiated(function, axis):
    return lambda *c: jax.jvp(function, c, tuple(jnp.float64(i == axis) for i in range(len(c))))[1]


@pytest.mark.parametrize("kind", ["layerwise", "space-time"])
@pytest.mark.parametrize("index", [(1, 0), (2, 0), (0, 1), (0, 2), (1, 1), (3, 1)])
def test_derivatives_are_those_of_the_value(kind, index):
    exact = (Exact(smooth, smooth_velocity, faces(LINE, smooth)), Exact(smooth))
    field = Constrained(FIELDS[kind], exact)
    psi = random_psi(field, LINE, 2)

    def nested(x, t):
        return field.derivatives(psi, LINE, 2, {"x": x, "t": t}, [(0, 0)])[0, 0]

    for axis, order in enumerate(index):
        for _ in range(order):
            nested = differentiated(nested, axis)
    points = scattered(LINE, 5)
    expected = jax.jit(jax.vmap(nested))(points["x"], points["t"])
    np.testing.assert_allclose(
        derivatives_at(field, psi, LINE, points, index), expected, rtol=1e-10, atol=1e-10
    )


def test_a_constrained_field_is_a_description_with_the_parameters_of_the_inner_one():
    field = Constrained(INDUCED, (Exact(smooth),))
    assert hash(field) == hash(Constrained(INDUCED, (Exact(smooth),)))
    for ours, inner in zip(
        jax.tree.leaves(field.init(jax.random.key(0), LINE, 1)),
        jax.tree.leaves(INDUCED.init(jax.random.key(0), LINE, 1)),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, inner)
