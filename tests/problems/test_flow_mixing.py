"""The vortex of flow mixing: its angular velocity is smooth at the centre."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns.problems import FlowMixing

pytestmark = pytest.mark.usefixtures("float64")

PROBLEM = FlowMixing()


def formula(r):
    return np.tanh(r) / (np.cosh(r) ** 2 * r * PROBLEM.peak_speed)


def test_it_is_the_formula_away_from_the_centre_and_on_both_sides_of_the_series():
    r = np.concatenate([np.geomspace(1e-3, 4, 300), 0.1 + np.linspace(-1e-6, 1e-6, 20)])
    direction = 0.7
    turning = PROBLEM.angular_velocity(r * np.cos(direction), r * np.sin(direction))
    np.testing.assert_allclose(turning, formula(r), rtol=2e-14)


def test_at_the_centre_it_takes_its_limit_with_finite_derivatives():
    omega = PROBLEM.angular_velocity
    assert omega(0.0, 0.0) == pytest.approx(1 / 0.385, rel=1e-15)
    np.testing.assert_array_equal(jax.jit(jax.grad(omega, (0, 1)))(0.0, 0.0), [0.0, 0.0])
    # ω = (1 - 4/3 r² + ...) / 0.385
    curvature = np.array(jax.jit(jax.hessian(lambda p: omega(*p)))(jnp.zeros(2)))
    np.testing.assert_allclose(curvature, -8 / 3 / 0.385 * np.eye(2), atol=1e-13)


def test_its_derivatives_agree_with_differences_across_the_edge_of_the_series():
    slope = jax.jit(jax.vmap(jax.grad(lambda x: PROBLEM.angular_velocity(x, 0.0))))
    x, h = np.linspace(0.09, 0.11, 11), 1e-4
    # A fourth-order difference of the formula itself.
    near, far = (formula(x + step) - formula(x - step) for step in (h, 2 * h))
    difference = (8 * near - far) / (12 * h)
    np.testing.assert_allclose(slope(x), difference, rtol=1e-9)


def test_the_exact_solution_is_smooth_at_the_centre():
    u = FlowMixing().reference().formula
    x, y, t = 0.0, 0.0, 3.0
    u_x, u_y, u_t = jax.jit(jax.grad(u, (0, 1, 2)))(x, y, t)
    turned = 3.0 / 0.385  # there u = -½ (y cos ωt - x sin ωt) to first order
    expected = [np.sin(turned) / 2, -np.cos(turned) / 2, 0]
    np.testing.assert_allclose([u_x, u_y, u_t], expected, atol=1e-14)
    assert np.isfinite(jax.jit(jax.hessian(lambda p: u(*p)))(jnp.array([x, y, t]))).all()


def test_the_speed_peaks_near_one():
    r = np.linspace(0.1, 2, 2001)
    assert (r * PROBLEM.angular_velocity(r, 0.0)).max() == pytest.approx(1.0, abs=5e-4)
