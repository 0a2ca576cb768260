"""Separable networks: grids equal points, products of axes, and no array larger than it need be."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Box, UserError
from tinns.nn import Formula, ModifiedMLP, OnGrids, SeparableField

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(-1, 3), t=(0, 2))
CIRCLE = Box(x=(-1, 1), t=(0, 1), periodic="x")
SQUARE = Box(x=(-1, 1), y=(-1, 1), t=(0, 10))
TORUS = Box(x=(0, 1), y=(0, 2), z=(-1, 1), t=(0, 1), periodic=("x", "z"))
NETWORK = ModifiedMLP((5, 5), first="layer", output_bias=True)

CASES = {
    "line": (SeparableField(NETWORK, 3), LINE, 1, [(0, 0), (2, 0), (0, 1), (1, 1), (3, 0)]),
    "line, scaled": (SeparableField(MLP((5,)), 3, scaled=True), LINE, 2, [(0, 0), (2, 0), (0, 2)]),
    "circle": (SeparableField(NETWORK, 3), CIRCLE, 1, [(0, 0), (3, 0), (0, 1)]),
    "circle, split": (
        SeparableField(NETWORK, 3, split_periodic=True),
        CIRCLE,
        2,
        [(0, 0), (1, 0), (3, 0), (2, 1)],
    ),
    "square": (SeparableField(NETWORK, 3), SQUARE, 2, [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)]),
    "torus": (
        SeparableField(MLP((4,)), 2, split_periodic=True),
        TORUS,
        1,
        [(0, 0, 0, 0), (1, 0, 1, 0), (0, 2, 0, 1)],
    ),
}


def drawn_axes(domain):
    random = np.random.default_rng(3)
    return {
        axis: jnp.asarray(random.uniform(*domain.interval(axis), 2 + number))
        for number, axis in enumerate(domain.axes)
    }


@pytest.mark.parametrize("name", CASES)
def test_derivatives_on_a_grid_are_those_at_its_points(name, drawn):
    field, domain, outputs, wanted = CASES[name]
    assert isinstance(field, OnGrids)
    psi = drawn(field.init, domain, outputs)
    axes = drawn_axes(domain)
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    points = {axis: m.reshape(-1) for axis, m in zip(axes, mesh, strict=True)}
    at_points = jax.jit(
        jax.vmap(lambda p: field.derivatives(psi, domain, outputs, p, wanted)),
    )(points)
    on_grid = jax.jit(lambda a: field.derivatives_on_grid(psi, domain, outputs, a, wanted))(axes)
    for k in wanted:
        assert on_grid[k].shape == (*mesh[0].shape, outputs)
        assert np.abs(on_grid[k]).max() > 1e-3
        size = np.abs(at_points[k]).max()
        np.testing.assert_allclose(
            on_grid[k], at_points[k].reshape(on_grid[k].shape), rtol=0, atol=1e-12 * max(size, 1)
        )


@pytest.mark.parametrize("name", ["line, scaled", "circle, split", "square"])
def test_series_give_the_derivatives_of_nested_forward_mode(name, drawn):
    field, domain, outputs, wanted = CASES[name]
    psi = drawn(field.init, domain, outputs)
    point = {axis: points[0] for axis, points in drawn_axes(domain).items()}
    plain = Formula(lambda **p: field(psi, domain, outputs, p))
    nested = jax.jit(lambda p: plain.derivatives((), domain, outputs, p, wanted))(point)
    series = jax.jit(lambda p: field.derivatives(psi, domain, outputs, p, wanted))(point)
    for k in wanted:
        size = np.abs(nested[k]).max()
        np.testing.assert_allclose(series[k], nested[k], rtol=0, atol=1e-11 * max(size, 1))


def features(theta, *inputs):
    (w1, b1), (w2, b2) = theta
    return (w2 @ np.tanh(w1 @ np.array(inputs) + b1) + b2).reshape(2, 3)


def test_the_sum_over_the_rank_of_products_over_axes(drawn):
    x, y, t = 0.2, -0.4, 3.0
    field = SeparableField(MLP((4,), output_bias=True), rank=3, scaled=False)
    psi = drawn(field.init, SQUARE, 2)
    factors = [features(thetas[0], value) for thetas, value in zip(psi, (x, y, t), strict=True)]
    expected = np.einsum("oj,oj,oj->o", *factors)
    at = {axis: jnp.asarray([value]) for axis, value in zip("xyt", (x, y, t), strict=True)}
    u = field.derivatives_on_grid(psi, SQUARE, 2, at, [(0, 0, 0)])[0, 0, 0]
    np.testing.assert_allclose(u[0, 0, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("split", [False, True])
def test_a_periodic_axis_is_seen_round_a_circle(split, drawn):
    x, t = 0.3, 0.7
    field = SeparableField(MLP((4,), output_bias=True), rank=3, scaled=False, split_periodic=split)
    psi = drawn(field.init, CIRCLE, 2)
    cos, sin, (in_time,) = np.cos(np.pi * x), np.sin(np.pi * x), psi[1]
    if split:
        in_x = features(psi[0][0], cos) * features(psi[0][1], sin)
    else:
        in_x = features(psi[0][0], cos, sin)
    expected = (in_x * features(in_time, t)).sum(-1)
    at = {"x": jnp.asarray([x]), "t": jnp.asarray([t])}
    u = field.derivatives_on_grid(psi, CIRCLE, 2, at, [(0, 0)])[0, 0]
    np.testing.assert_allclose(u[0, 0], expected, rtol=1e-12)


def sizes(program):
    """The sizes of all arrays that a program makes, also inside what it calls."""
    for equation in program.eqns:
        yield from (variable.aval.size for variable in equation.outvars)
        for inner in equation.params.values():
            if hasattr(inner, "jaxpr"):
                yield from sizes(inner.jaxpr)


@pytest.mark.parametrize("domain", [SQUARE, TORUS])
def test_no_array_has_the_size_of_the_grid_times_the_rank(domain):
    """What makes the method cheap: the largest array is a half of the axes times the rank."""
    rank, points = 7, 12
    field = SeparableField(MLP((4,)), rank)
    psi = field.init(jax.random.key(0), domain, 1)
    axes = {axis: jnp.linspace(*domain.interval(axis), points) for axis in domain.axes}
    wanted = [(0,) * len(axes), (2, *(0,) * (len(axes) - 1))]
    program = jax.make_jaxpr(
        lambda psi: field.derivatives_on_grid(psi, domain, 1, axes, wanted),
    )(psi)
    largest = max(sizes(program.jaxpr))
    assert largest == points ** len(axes)


def test_gradients_on_a_grid_are_those_at_its_points(drawn):
    field, domain, outputs, _ = CASES["circle, split"]
    psi = drawn(field.init, domain, outputs)
    axes = drawn_axes(domain)
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    points = {axis: m.reshape(-1) for axis, m in zip(axes, mesh, strict=True)}

    @partial(jax.jit, static_argnums=0)
    def gradient(on_grid, psi):
        def loss(psi):
            if on_grid:
                u = field.derivatives_on_grid(psi, domain, outputs, axes, [(2, 0)])
            else:
                at = partial(field.derivatives, psi, domain, outputs, indices=[(2, 0)])
                u = jax.vmap(lambda point: at(point=point))(points)
            return jnp.mean(u[2, 0] ** 2)

        return jax.grad(loss)(psi)

    for one, other in zip(
        jax.tree.leaves(gradient(True, psi)), jax.tree.leaves(gradient(False, psi)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10 * np.abs(other).max())


def test_a_grid_needs_points_on_every_axis():
    field = SeparableField(NETWORK, 3)
    psi = field.init(jax.random.key(0), SQUARE, 1)
    with pytest.raises(UserError, match="expected points for each of x, y, t"):
        field.derivatives_on_grid(psi, SQUARE, 1, {"x": jnp.zeros(2)}, [(0, 0, 0)])


def test_an_impossible_rank_is_refused():
    with pytest.raises(UserError, match="rank=0"):
        SeparableField(rank=0)
