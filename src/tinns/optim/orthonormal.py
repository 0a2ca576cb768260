"""The Q of A = QR for stacks of square matrices: by Householder reflections, or by Cholesky."""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike
from jaxtyping import Float

Orthonormalisation = Literal["qr", "cholesky"]

# On a GPU, products in single precision would otherwise have three correct digits.
EXACT = jax.lax.Precision.HIGHEST
MOST_SHIFTED_PASSES = 10


def factorised(function: Callable[..., Array], *stacks: Array) -> Array:
    """A factorisation of all matrices of a stack at once; on a CPU, of one after the other.

    There, a batched LAPACK call occupies a thread of the pool in which its own parts are queued: on
    two cores such programs deadlock sooner or later (seen with JAX 0.10).
    """

    def one_by_one(*given: Array) -> Array:
        return jax.lax.map(lambda matrices: function(*matrices), given)

    return jax.lax.platform_dependent(*stacks, cpu=one_by_one, default=function)


def by_householder(a: Float[Array, "k n n"]) -> Float[Array, "k n n"]:
    """Q of A = QR by reflections: always orthonormal, but one matrix after the other on a GPU."""
    return factorised(lambda matrix: jnp.linalg.qr(matrix)[0], a)


def by_cholesky(a: Float[Array, "k n n"]) -> Float[Array, "k n n"]:
    """The same Q, but for the signs of columns, from Cholesky factors of Gram matrices.

    A Cᵀ⁻¹ with C Cᵀ = AᵀA is orthonormal up to the squared condition number; doing it twice is
    accurate unless the first pass fails (CholeskyQR2). First, columns are scaled,
    which changes only R, and while the columns are far from orthonormal a multiple of I is added
    to the Gram matrix (shifted CholeskyQR, Fukaya et al. 2020). These are products and batched
    kernels for the whole stack at once. A stack with a matrix of deficient rank falls back on
    `by_householder`.
    """
    epsilon, size = jnp.finfo(a.dtype).eps, a.shape[-1]
    a = a / _or_one(jnp.max(jnp.abs(a), axis=(1, 2), keepdims=True))  # squares do not underflow
    q = a / _or_one(jnp.linalg.norm(a, axis=1, keepdims=True))

    def far(value: tuple[Array, Array]) -> Array:
        passes, q = value
        return (passes < MOST_SHIFTED_PASSES) & (jnp.max(_deviation(q)) > 0.5)

    def shifted(value: tuple[Array, Array]) -> tuple[Array, Array]:
        passes, q = value
        return passes + 1, _whitened(q, size * epsilon)

    _, q = jax.lax.while_loop(far, shifted, (jnp.asarray(0), q))
    q = _whitened(_whitened(q))
    good = jnp.max(_deviation(q)) < 10 * size * epsilon
    return jax.lax.cond(good, lambda: q, lambda: by_householder(a))


METHODS: dict[str, Callable[[Array], Array]] = {"qr": by_householder, "cholesky": by_cholesky}


def _whitened(q: Array, shift: ArrayLike = 0.0) -> Array:
    """Q Cᵀ⁻¹ with C Cᵀ = QᵀQ + shift ‖QᵀQ‖ I."""
    gram = _gram(q)
    size = jnp.max(jnp.sum(jnp.abs(gram), axis=2), axis=1)[:, None, None]
    raised = gram + shift * size * jnp.eye(q.shape[-1], dtype=q.dtype)

    def solved(gram: Array, q: Array) -> Array:
        factor = jax.lax.linalg.cholesky(gram, symmetrize_input=False)
        return jax.lax.linalg.triangular_solve(factor, q, lower=True, transpose_a=True)

    return factorised(solved, raised, q)


def _gram(q: Array) -> Array:
    return jnp.einsum("kji,kjl->kil", q, q, precision=EXACT)


def _deviation(q: Array) -> Array:
    """‖QᵀQ - I‖, matrix by matrix."""
    return jnp.linalg.norm(_gram(q) - jnp.eye(q.shape[-1], dtype=q.dtype), axis=(1, 2))


def _or_one(norms: Array) -> Array:
    return jnp.where(norms > 0, norms, 1)
