"""Self-scaled Broyden: its update formula by formula, and what it remembers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import SelfScaledBroyden, UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective
from tinns.optim import scale_by_self_scaled_broyden
from tinns.optim.self_scaled_broyden import self_scaled_update

pytestmark = pytest.mark.usefixtures("float64")


def plain_update(inverse, s, y, gradient, length, scales_initially, update):
    """The formulas of SSBroyden2 and of self-scaled BFGS as they are printed."""
    n = len(s)
    rho = 1 / (y @ s)
    hy = inverse @ y
    h = rho * (y @ hy)
    b = -length * rho * (s @ gradient)
    if update == "bfgs":
        tau = h if scales_initially else min(1, 1 / b)
        left = np.eye(n) - rho * np.outer(s, y)
        return left @ (inverse / tau) @ left.T + rho * np.outer(s, s)
    a = b * h - 1
    c = np.sqrt(abs(a) / (1 + a))
    low = min(1, h * (1 - c))
    theta = max((low - 1) / a, min(1 / low, (1 - b) / b))
    sigma = 1 + theta * a
    most = min(1, 1 / b)
    if scales_initially:
        tau = h / sigma
    elif theta <= 0:
        tau = min(most * abs(sigma) ** (1 / (1 - n)), sigma)
    else:
        tau = most * min(abs(sigma) ** (1 / (1 - n)), 1 / theta)
    v = rho * s - hy / (y @ hy)
    core = inverse - np.outer(hy, hy) / (y @ hy) + (1 - theta) / sigma * (y @ hy) * np.outer(v, v)
    return core / tau + rho * np.outer(s, s)


def a_step(seed, n, stiffness):
    """A quasi-Newton step on a random quadratic: H, s, y, the gradient it began at, its length."""
    rng = np.random.default_rng(seed)
    inverse, hessian = (m @ m.T + 0.1 * np.eye(n) for m in rng.standard_normal((2, n, n)))
    gradient = rng.standard_normal(n)
    length = rng.uniform(0.1, 2)
    s = -length * inverse @ gradient
    return inverse, s, stiffness * hessian @ s, gradient, length


@pytest.mark.parametrize("update", ["broyden", "bfgs"])
@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("stiffness", [1e-3, 0.1, 1.0, 30.0])  # θ of either sign
def test_the_update_is_the_formulas_and_keeps_what_it_must(update, scales, stiffness):
    run = jax.jit(self_scaled_update, static_argnums=5)
    for seed in range(5):
        inverse, s, y, gradient, length = a_step(seed, 6, stiffness)
        b = -length * (s @ gradient) / (y @ s)
        after = np.asarray(run(inverse, s, y, b, scales, update))
        expected = plain_update(inverse, s, y, gradient, length, scales, update)
        np.testing.assert_allclose(after, expected, rtol=1e-10, atol=1e-12 * np.abs(after).max())
        np.testing.assert_allclose(after @ y, s, rtol=1e-9, atol=1e-9 * np.linalg.norm(s))
        np.testing.assert_allclose(after, after.T, atol=1e-13 * np.abs(after).max())
        assert np.linalg.eigvalsh(after).min() > 0


def test_the_transformation_learns_from_the_step_that_was_made():
    inverse, hessian = np.eye(4), np.diag([1.0, 2.0, 5.0, 9.0])
    ours = scale_by_self_scaled_broyden()
    psi = np.array([1.0, -2.0, 0.5, 1.5])
    state = ours.init(jnp.asarray(psi))
    for k in range(6):
        gradient = hessian @ psi
        ascent, state = ours.update(jnp.asarray(gradient), state, jnp.asarray(psi))
        np.testing.assert_allclose(state.inverse, inverse, rtol=1e-8, atol=1e-10)
        if k:
            np.testing.assert_allclose(ascent, inverse @ gradient, rtol=1e-8, atol=1e-12)
        length = 0.1 + 0.05 * k  # of H g
        s = -length * inverse @ gradient
        inverse = plain_update(inverse, s, hessian @ s, gradient, length, k == 0, "broyden")
        psi = psi + s


def test_the_gradient_arrived_at_counts_where_the_objective_changed():
    hessian = np.diag([1.0, 3.0])
    ours = scale_by_self_scaled_broyden()
    before, after = jnp.asarray([1.0, 1.0]), jnp.asarray([0.9, 0.7])
    _, state = ours.update(hessian @ before, ours.init(before), before)
    other = jnp.asarray([5.0, -7.0])  # of other points
    _, told = ours.update(other, state, after, arrived=hessian @ after)
    np.testing.assert_allclose(told.inverse @ (hessian @ (after - before)), after - before)
    _, untold = ours.update(other, state, after)
    assert not np.allclose(untold.inverse, told.inverse)


def test_steps_that_teach_nothing_leave_or_reset_the_inverse():
    ours = scale_by_self_scaled_broyden()
    hessian = np.diag([1.0, 3.0])
    before, after = jnp.asarray([1.0, 1.0]), jnp.asarray([0.9, 0.7])
    _, state = ours.update(hessian @ before, ours.init(before), before)
    _, state = ours.update(hessian @ after, state, after)
    assert not np.allclose(state.inverse, np.eye(2))
    assert not state.unscaled
    # Where the gradient grows along the step there is no positive curvature.
    _, kept = ours.update(
        state.gradient + 0.01 * state.direction, state, after - 0.1 * state.direction
    )
    np.testing.assert_array_equal(kept.inverse, state.inverse)
    for gradient, position in ((hessian @ after, after), (jnp.full(2, jnp.nan), after + 0.1)):
        _, reset = ours.update(gradient, state, position)
        np.testing.assert_array_equal(reset.inverse, np.eye(2))
        assert reset.unscaled


def test_points_that_change_spoil_no_pair():
    # All data share the Hessian but each has its own minimum: pairs of one datum know H⁻¹ s.
    matrix = jnp.asarray([[3.0, 1.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.0, 0.3]])
    block = Block("bowl", ("a", "b", "c"), lambda psi, datum: matrix @ psi - datum["target"])
    hessian = np.asarray(2 * matrix.T @ matrix)
    optimizer = SelfScaledBroyden()
    step = jax.jit(lambda p, s, d: optimizer.step(Objective((block,), (d,)), p, s))
    psi = jnp.zeros(3)
    state = optimizer.init(psi, 3)
    targets = np.random.default_rng(0).standard_normal((8, 1, 3))
    last = np.zeros(3)
    for target in targets:
        before = psi
        psi, state, _ = step(psi, state, Batch({"target": jnp.asarray(target)}))
        known = np.asarray(state[0].inverse) @ hessian @ last
        np.testing.assert_allclose(known, last, rtol=1e-8, atol=1e-12)
        last = np.asarray(psi - before)
        assert np.linalg.norm(last) > 1e-3
    assert not optimizer.restarts_on_redraw
    assert SelfScaledBroyden(carries_over=False).restarts_on_redraw


def test_networks_too_large_for_a_dense_inverse_are_refused():
    with pytest.raises(UserError, match=r"309440 parameters.*766\.0 GB.*20000.*LBFGS"):
        jax.eval_shape(SelfScaledBroyden().init, {"w": jnp.zeros(309_440)})


def test_an_unknown_update_is_refused():
    with pytest.raises(UserError, match=r"update='dfp'.*expected"):
        SelfScaledBroyden("dfp")
