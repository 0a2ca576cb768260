"""Adam with warm-up and exponential decay, and L-BFGS, on the same rows as Levenberg-Marquardt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jax import Array

from tinns.errors import UserError
from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block, Data, Psi, loss_and_gradient, losses


def warmup_exponential_decay(
    peak: float, rate: float, warmup: int, steps: int
) -> Callable[[Any], Array]:
    """η(k) = peak·k/warmup while warming up, then peak·rate^((k - warmup)/steps)."""

    def schedule(k: Any) -> Array:
        rising = peak * k / max(warmup, 1)
        falling = peak * rate ** ((k - warmup) / steps)
        return jnp.where(k < warmup, rising, falling)

    return schedule


@dataclass(frozen=True)
class Adam:
    """Adam; the learning rate warms up linearly and then decays exponentially."""

    learning_rate: float = 1e-3
    decay_rate: float = 0.9
    warmup: int = 1000
    decay_steps: int = 2000
    restarts_on_redraw = False
    forms_jacobian = False

    def __post_init__(self) -> None:
        if not (self.learning_rate > 0 and 0 < self.decay_rate <= 1 and self.decay_steps > 0):
            raise UserError(
                f"Adam: learning_rate={self.learning_rate} and decay_steps={self.decay_steps} must "
                f"be positive, decay_rate={self.decay_rate} in (0, 1]"
            )

    def _schedule(self) -> Callable[[Any], Array]:
        return warmup_exponential_decay(
            self.learning_rate, self.decay_rate, self.warmup, self.decay_steps
        )

    def init(self, psi: Psi) -> Any:
        return optax.adam(self._schedule()).init(psi), jnp.asarray(0)

    def step(
        self,
        blocks: Sequence[Block],
        psi: Psi,
        data: Sequence[Data],
        state: Any,
        layout: Layout,
        spent: Array | float = 0.0,
    ) -> tuple[Psi, Any, dict[str, Array]]:
        inner, count = state
        loss, gradient, split = loss_and_gradient(blocks, psi, data, layout)
        updates, inner = optax.adam(self._schedule()).update(gradient, inner, psi)
        report = {
            "loss": loss,
            "losses": split,
            "learning_rate": self._schedule()(count),
            "step_norm": optax.tree.norm(updates),
        }
        return optax.apply_updates(psi, updates), (inner, count + 1), report


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
            value_fn=_differentiable_loss(blocks, data, layout),
        )
        report = {"loss": loss, "losses": split, "step_norm": optax.tree.norm(updates)}
        return optax.apply_updates(psi, updates), state, report


def _differentiable_loss(
    blocks: Sequence[Block], data: Sequence[Data], layout: Layout
) -> Callable[[Psi], Array]:
    """‖r‖² with its gradient from `loss_and_gradient`: in chunks, and over all devices."""

    @jax.custom_vjp
    def loss(psi: Psi) -> Array:
        return jnp.sum(losses(blocks, psi, data, layout))

    def forward(psi: Psi) -> tuple[Array, Psi]:
        value, gradient, _ = loss_and_gradient(blocks, psi, data, layout)
        return value, gradient

    def backward(gradient: Psi, cotangent: Array) -> tuple[Psi]:
        return (jax.tree.map(lambda g: cotangent * g, gradient),)

    loss.defvjp(forward, backward)
    return loss
