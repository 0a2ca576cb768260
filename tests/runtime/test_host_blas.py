"""Products by the host's BLAS, called directly and from compiled programs, and the fallback."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns._runtime import host_blas
from tinns._runtime.host_blas import (
    SMALLEST_SHARE,
    host_gram,
    host_product,
    is_available,
    product,
    symmetric_product,
)
from tinns.objective.linearised import gram_of, product_of

pytestmark = pytest.mark.usefixtures("float64")

SHAPES = [(1, 3), (SMALLEST_SHARE - 1, 5), (4 * SMALLEST_SHARE + 3, 17)]


def matrices(rows, columns):
    random = np.random.default_rng(rows)
    return random.standard_normal((rows, columns)), random.standard_normal((columns, columns + 2))


@pytest.mark.parametrize("shape", SHAPES)
def test_products_in_shares_equal_the_whole(shape):
    matrix, factor = matrices(*shape)
    gram = np.empty((shape[1], shape[1]))
    symmetric_product(gram, matrix)
    expected = np.einsum("np,nq->pq", matrix, matrix)
    np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-11)
    np.testing.assert_array_equal(gram, gram.T)
    times = np.empty((shape[0], factor.shape[1]))
    product(times, matrix, factor)
    np.testing.assert_allclose(times, np.einsum("np,pq->nq", matrix, factor), atol=1e-11)


@pytest.mark.parametrize("shape", SHAPES)
def test_compiled_programs_find_the_host(shape):
    matrix, factor = map(jnp.asarray, matrices(*shape))

    @jax.jit
    def twice(m, w):
        """Inside a loop, as in training."""
        start = jnp.zeros((m.shape[1], m.shape[1])), jnp.zeros((m.shape[0], w.shape[1]))
        return jax.lax.fori_loop(0, 2, lambda _, __: (host_gram(m), host_product(m, w)), start)

    gram, times = twice(matrix, factor)
    np.testing.assert_allclose(gram, matrix.T @ matrix, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(times, matrix @ factor, atol=1e-11)


def test_nan_stays_nan():
    gram = jax.jit(host_gram)(jnp.array([[1.0, jnp.nan], [0.0, 1.0]]))
    assert np.isnan(gram[0, 1])


def test_single_precision_stays_with_xla():
    matrix = jnp.ones((3, 2), jnp.float32)
    assert gram_of(matrix).dtype == product_of(matrix, matrix.T).dtype == jnp.float32
    np.testing.assert_array_equal(gram_of(matrix), np.full((2, 2), 3.0))


def test_the_host_is_available_without_a_warning():
    host_blas._set_up.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert is_available()


def test_the_first_use_may_be_inside_a_trace():
    host_blas._set_up.cache_clear()
    matrix = jnp.asarray(matrices(5, 3)[0])
    stack = jnp.stack([matrix, 2 * matrix])
    gram = jax.jit(lambda s: jax.lax.map(gram_of, s))(stack)
    np.testing.assert_allclose(gram[1], 4 * matrix.T @ matrix, rtol=1e-12)
    assert is_available()


def raising(function):
    raise RuntimeError("no such interface")


@pytest.mark.parametrize(
    ("name", "replacement", "reason"),
    [
        ("_registered", raising, "no such interface"),
        ("_INTERFACE", (99, 0), ""),
        ("_call", lambda function, shape, *operands: jnp.zeros(shape), "was wrong"),
    ],
    ids=["registration fails", "another interface", "wrong result"],
)
def test_without_the_host_products_are_xlas_with_one_warning(
    monkeypatch, name, replacement, reason
):
    monkeypatch.setattr(host_blas, name, replacement)
    host_blas._set_up.cache_clear()
    matrix, factor = map(jnp.asarray, matrices(20, 3))
    products = jax.jit(lambda m, w: (host_gram(m), host_product(m, w)))
    try:
        with pytest.warns(RuntimeWarning, match=reason) as caught:
            gram, times = products(matrix, factor)
        assert len(caught) == 1
        assert "XLA instead of NumPy's BLAS" in str(caught[0].message)
        np.testing.assert_allclose(gram, matrix.T @ matrix, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(times, matrix @ factor, rtol=1e-12, atol=1e-12)
    finally:
        host_blas._set_up.cache_clear()
