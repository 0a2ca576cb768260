"""Adam with warm-up and exponential decay, and L-BFGS, on the same rows as Levenberg-Marquardt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import optax
from jax import Array

from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block, Data, Psi, loss_and_gradient
from tinns.optimizers.first_order import FirstOrder, check_moments
from tinns.optimizers.line_search import differentiable_loss
from tinns.optimizers.step import moved


@dataclass(frozen=True)
class Adam(FirstOrder):
    """Adam; the learning rate warms up linearly and then decays exponentially (`Schedule`)."""

    def _transformation(self) -> optax.GradientTransformation:
        check_moments("Adam", self.b1, self.b2, self.epsilon)
        return optax.scale_by_adam(self.b1, self.b2, self.epsilon)


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
        chosen = state[-1].learning_rate  # by the line search
        return moved(psi, updates, state, loss, split, chosen)
