"""Rows, their losses and gradients against explicit Jacobians."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tinns import Uniform
from tinns.objective import Layout, Objective, assemble
from tinns.objective.blocks import linearise
from tinns.problems import Wave

pytestmark = pytest.mark.usefixtures("float64")


def compiled(method, posed, chunk):
    """A method of the objective at ψ."""
    blocks, psi, data = posed
    return jax.jit(lambda p: method(Objective(blocks, data, Layout(chunk)), p))(psi)


@pytest.mark.parametrize("chunk", [7, 1000])
def test_the_gradient_from_rows_is_that_of_the_loss(posed, explicit, chunk):
    flat, vector, _, _ = explicit
    value, slope = jax.jit(jax.value_and_grad(lambda p: vector(p) @ vector(p)))(flat)
    loss, gradient, split = compiled(Objective.loss_and_gradient, posed, chunk)
    np.testing.assert_allclose(loss, value, rtol=1e-13)
    np.testing.assert_allclose(ravel_pytree(gradient)[0], slope, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(split, compiled(Objective.losses, posed, chunk), rtol=1e-13)


def test_columns_of_a_linearised_row_are_ordered_as_the_flat_parameters(posed, explicit):
    blocks, psi, data = posed
    datum = jax.tree.map(lambda column: column[0], data[0])
    r, jacobian = jax.jit(lambda p: linearise(blocks[0].rows, p, datum))(psi)
    count = len(data[0]["x"])
    np.testing.assert_allclose(r[0] / np.sqrt(count), explicit[2][0], rtol=1e-13)
    np.testing.assert_allclose(jacobian[0] / np.sqrt(count), explicit[3][0], rtol=1e-12, atol=1e-13)


def test_the_loss_is_a_mean_of_squares_and_weights_enter_squared(posed, heat, small_field):
    _, psi, data = posed
    unweighted = compiled(Objective.losses, (assemble(heat, small_field).blocks, psi, data), 1000)
    weighted = compiled(Objective.losses, posed, 1000)
    np.testing.assert_allclose(weighted / unweighted, [1, 4, 1], rtol=1e-13)

    points = data[1]
    u = jax.vmap(lambda p: small_field(psi["field"], heat.domain, 1, p)[0])(points.coordinates)
    mean_square = jnp.mean((u - jnp.sin(jnp.pi * points["x"])) ** 2)
    np.testing.assert_allclose(unweighted[1], mean_square, rtol=1e-13)


def test_conditions_on_one_region_share_points(small_field, few_points):
    system = assemble(Wave(), small_field)
    assert [block.row_names for block in system.blocks] == [
        ("equation",),
        ("initial", "initial_velocity"),
        ("boundary",),
    ]
    data = system.draw(jax.random.key(0), few_points, Uniform())
    assert [len(points["x"]) for points in data] == [30, 11, 6]
