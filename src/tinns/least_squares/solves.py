"""Ways to solve min ‖J δ - v‖² + μ‖δ‖², cheap or stable, behind one interface.

The normal equations lose every direction whose singular value is below about 1e-8 of the largest.
CholeskyQR2 keeps them: it whitens J by a first factor and factors once more, which loses only what
falls below 1e-15 (Y. Yamamoto et al., 2015; shifted as in T. Fukaya et al., 2020). Householder QR
is the yardstick for both.

Every one of them ends as δ = W (L Lᵀ)⁻¹ Bᵀ v with a basis B = J W of the column space, so that a
compiled program can choose between them at run time and go on in the same way.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns.errors import UserError
from tinns.least_squares.linearised import Linearised, RowVector
from tinns.least_squares.rows import gram_of


class Factor(NamedTuple):
    """δ = whiten (lower lowerᵀ)⁻¹ basisᵀ v. Without a held Jacobian the basis is J whiten, unheld.

    Not finite where a factorisation failed.
    """

    whiten: Float[Array, "P P"]
    lower: Float[Array, "P P"]
    basis: Float[Array, "N P"] | None


@runtime_checkable
class Solver(Protocol):
    """A factorisation of JᵀJ + μI, given JᵀJ."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Factor: ...


def solve(model: Linearised, factor: Factor, v: RowVector) -> Float[Array, " P"]:
    """The δ that minimises ‖J δ - v‖² + μ‖δ‖²."""
    if factor.basis is not None:
        projected = factor.basis.T @ model.flattened(v)
    else:
        projected = model.fold(lambda jacobian, part: _times(jacobian, factor.whiten).T @ part, v)
    return factor.whiten @ jax.scipy.linalg.cho_solve((factor.lower, True), projected)


@dataclass(frozen=True)
class Cholesky:
    """The normal equations: (JᵀJ + μI)⁻¹ Jᵀ v."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Factor:
        identity = _identity(gram)
        return Factor(identity, jnp.linalg.cholesky(gram + mu * identity), model.held)


@dataclass(frozen=True)
class CholeskyQR2:
    """The same through a whitened J: every pass factors what the passes before left of JᵀJ + μI.

    The first factorisation is shifted by round-off, or it would fail. Two passes serve condition
    numbers of [J; √μ I] up to about 1e10, three serve 1e14.
    """

    passes: int = 2
    shift: float = 4.0  # of the first factorisation, in units of round-off times trace(JᵀJ)

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Factor:
        shift = self.shift * jnp.finfo(gram.dtype).eps * jnp.trace(gram)
        whiten = _inverse_factor(gram + (mu + shift) * _identity(gram))
        for _ in range(self.passes - 2):
            whiten = whiten @ _inverse_factor(_whitened_gram(model, whiten, mu)[0])
        white_gram, basis = _whitened_gram(model, whiten, mu)
        return Factor(whiten, jnp.linalg.cholesky(white_gram), basis)


@dataclass(frozen=True)
class HouseholderQR:
    """QR of [J; √μ I], with J held whole."""

    def factor(self, model: Linearised, gram: Array, mu: Array) -> Factor:
        if model.held is None:
            raise UserError(
                "HouseholderQR needs the whole Jacobian: give the recipe a `chunk` of at least the "
                "number of points, or use CholeskyQR2"
            )
        identity = _identity(gram)
        q, r = jnp.linalg.qr(jnp.concatenate([model.held, jnp.sqrt(mu) * identity]))
        whiten = jax.scipy.linalg.solve_triangular(r, identity)
        return Factor(whiten, identity, q[: len(model.held)])


def _inverse_factor(matrix: Array) -> Array:
    """R⁻¹ with RᵀR = matrix."""
    factor = jnp.linalg.cholesky(matrix)
    return jax.scipy.linalg.solve_triangular(factor, _identity(matrix), lower=True).T


def _whitened_gram(model: Linearised, whiten: Array, mu: Array) -> tuple[Array, Array | None]:
    """Wᵀ (JᵀJ + μI) W from the product J W, and that product where J is held."""
    damping = mu * (whiten.T @ whiten)
    if model.held is not None:
        basis = _times(model.held, whiten)
        return gram_of(basis) + damping, basis

    def piece(jacobian: Array, _: Array) -> Array:
        basis = _times(jacobian, whiten)
        return gram_of(basis)

    return model.fold(piece, model.rows) + damping, None


def _times(jacobian: Array, whiten: Array) -> Array:
    """J W, kept from being reordered: Wᵀ(Jᵀv) would lose what (J W)ᵀv keeps."""
    return jax.lax.optimization_barrier(jacobian @ whiten)


def _identity(matrix: Array) -> Array:
    return jnp.eye(matrix.shape[0], dtype=matrix.dtype)
