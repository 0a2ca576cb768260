"""What Adam and SOAP have in common: one gradient, one transformation of it, one learning rate."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import optax

from tinns._runtime.errors import UserError
from tinns.objective import Objective, Psi
from tinns.optim.optimizer import FRESH, Clock, OptimizerState, Report, apply_updates
from tinns.optim.schedules import Schedule


@dataclass(frozen=True)
class FirstOrder(ABC):
    """ψ - η N, where N is the transformed gradient of ‖r‖² and η follows a `Schedule`."""

    learning_rate: float = 1e-3
    decay_rate: float = 0.9
    warmup: float = 1000
    decay_steps: float = 2000
    over: float | None = None  # iterations the schedule was made for; None: k counts steps
    b1: float = 0.9
    b2: float = 0.999
    epsilon: float = 1e-8
    restarts_on_redraw = False
    forms_jacobian = False
    counters = ()

    def __post_init__(self) -> None:
        Schedule.of(self)
        self._transformation()

    @abstractmethod
    def _transformation(self) -> optax.GradientTransformation:
        """The map from the gradient to N; settings that are out of range raise an error."""

    def init(self, psi: Psi, kinds: int = 1) -> OptimizerState:
        """The state of the transformation, and a count of steps."""
        return self._transformation().init(psi), jnp.asarray(0)

    def step(
        self, objective: Objective, psi: Psi, state: OptimizerState, clock: Clock = FRESH
    ) -> tuple[Psi, OptimizerState, Report]:
        inner, count = state
        loss, gradient, split = objective.loss_and_gradient(psi)
        direction, inner = self._transformation().update(gradient, inner, psi)
        rate = Schedule.of(self)(count, clock.spent)
        # The rate may come in double precision; parameters in single precision shall stay so.
        updates = jax.tree.map(lambda leaf: -rate.astype(leaf.dtype) * leaf, direction)
        return apply_updates(psi, updates, (inner, count + 1), loss, split, rate)


def check_moments(name: str, b1: float, b2: float, epsilon: float) -> None:
    """Refuse decay rates of moments outside [0, 1) and an ε that is not positive."""
    for setting, value in (("b1", b1), ("b2", b2)):
        if not 0 <= value < 1:
            raise UserError(f"{name}: {setting}={value!r}; expected a number in [0, 1)")
    if not 0 < epsilon < float("inf"):
        raise UserError(f"{name}: epsilon={epsilon!r}; expected a positive number such as 1e-8")
