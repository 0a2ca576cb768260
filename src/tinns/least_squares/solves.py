"""Ways to solve min ‖J δ - v‖² + μ‖δ‖², cheap or stable, behind one interface.

The normal equations lose every direction whose singular value is below about 1e-8 of the largest.
CholeskyQR2 keeps them: it whitens J by a first factor and factors once more, which loses only what
falls below 1e-15 (Y. Yamamoto et al., 2015; shifted as in T. Fukaya et al., 2020). Householder QR
is the yardstick for both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array

from tinns.errors import UserError
from tinns.least_squares.linearised import Linearised, RowVector

Solve = Callable[[RowVector], Array]


@runtime_checkable
class Solver(Protocol):
    """`factor` once per damping; the result maps v to δ. Not finite where a factorisation fails."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Solve: ...


@dataclass(frozen=True)
class Cholesky:
    """(JᵀJ + μI)⁻¹ Jᵀ v."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Solve:
        factor = jax.scipy.linalg.cho_factor(_shifted(gram, mu), lower=True)
        return lambda v: jax.scipy.linalg.cho_solve(factor, model.transposed(v))


@dataclass(frozen=True)
class CholeskyQR2:
    """The same through a whitened J: every pass factors what the passes before left of JᵀJ + μI.

    The first factorisation is shifted by round-off, or it would fail. Two passes serve condition
    numbers of [J; √μ I] up to about 1e10, three serve 1e14.
    """

    passes: int = 2
    shift: float = 4.0  # of the first factorisation, in units of round-off times trace(JᵀJ)

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Solve:
        identity = jnp.eye(gram.shape[0], dtype=gram.dtype)
        shift = self.shift * jnp.finfo(gram.dtype).eps * jnp.trace(gram)
        whiten = _inverse_factor(gram + (mu + shift) * identity)
        for _ in range(self.passes - 2):
            whiten = whiten @ _inverse_factor(_whitened_gram(model, whiten, mu))
        last = jax.scipy.linalg.cho_factor(_whitened_gram(model, whiten, mu), lower=True)

        def solve(v: RowVector) -> Array:
            projected = model.fold(lambda jacobian, part: _product(jacobian, whiten).T @ part, v)
            return whiten @ jax.scipy.linalg.cho_solve(last, projected)

        return solve


def _inverse_factor(matrix: Array) -> Array:
    """R⁻¹ with RᵀR = matrix."""
    factor = jnp.linalg.cholesky(matrix)
    identity = jnp.eye(matrix.shape[0], dtype=matrix.dtype)
    return jax.scipy.linalg.solve_triangular(factor, identity, lower=True).T


def _whitened_gram(model: Linearised, whiten: Array, mu: Array) -> Array:
    """Wᵀ (JᵀJ + μI) W, from the product J W."""

    def piece(jacobian: Array, _: Array) -> Array:
        white = _product(jacobian, whiten)
        return white.T @ white

    return model.fold(piece, model.rows) + mu * (whiten.T @ whiten)


def _product(jacobian: Array, whiten: Array) -> Array:
    """J W, kept from being reordered: Wᵀ(Jᵀv) would lose what (J W)ᵀv keeps."""
    return jax.lax.optimization_barrier(jacobian @ whiten)


@dataclass(frozen=True)
class HouseholderQR:
    """QR of [J; √μ I]. Holds J whole."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Solve:
        size = gram.shape[0]
        if model.stored is None:
            raise UserError(
                "HouseholderQR needs the whole Jacobian: give the recipe a `chunk` of at least the "
                "number of points, or use CholeskyQR2"
            )
        damped = jnp.concatenate([model.stored, jnp.sqrt(mu) * jnp.eye(size, dtype=gram.dtype)])
        q, r = jnp.linalg.qr(damped)

        def solve(v: RowVector) -> Array:
            flat = jnp.concatenate([part.reshape(-1) for part in v])
            return jax.scipy.linalg.solve_triangular(r, q[: flat.size].T @ flat)

        return solve


def _shifted(gram: Array, mu: Array) -> Array:
    return gram + mu * jnp.eye(gram.shape[0], dtype=gram.dtype)
