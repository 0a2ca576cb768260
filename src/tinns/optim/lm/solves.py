"""Ways to solve min ‖J δ - v‖² + Σ_j w_j δ_j², cheap or stable, behind one interface.

The normal equations lose every direction whose singular value is below about 1e-8 of the largest.
CholeskyQR2 keeps them: it whitens J by a first factor and factors once more, which loses only what
falls below 1e-15 (Y. Yamamoto et al., 2015; shifted as in T. Fukaya et al., 2020). Householder QR
is the yardstick for both.

Every one of them ends as δ = W (L Lᵀ)⁻¹ Bᵀ v with a basis B = J W of the column space.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jax import Array
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.objective.linearised import Linearised, RowVector, gram_of, product_of


class Factor(NamedTuple):
    """δ = whiten (lower lowerᵀ)⁻¹ basisᵀ v; None stands for the identity.

    Without a held Jacobian the basis is J whiten, unheld. Not finite where a factorisation failed.
    """

    whiten: Float[Array, "P P"] | None
    lower: Float[Array, "P P"] | None
    basis: Float[Array, "N P"] | None


@runtime_checkable
class Factorisation(Protocol):
    """A factorisation of JᵀJ + diag(damping), given JᵀJ."""

    def factor(
        self, model: Linearised, gram: Float[Array, "P P"], damping: Float[Array, " P"]
    ) -> Factor: ...


def solve(model: Linearised, factor: Factor, v: RowVector) -> Float[Array, " P"]:
    """The δ that minimises ‖J δ - v‖² + Σ_j w_j δ_j²."""
    return solve_projected(factor, _project(model, factor, v))


def solve_projected(factor: Factor, projected: Float[Array, " P"]) -> Float[Array, " P"]:
    """The same, given basisᵀ v: for `Cholesky` that is Jᵀv."""
    if factor.lower is not None:
        projected = jax.scipy.linalg.cho_solve((factor.lower, True), projected)
    return projected if factor.whiten is None else factor.whiten @ projected


def _project(model: Linearised, factor: Factor, v: RowVector) -> Float[Array, " P"]:
    """basisᵀ v."""
    if factor.basis is not None:
        return model.layout.total(model.flattened(v) @ factor.basis)
    if factor.whiten is None:
        return model.fold(lambda jacobian, part: part @ jacobian, v)
    whiten = factor.whiten
    return model.fold(lambda jacobian, part: part @ _times(jacobian, whiten), v)


@dataclass(frozen=True)
class Cholesky:
    """The normal equations: (JᵀJ + diag(w))⁻¹ Jᵀ v."""

    def factor(self, model: Linearised, gram: Array, damping: Array) -> Factor:
        return Factor(None, jnp.linalg.cholesky(gram + jnp.diag(damping)), model.held)


@dataclass(frozen=True)
class CholeskyQR2:
    """The same through a whitened J: every pass factors what the passes before left of the matrix.

    The first factorisation is shifted by round-off, or it would fail. Two passes serve condition
    numbers of [J; √w] up to about 1e10, three serve 1e14.
    """

    passes: int = 2
    shift: float = 4.0  # of the first factorisation, in units of round-off times the trace

    def factor(self, model: Linearised, gram: Array, damping: Array) -> Factor:
        shape = damping / jnp.max(damping)  # the shift has the damping's proportions
        shift = self.shift * jnp.finfo(gram.dtype).eps * jnp.sum(jnp.diagonal(gram) / shape)
        whiten = _inverse_factor(gram + jnp.diag(damping + shift * shape))
        for _ in range(self.passes - 2):
            whiten = whiten @ _inverse_factor(_whitened_gram(model, whiten, damping)[0])
        white_gram, basis = _whitened_gram(model, whiten, damping)
        return Factor(whiten, jnp.linalg.cholesky(white_gram), basis)


@dataclass(frozen=True)
class HouseholderQR:
    """QR of [J; √w], with J held whole on one device."""

    def factor(self, model: Linearised, gram: Array, damping: Array) -> Factor:
        if model.held is None or model.layout.shards > 1:
            raise UserError(
                "HouseholderQR needs the whole Jacobian on one device: give the recipe a `chunk` "
                "of at least the number of points, or use CholeskyQR2"
            )
        identity = jnp.eye(gram.shape[0], dtype=gram.dtype)
        q, r = jnp.linalg.qr(jnp.concatenate([model.held, jnp.diag(jnp.sqrt(damping))]))
        whiten = jax.scipy.linalg.solve_triangular(r, identity)
        return Factor(whiten, None, q[: len(model.held)])


def _inverse_factor(matrix: Array) -> Array:
    """R⁻¹ with RᵀR = matrix."""
    factor = jnp.linalg.cholesky(matrix)
    identity = jnp.eye(matrix.shape[0], dtype=matrix.dtype)
    return jax.scipy.linalg.solve_triangular(factor, identity, lower=True).T


def _whitened_gram(model: Linearised, whiten: Array, damping: Array) -> tuple[Array, Array | None]:
    """Wᵀ (JᵀJ + diag(w)) W from the product J W, and that product where J is held."""
    damped = gram_of(jnp.sqrt(damping)[:, None] * whiten)
    if model.held is not None:
        basis = _times(model.held, whiten)
        return model.layout.total(gram_of(basis)) + damped, basis
    gram = model.fold(lambda jacobian, _: gram_of(_times(jacobian, whiten)), model.rows)
    return gram + damped, None


def _times(jacobian: Array, whiten: Array) -> Array:
    """J W, kept from being reordered: Wᵀ(Jᵀv) would lose what (J W)ᵀv keeps."""
    return jax.lax.optimization_barrier(product_of(jacobian, whiten))
