"""Adam with warm-up and exponential decay, and L-BFGS, on the same rows as Levenberg-Marquardt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import optax
from jax import Array

from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block, Data, Psi, loss_and_gradient
from tinns.optimizers.first_order import check_moments, scheduled_init, scheduled_step
from tinns.optimizers.line_search import differentiable_loss
from tinns.optimizers.schedules import Schedule


@dataclass(frozen=True)
class Adam:
    """Adam; the learning rate warms up linearly and then decays exponentially (`Schedule`)."""

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

    def __post_init__(self) -> None:
        Schedule.of(self)
        check_moments("Adam", self.b1, self.b2, self.epsilon)

    def _transformation(self) -> optax.GradientTransformation:
        return optax.scale_by_adam(self.b1, self.b2, self.epsilon)

    def init(self, psi: Psi) -> Any:
        return scheduled_init(self._transformation(), psi)

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: Any,
        layout: Layout,
        spent: Array | float = 0.0,
    ) -> tuple[Psi, Any, dict[str, Array]]:
        transformation, schedule = self._transformation(), Schedule.of(self)
        return scheduled_step(transformation, schedule, blocks, psi, data, state, layout, spent)


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS with a strong Wolfe line search."""

    memory: int = 50
    line_search_steps: int = 25
    restarts_on_redraw = True  # curvature pairs of other points would mislead
    forms_jacobian = False

    def _transformation(self) -> optax.GradientTransformationExtraArgs:
        search = optax.scale_by_zoom_linesearch(max_linesearch_steps=self.line_search_steps)
        return optax.lbfgs(memory_size=self.memory, linesearch=search)

    def init(self, psi: Psi) -> Any:
        return self._transformation().init(psi)

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: Any,
        layout: Layout,
        spent: Array | float = 0.0,
    ) -> tuple[Psi, Any, dict[str, Array]]:
        loss, gradient, split = loss_and_gradient(blocks, psi, data, layout)
        updates, state = self._transformation().update(
            gradient,
            state,
            psi,
            value=loss,
            grad=gradient,
            value_fn=differentiable_loss(blocks, data, layout),
        )
        report = {
            "loss": loss,
            "losses": split,
            "learning_rate": state[-1].learning_rate,  # what the line search chose
            "step_norm": optax.tree.norm(updates),
        }
        return optax.apply_updates(psi, updates), state, report
