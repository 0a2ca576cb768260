"""How the damping of Levenberg-Marquardt moves."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError


class DampingState(NamedTuple):
    """μ and what its rule remembers."""

    mu: Array
    mu_min: Array
    loss_old: Array
    steps: Array


@dataclass(frozen=True)
class PaperDamping:
    """The damping of [TINN, Alg. 1]: down by γ↓ when the loss fell, up by γ↑ when it rose.

    `period` and `half` distinguish the printed algorithm from the published program: as printed,
    the damping moves at every step and ℓ = ½‖L‖²; as published, it moves at every second step, so
    that it compares with the loss two steps before, and ℓ = ‖L‖². Steps are always taken.
    """

    mu0: float = 10.0
    up: float = 1.7
    down: float = 1.3
    mu_max: float = 1e8
    mu_min: float = 1e-12
    eta: float = 1.0
    period: int = 2
    half: bool = False

    def __post_init__(self) -> None:
        if not (self.up > 1 and self.down > 1 and self.eta >= 1):
            raise UserError(
                f"PaperDamping: up={self.up}, down={self.down} must exceed 1 and eta={self.eta} "
                "must be at least 1"
            )
        if not 0 < self.mu_min <= self.mu0 <= self.mu_max:
            raise UserError(
                f"PaperDamping: expected 0 < mu_min <= mu0 <= mu_max, got {self.mu_min}, "
                f"{self.mu0}, {self.mu_max}"
            )

    @classmethod
    def printed(cls, **settings: float) -> "PaperDamping":
        """The algorithm as the paper prints it."""
        return cls(period=1, half=True, **settings)  # pyright: ignore[reportArgumentType]

    def init(self) -> DampingState:
        return DampingState(
            jnp.asarray(self.mu0, float),
            jnp.asarray(self.mu_min, float),
            jnp.asarray(1e5, float),
            jnp.asarray(0),
        )

    def update(self, state: DampingState, square: Array) -> DampingState:
        """The next damping, from ‖L‖² before the step."""
        mu, mu_min, loss_old, count = state
        loss = square / 2 if self.half else square
        due = count % self.period == 0
        lower = jnp.maximum(mu / self.down, mu_min)
        higher = jnp.minimum(mu * self.up, self.mu_max)
        mu = jnp.where(due, jnp.where(loss < loss_old, lower, higher), mu)
        loss_old = jnp.where(due, loss, loss_old)
        unsafe = loss / mu > 1e5  # ill-conditioned or badly scaled
        return DampingState(
            jnp.where(unsafe, loss / 10, mu),
            jnp.where(unsafe, self.eta * mu_min, mu_min),
            loss_old,
            count + 1,
        )

    def raised(self, state: DampingState) -> DampingState:
        """After a step that could not be computed: ten times the damping."""
        return state._replace(mu=jnp.minimum(10 * state.mu, self.mu_max))
