"""Learning rates with a linear warm-up followed by exponential decay."""

import math
from dataclasses import dataclass, fields

import jax.numpy as jnp
import optax
from jax import Array

from tinns._runtime.errors import UserError


@dataclass(frozen=True)
class Schedule:
    """η(k) = η₀ k/W for k < W, then η₀ ρ^((k - W)/S); continuous at k = W.

    By default k counts steps. If `over` is given, k runs from 0 to `over` in the course of a run,
    however long the run is, so a schedule published for that many iterations is stretched to fit
    any budget. The used share of the budget is an argument, so all budgets share one compiled
    program.
    """

    learning_rate: float = 1e-3  # η₀
    decay_rate: float = 0.9  # ρ
    warmup: float = 1000  # W
    decay_steps: float = 2000  # S
    over: float | None = None

    def __post_init__(self) -> None:
        for name in ("learning_rate", "decay_steps"):
            if not 0 < _number(self, name) < math.inf:
                raise _invalid(self, name, "a positive number")
        if not 0 < _number(self, "decay_rate") <= 1:
            raise _invalid(self, "decay_rate", "a number in (0, 1]; 1 keeps the rate constant")
        if not 0 <= _number(self, "warmup") < math.inf:
            raise _invalid(self, "warmup", "a number of steps >= 0; 0 starts at learning_rate")
        if self.over is not None and not 0 < _number(self, "over") < math.inf:
            raise _invalid(self, "over", "a positive number of iterations, or None to count steps")

    @classmethod
    def of(cls, optimizer: object) -> "Schedule":
        """The schedule given by the fields of an optimiser that have the names used here."""
        return cls(**{field.name: getattr(optimizer, field.name) for field in fields(cls)})

    def __call__(self, count: Array | float, spent: Array | float = 0.0) -> Array:
        """The learning rate after `count` steps, with a share `spent` of the budget used."""
        k = jnp.asarray(count if self.over is None else spent * self.over, float)
        # optax declares whole numbers of steps but computes with fractions just as well.
        rate = optax.schedules.warmup_exponential_decay_schedule(
            init_value=0.0,
            peak_value=self.learning_rate,
            warmup_steps=self.warmup,  # pyright: ignore[reportArgumentType]
            transition_steps=self.decay_steps,  # pyright: ignore[reportArgumentType]
            decay_rate=self.decay_rate,
        )
        return jnp.asarray(rate(k))


def _number(schedule: Schedule, name: str) -> float:
    """The value of a setting, or NaN, which fails every comparison, if it is not a number."""
    value = getattr(schedule, name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan


def _invalid(schedule: Schedule, name: str, expected: str) -> UserError:
    return UserError(f"schedule: {name}={getattr(schedule, name)!r}; expected {expected}")
