"""L-BFGS: its compact form against the matrix it stands for, and what it remembers."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tinns import LBFGS, UserError
from tinns.optim import scale_by_compact_lbfgs
from tinns.optim.lbfgs import compact_product

pytestmark = pytest.mark.usefixtures("float64")


def dense_inverse(pairs, n):
    """BFGS, one pair after another, from the multiple of I that the newest pair suggests."""
    s, y = pairs[-1]
    inverse = (s @ y) / (y @ y) * np.eye(n)
    for s, y in pairs:
        rho = 1 / (s @ y)
        left = np.eye(n) - rho * np.outer(s, y)
        inverse = left @ inverse @ left.T + rho * np.outer(s, s)
    return inverse


@pytest.mark.parametrize("filled", [1, 3, 5])
def test_the_compact_form_is_the_matrix_times_the_gradient(filled):
    rng = np.random.default_rng(filled)
    n, memory = 8, 5
    root = rng.standard_normal((n, n))
    hessian = root @ root.T + 0.1 * np.eye(n)
    pairs = [(s, hessian @ s) for s in rng.standard_normal((filled, n))]
    stored = np.zeros((2, memory, n))
    for k, (s, y) in enumerate(pairs, start=memory - filled):
        stored[:, k] = np.stack([s, y]) / np.sqrt(s @ y)
    gradient = rng.standard_normal(n)
    product = compact_product(*jnp.asarray(stored), jnp.asarray(gradient))
    expected = dense_inverse(pairs, n) @ gradient
    np.testing.assert_allclose(product, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_without_pairs_it_is_the_gradient():
    nothing, gradient = jnp.zeros((3, 4)), jnp.asarray([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_array_equal(compact_product(nothing, nothing, gradient), gradient)


def test_the_transformation_is_the_two_loops_of_optax():
    # More steps than the memory holds, and parameters in a tree.
    ours, theirs = scale_by_compact_lbfgs(4), optax.scale_by_lbfgs(4)
    curvatures = {"a": jnp.asarray([1.0, 4.0, 9.0]), "b": jnp.asarray([[0.5, 20.0]])}
    psi = {"a": jnp.asarray([1.0, -1.0, 2.0]), "b": jnp.asarray([[0.3, -0.7]])}
    our_state, their_state = ours.init(psi), theirs.init(psi)
    for k in range(9):
        gradient = jax.tree.map(lambda c, p: c * p + 0.1 * p**3, curvatures, psi)
        ascent, our_state = ours.update(gradient, our_state, psi)
        expected, their_state = theirs.update(gradient, their_state, psi)
        if k:  # optax shortens the first step in its own way
            jax.tree.map(
                lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11),
                ascent,
                expected,
            )
        psi = optax.apply_updates(psi, optax.tree.scale(-0.05 - 0.03 * k, expected))


def test_steps_that_teach_nothing_are_not_remembered_or_empty_the_memory():
    ours = scale_by_compact_lbfgs(3)
    hessian = np.diag([1.0, 3.0])
    before, after = jnp.asarray([1.0, 1.0]), jnp.asarray([0.9, 0.7])
    first, state = ours.update(hessian @ before, ours.init(before), before)
    assert np.linalg.norm(first) == pytest.approx(1)
    _, state = ours.update(hessian @ after, state, after)
    assert np.count_nonzero(np.any(state.steps != 0, axis=1)) == 1
    # Where the gradient falls along the step there is no positive curvature.
    _, kept = ours.update(state.gradient + jnp.asarray([0.1, 0.0]), state, after - 0.1)
    np.testing.assert_array_equal(kept.steps, state.steps)
    for gradient, position in ((hessian @ after, after), (jnp.full(2, jnp.nan), after + 0.1)):
        _, emptied = ours.update(gradient, state, position)
        assert not np.any(emptied.steps)
        assert not np.any(emptied.changes)


def test_the_gradient_arrived_at_counts_where_the_objective_changed():
    hessian = np.diag([1.0, 3.0])
    ours = scale_by_compact_lbfgs(3)
    before, after = jnp.asarray([1.0, 1.0]), jnp.asarray([0.9, 0.7])
    _, state = ours.update(hessian @ before, ours.init(before), before)
    _, told = ours.update(jnp.asarray([5.0, -7.0]), state, after, arrived=hessian @ after)
    scale = np.asarray(told.steps[-1]) / np.asarray(after - before)
    np.testing.assert_allclose(told.changes[-1], scale * (hessian @ (after - before)))


@pytest.mark.parametrize("memory", [0, -1, 2.5])
def test_an_impossible_memory_is_refused(memory):
    with pytest.raises(UserError, match=f"memory={memory}.*expected"):
        LBFGS(memory)
