"""Products by the host's BLAS, called directly and from compiled programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns.least_squares.host_blas import (
    SMALLEST_SHARE,
    host_gram,
    host_product,
    product,
    symmetric_product,
)
from tinns.least_squares.linearised import gram_of, product_of

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


def test_what_is_no_number_stays_none():
    gram = jax.jit(host_gram)(jnp.array([[1.0, jnp.nan], [0.0, 1.0]]))
    assert np.isnan(gram[0, 1])


def test_single_precision_stays_with_xla():
    matrix = jnp.ones((3, 2), jnp.float32)
    assert gram_of(matrix).dtype == product_of(matrix, matrix.T).dtype == jnp.float32
    np.testing.assert_array_equal(gram_of(matrix), np.full((2, 2), 3.0))
