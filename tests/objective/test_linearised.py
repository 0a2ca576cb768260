"""The linear model at one ψ, with the Jacobian held whole or computed again in chunks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tinns.objective.layout import Layout
from tinns.objective.linearised import ALIGNMENT, Linearised

pytestmark = pytest.mark.usefixtures("float64")

CHUNKS = [1, 7, 30, 1000]  # data come in counts of 30, 11 and 6


def modelled(posed, chunk, read):
    """read(model), compiled."""
    blocks, psi, data = posed
    return jax.jit(lambda p: read(Linearised(blocks, p, data, Layout(chunk))))(psi)


def flat(vector):
    return jnp.concatenate([part.reshape(-1) for part in vector])


@pytest.mark.parametrize("chunk", CHUNKS)
def test_products_equal_those_of_the_explicit_jacobian(posed, explicit, chunk):
    _, _, r, jacobian = explicit
    rows, (gram, gradient), split = modelled(
        posed, chunk, lambda model: (model.rows, model.normal_equations(), model.split())
    )
    gram_expected = jacobian.T @ jacobian
    scale = float(jnp.abs(gram_expected).max())
    np.testing.assert_allclose(flat(rows), r, rtol=1e-12, atol=1e-14)
    size = jacobian.shape[1]
    assert gram.shape[0] % ALIGNMENT == 0
    assert not gram[size:].any()
    assert not gradient[size:].any()
    np.testing.assert_allclose(gram[:size, :size], gram_expected, atol=1e-13 * scale)
    np.testing.assert_allclose(gradient[:size], jacobian.T @ r, atol=1e-13 * scale)
    np.testing.assert_allclose(jnp.sum(split), r @ r, rtol=1e-13)


@pytest.mark.parametrize("chunk", [7, 1000])
def test_curvature_along_a_direction(posed, explicit, chunk):
    psi, vector, r, _ = explicit
    direction = jnp.cos(jnp.arange(psi.size))
    tree = ravel_pytree(posed[1])[1](direction)
    second = flat(modelled(posed, chunk, lambda model: model.curvature(tree)))

    def along(s):
        return vector(psi + s * direction)

    exact = jax.jit(jax.jacfwd(jax.jacfwd(along)))(0.0)
    scale = float(jnp.abs(exact).max())
    np.testing.assert_allclose(second, exact, atol=1e-13 * scale)
    step = 1e-4
    differences = (along(step) - 2 * r + along(-step)) / step**2
    np.testing.assert_allclose(second, differences, atol=1e-5 * scale)


def test_the_jacobian_is_kept_only_if_all_of_it_fits(posed):
    blocks, psi, data = posed
    for chunk, kept in ((46, False), (47, True)):
        held = jax.eval_shape(lambda p, c=chunk: Linearised(blocks, p, data, Layout(c)).held, psi)
        assert (held is not None) == kept
