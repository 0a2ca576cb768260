"""Weights between conditions that follow the run, so that no condition is neglected."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective, Psi
from tinns.objective.blocks import linearise

EXTREME = 1e3  # conditions further from the mean pull no harder
SMALLEST_SHARE = 1e-5  # of the mean, added to every norm or kernel in a denominator
KERNEL_BATCH = 64  # points whose gradients are held at once

Factors = Float[Array, " kinds"]


@runtime_checkable
class Balancing(Protocol):
    """A rule for the factors on the rows, one for every kind of row."""

    def update(
        self, factors: Factors, losses: Factors, iteration: Array, objective: Objective, psi: Psi
    ) -> Factors:
        """The factors after a step that saw `losses` and led to ψ.

        The objective is not multiplied by the factors; the losses are.
        """
        ...


@dataclass(frozen=True)
class Balance:
    """Weights that follow the losses: at every step, times (mean loss / own loss)^rate.

    Losses are the weighted mean squares by kind of row. Weights stay within a factor of `limit` of
    those of the recipe, and their geometric mean stays the same.
    """

    rate: float = 0.05
    limit: float = 100.0

    def __post_init__(self) -> None:
        if not (0 < self.rate < 1 and self.limit > 1):
            raise UserError(
                f"Balance: rate={self.rate!r} must be in (0, 1), limit={self.limit!r} above 1"
            )

    def update(
        self, factors: Factors, losses: Factors, iteration: Array, objective: Objective, psi: Psi
    ) -> Factors:
        mean = jnp.mean(losses)
        ratio = jnp.clip(mean / jnp.maximum(losses, mean / EXTREME), 1 / EXTREME, EXTREME)
        factors = factors * jnp.where(jnp.isfinite(ratio), ratio, 1.0) ** self.rate
        factors = factors / jnp.exp(jnp.mean(jnp.log(factors)))
        return jnp.clip(factors, 1 / self.limit, self.limit)


@dataclass(frozen=True)
class GradientNorms:
    """Weights that give the gradients of all conditions equal norms.

    Every `every` iterations w_i ← m·w_i + (1 - m)·mean_j ‖∇L_j‖ / ‖∇L_i‖, from w = 1, with L_i the
    mean square of one kind of row and m the `momentum` (S. Wang et al., 2023, arXiv:2308.08468).
    """

    every: int = 1000
    momentum: float = 0.9

    def __post_init__(self) -> None:
        _check(self)

    def update(
        self, factors: Factors, losses: Factors, iteration: Array, objective: Objective, psi: Psi
    ) -> Factors:
        return _equalised(self, factors, iteration, lambda: gradient_norms(objective, psi))


@dataclass(frozen=True)
class TangentKernel:
    """As `GradientNorms`, with the mean diagonal of the tangent kernel in place of norms.

    The diagonal's entry for a row r is ‖∂r/∂ψ‖² (S. Wang, X. Yu, P. Perdikaris, 2022).
    """

    every: int = 1000
    momentum: float = 0.9

    def __post_init__(self) -> None:
        _check(self)

    def update(
        self, factors: Factors, losses: Factors, iteration: Array, objective: Objective, psi: Psi
    ) -> Factors:
        return _equalised(self, factors, iteration, lambda: kernel_diagonals(objective, psi))


def gradient_norms(objective: Objective, psi: Psi) -> Factors:
    """‖∇ of the mean square‖ for every kind of row."""

    def norm(only: Array) -> Array:
        return optax.tree.norm(objective.reweighted(only).loss_and_gradient(psi)[1])

    return jax.lax.map(norm, jnp.eye(objective.kinds))


def kernel_diagonals(objective: Objective, psi: Psi) -> Factors:
    """The mean of ‖∂r/∂ψ‖² over the points, weighted as the losses are, for every kind of row."""
    means = []
    for block, data in zip(objective.blocks, objective.data, strict=True):
        points = data if block.grid is None else Batch(block.points(data))

        def squares(point: Batch, block: Block = block) -> Array:
            return jnp.sum(linearise(block.rows, psi, point)[1] ** 2, axis=1)

        diagonal = jax.lax.map(squares, points, batch_size=min(KERNEL_BATCH, points.count))
        if block.emphasis is not None:
            diagonal = diagonal * block.emphasis(block, psi, data, block.all_rows(psi, data))
        count = objective.layout.shards * block.count(data)
        means.append(jnp.sum(diagonal, axis=0) / count)
    return objective.layout.total(jnp.concatenate(means))


def every_so_often(
    every: int, iteration: Array, compute: Callable[[], Array], last: Array
) -> Array:
    """A value computed every `every` iterations, and kept in between."""
    if every == 1:
        return compute()
    return jax.lax.cond(iteration % every == 0, compute, lambda: last)


def _equalised(
    rule: GradientNorms | TangentKernel,
    factors: Factors,
    iteration: Array,
    sizes: Callable[[], Array],
) -> Factors:
    """The factors on the rows after one update of the weights w = factors²."""

    def updated() -> Array:
        found = sizes()
        mean = jnp.mean(found)
        wanted = mean / (found + SMALLEST_SHARE * mean)
        weights = rule.momentum * factors**2 + (1 - rule.momentum) * wanted
        return jnp.sqrt(jnp.where(jnp.isfinite(weights), weights, factors**2))

    return every_so_often(rule.every, iteration, updated, factors)


def _check(rule: GradientNorms | TangentKernel) -> None:
    if not (isinstance(rule.every, int) and rule.every >= 1 and 0 <= rule.momentum < 1):
        raise UserError(
            f"{type(rule).__name__}: every={rule.every!r} must be a whole number >= 1, "
            f"momentum={rule.momentum!r} in [0, 1)"
        )
