"""Orthonormal bases by reflections and by Cholesky factors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns.optim.orthonormal import by_cholesky, by_householder


def with_singular_values(rng, values):
    """A matrix of random singular vectors."""
    size = len(values)
    u, v = (np.linalg.qr(rng.standard_normal((size, size)))[0] for _ in range(2))
    return u * values @ v.T


def signs_apart(q, like):
    return q * np.sign(np.sum(q * like, axis=1, keepdims=True))


def deviation(q):
    return np.abs(np.swapaxes(q, 1, 2) @ q - np.eye(q.shape[-1])).max()


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("smallest", [0.3, 1e-3, 1e-6, 1e-9])
def test_both_ways_agree_but_for_signs(smallest):
    rng = np.random.default_rng(0)
    values = np.geomspace(1, smallest, 20)
    a = jnp.asarray([with_singular_values(rng, values) for _ in range(3)])
    expected = np.asarray(by_householder(a))
    q = np.asarray(jax.jit(by_cholesky)(a))
    np.testing.assert_allclose(signs_apart(q, expected), expected, atol=1e-14 / smallest + 1e-14)
    assert deviation(q) < 1e-13


@pytest.mark.usefixtures("float64")
def test_columns_of_any_length_do_no_harm():
    rng = np.random.default_rng(1)
    lengths = np.geomspace(1, 1e-120, 12)
    a = jnp.asarray(rng.standard_normal((2, 12, 12)) * lengths)
    expected = np.asarray(by_householder(a))
    q = np.asarray(by_cholesky(a))
    np.testing.assert_allclose(signs_apart(q, expected), expected, atol=1e-12)


@pytest.mark.usefixtures("float64")
def test_matrices_of_deficient_rank_still_give_a_basis():
    rng = np.random.default_rng(2)
    thin = rng.standard_normal((8, 3))
    a = jnp.asarray([rng.standard_normal((8, 8)), thin @ thin.T, np.zeros((8, 8))])
    q = np.asarray(by_cholesky(a))
    assert deviation(q) < 1e-13
    np.testing.assert_allclose(
        np.triu(np.swapaxes(q, 1, 2) @ a), np.swapaxes(q, 1, 2) @ a, atol=1e-13
    )


def test_single_precision_suffices():
    rng = np.random.default_rng(3)
    a = np.array([with_singular_values(rng, np.geomspace(1, s, 64)) for s in (0.1, 1e-3, 1e-6)])
    q = by_cholesky(jnp.asarray(a, jnp.float32))
    assert q.dtype == jnp.float32
    assert deviation(np.asarray(q, float)) < 1e-5
    r = np.swapaxes(np.asarray(q, float), 1, 2) @ a
    np.testing.assert_allclose(np.triu(r), r, atol=1e-5)
