"""SOAP: Adam in the eigenbasis of Shampoo's factors [Vyas et al. 2024]."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array

from tinns._runtime.errors import UserError
from tinns.objective import Psi
from tinns.optim.first_order import FirstOrder, check_moments
from tinns.optim.matrix_groups import (
    Group,
    arrangement,
    products,
    rotated,
    stacked,
    unstacked,
)
from tinns.optim.optimizer import OptimizerState
from tinns.optim.orthonormal import EXACT, METHODS, Orthonormalisation, factorised


@dataclass(frozen=True)
class SOAP(FirstOrder):
    """SOAP; the learning rate warms up linearly and then decays exponentially (`Schedule`).

    Moments and refresh are those that jaxpi passes: 0.9, 0.999, every second step. The defaults of
    the library it calls are 0.95, 0.95, every tenth. There is no weight decay.
    """

    refresh: int = 2  # steps between refreshes of the eigenbases
    max_size: int = 10_000  # a longer side of a matrix is not rotated
    orthonormalisation: Orthonormalisation = "qr"

    def _transformation(self) -> optax.GradientTransformation:
        return scale_by_soap(
            self.b1,
            self.b2,
            self.epsilon,
            self.refresh,
            max_size=self.max_size,
            orthonormalisation=self.orthonormalisation,
        )


class SoapState(NamedTuple):
    """Moments by group of leaves of one shape; factors and bases by stack of one size."""

    steps: Array
    mean: tuple[Array, ...]  # m, of the gradient itself
    square: tuple[Array, ...]  # v, of the rotated gradient
    factors: tuple[Array, ...]  # L and R
    bases: tuple[Array, ...]  # Q_L and Q_R, columns by falling eigenvalue


def scale_by_soap(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    refresh: int = 2,
    *,
    factor_decay: float | None = None,
    max_size: int = 10_000,
    orthonormalisation: Orthonormalisation = "qr",
) -> optax.GradientTransformation:
    """N = Q_L [m' / (√v + ε)] Q_Rᵀ √(1 - β₂ᵏ)/(1 - β₁ᵏ) for every matrix G of the gradient.

    L and R are running means of G Gᵀ and Gᵀ G, m that of G, v that of (Q_Lᵀ G Q_R)², and
    m' = Q_Lᵀ m Q_R. The first call builds L, R and their eigenvectors Q; it makes no update, but
    counts in k. Then, every `refresh` calls, one power iteration Q <- qr(L Q) follows the factors;
    before it the columns of Q, and v with them, are sorted by diag(Qᵀ L Q).

    As in the paper v is updated at every step; the JAX port that jaxpi uses updates it at refreshes
    only. A vector is a matrix of one column and has one factor; a scalar has none and is treated
    as in Adam. A leaf with more axes is one matrix whose columns are its last axis. A side
    longer than `max_size` is not rotated. `factor_decay` is that of L and R, b2 by default.

    Leaves of one shape are handled as one array, and all bases of one size as one stack, whatever
    shapes they come from: few large kernels instead of many small ones. With Cholesky instead of qr
    (see `orthonormal`), Q times a rounding error is added to L Q, so that directions without any
    gradient keep their basis.
    """
    check_moments("SOAP", b1, b2, eps)
    if not (isinstance(refresh, int) and refresh >= 1):
        raise UserError(f"SOAP: refresh={refresh!r}; expected a whole number of steps >= 1")
    if orthonormalisation not in METHODS:
        raise UserError(
            f"SOAP: orthonormalisation={orthonormalisation!r}; expected one of {', '.join(METHODS)}"
        )
    decay = b2 if factor_decay is None else factor_decay
    if not 0 <= decay < 1:
        raise UserError(f"SOAP: factor_decay={factor_decay!r}; expected a number in [0, 1) or None")

    def init(params: Psi) -> SoapState:
        leaves = jax.tree.leaves(params)
        groups, stacks = arrangement(leaves, max_size)
        zeros = tuple(jnp.zeros_like(stacked(leaves, group)) for group in groups)
        squares = tuple(jnp.zeros((s.matrices, s.size, s.size), s.dtype) for s in stacks)
        return SoapState(jnp.asarray(0), zeros, zeros, squares, squares)

    def update(
        updates: Psi, state: OptimizerState, params: Psi | None = None
    ) -> tuple[Psi, SoapState]:
        leaves, tree = jax.tree.flatten(updates)
        groups, stacks = arrangement(leaves, max_size)
        gradient = tuple(stacked(leaves, group) for group in groups)
        count = state.steps + 1
        factors = tuple(
            decay * factor + (1 - decay) * product
            for factor, product in zip(
                state.factors, products(gradient, groups, stacks), strict=True
            )
        )

        def first() -> tuple[tuple[Array, ...], SoapState]:
            bases = tuple(_eigenvectors(factor) for factor in factors)
            still = tuple(jnp.zeros_like(g) for g in gradient)
            return still, SoapState(count, state.mean, state.square, factors, bases)

        def later() -> tuple[tuple[Array, ...], SoapState]:
            mean = tuple(b1 * m + (1 - b1) * g for m, g in zip(state.mean, gradient, strict=True))
            square = tuple(
                b2 * v + (1 - b2) * g**2
                for v, g in zip(state.square, rotated(gradient, groups, state.bases), strict=True)
            )
            correction = jnp.sqrt(1 - b2**count) / (1 - b1**count)
            normalised = tuple(
                correction.astype(m.dtype) * m / (jnp.sqrt(v) + eps)
                for m, v in zip(rotated(mean, groups, state.bases), square, strict=True)
            )
            direction = rotated(normalised, groups, state.bases, back=True)
            bases, square = jax.lax.cond(
                count % refresh == 0,
                lambda: _refreshed(state.bases, factors, square, groups, orthonormalisation),
                lambda: (state.bases, square),
            )
            return direction, SoapState(count, mean, square, factors, bases)

        direction, state = jax.lax.cond(count == 1, first, later)
        return jax.tree.unflatten(tree, unstacked(direction, groups, leaves)), state

    return optax.GradientTransformation(init, update)


def _eigenvectors(factors: Array) -> Array:
    """Columns by falling eigenvalue."""
    shifted = factors + 1e-30 * jnp.eye(factors.shape[-1], dtype=factors.dtype)
    return factorised(lambda a: jnp.linalg.eigh(a)[1], shifted)[:, :, ::-1]


def _refreshed(
    bases: Sequence[Array],
    factors: Sequence[Array],
    square: Sequence[Array],
    groups: list[Group],
    orthonormalisation: Orthonormalisation,
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """One power iteration: columns sorted by diag(QᵀLQ), v alike, then Q <- qr(LQ)."""
    followed, orders = [], []
    for basis, factor in zip(bases, factors, strict=True):
        power = jnp.einsum("kij,kjl->kil", factor, basis, precision=EXACT)
        order = jnp.argsort(-jnp.sum(basis * power, axis=1), axis=1)
        if orthonormalisation == "cholesky":
            size = jnp.linalg.norm(factor, axis=(1, 2), keepdims=True)
            power += jnp.where(size > 0, jnp.finfo(size.dtype).eps * size, 1) * basis
        sorted_power = jnp.take_along_axis(power, order[:, None, :], axis=2)
        followed.append(METHODS[orthonormalisation](sorted_power))
        orders.append(order)
    permuted = []
    for v, group in zip(square, groups, strict=True):
        rows, columns = group.sides
        if rows is not None:
            v = jnp.take_along_axis(v, orders[rows.stack][rows.matrices][:, :, None], axis=1)
        if columns is not None:
            v = jnp.take_along_axis(v, orders[columns.stack][columns.matrices][:, None, :], axis=2)
        permuted.append(v)
    return tuple(followed), tuple(permuted)
