"""Learning rates that rise linearly and then decay exponentially."""

import math
from dataclasses import dataclass, fields
from typing import Any

import jax.numpy as jnp
from jax import Array

from tinns.errors import UserError


@dataclass(frozen=True)
class Schedule:
    """η(k) = η₀ k/W for k < W, then η₀ ρ^((k - W)/S), without jumps.

    Without `over`, k counts steps. With it, k runs from 0 to `over` in the course of a run, however
    long that is: a schedule printed for so many iterations is stretched over any budget. The share
    of the budget is an argument, so that the compiled program is the same for all budgets.
    """

    learning_rate: float = 1e-3  # η₀
    decay_rate: float = 0.9  # ρ
    warmup: float = 1000  # W
    decay_steps: float = 2000  # S
    over: float | None = None

    def __post_init__(self) -> None:
        for name in ("learning_rate", "decay_steps"):
            if not 0 < _number(self, name) < math.inf:
                raise _refusal(self, name, "a positive number")
        if not 0 < _number(self, "decay_rate") <= 1:
            raise _refusal(self, "decay_rate", "a number in (0, 1]; 1 keeps the rate constant")
        if not 0 <= _number(self, "warmup") < math.inf:
            raise _refusal(self, "warmup", "a number of steps >= 0; 0 starts at learning_rate")
        if self.over is not None and not 0 < _number(self, "over") < math.inf:
            raise _refusal(self, "over", "a positive number of iterations, or None to count steps")

    @classmethod
    def of(cls, optimizer: Any) -> "Schedule":
        """The schedule that an optimiser's own fields of these names state."""
        return cls(**{field.name: getattr(optimizer, field.name) for field in fields(cls)})

    def __call__(self, count: Array | float, spent: Array | float = 0.0) -> Array:
        """The learning rate after `count` steps, when a share `spent` of the budget is used up."""
        k = jnp.asarray(count if self.over is None else spent * self.over, float)
        rising = self.learning_rate * k / max(self.warmup, 1)
        falling = self.learning_rate * self.decay_rate ** ((k - self.warmup) / self.decay_steps)
        return jnp.where(k < self.warmup, rising, falling)


def _number(schedule: Schedule, name: str) -> float:
    """The setting, or NaN, which no bound admits, where it is no number at all."""
    value = getattr(schedule, name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _refusal(schedule: Schedule, name: str, expected: str) -> UserError:
    return UserError(f"schedule: {name}={getattr(schedule, name)!r}; expected {expected}")
