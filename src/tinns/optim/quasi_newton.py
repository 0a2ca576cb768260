"""What L-BFGS and self-scaled Broyden share: a direction H g, and a line search along it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Bool, Float

from tinns._runtime.errors import UserError
from tinns.objective import Objective, Psi
from tinns.optim.optimizer import FRESH, Clock, OptimizerState, Report, apply_updates

ROUNDING = 1e-6  # relative rise of the loss that the line search accepts where the loss is flat
HALVINGS = 60  # of a step along the gradient itself, whose best length is unknown


@dataclass(frozen=True, kw_only=True)
class QuasiNewton(ABC):
    """ψ - α H g with g the gradient of ‖r‖², and α by a strong Wolfe line search that starts at 1.

    Steps after which the loss is higher, or not finite, are rejected. While H is a multiple of I
    the search may take more than `line_search_steps`: late in training, the gradient is billions
    of times as long as the step along it should be.
    """

    line_search_steps: int = 25
    curvature: float = 0.9  # c₂ of the strong Wolfe conditions; c₁ is 1e-4
    forms_jacobian = False
    counters = ()

    def __post_init__(self) -> None:
        self._transformation()
        name = type(self).__name__
        if not (isinstance(self.line_search_steps, int) and self.line_search_steps >= 1):
            raise UserError(
                f"{name}: line_search_steps={self.line_search_steps!r}; expected a whole number "
                ">= 1"
            )
        if not 1e-4 < self.curvature < 1:
            raise UserError(
                f"{name}: curvature={self.curvature!r}; expected a number between 1e-4 and 1, "
                "such as 0.9"
            )

    @abstractmethod
    def _transformation(self) -> optax.GradientTransformationExtraArgs:
        """The map from the gradient g to H g; settings that are out of range raise an error.

        Its argument `arrived` is the gradient at the end of the last step, for the points and
        weights of that step, so that pairs (s, y) never mix two objectives. Its state has a member
        `unscaled`: whether H is a multiple of I.
        """

    def _search(self, state: OptimizerState) -> optax.GradientTransformationExtraArgs:
        """The line search, given the state of the transformation."""
        unscaled, most = state.unscaled, self.line_search_steps
        return optax.scale_by_zoom_linesearch(
            max_linesearch_steps=jnp.where(unscaled, max(most, HALVINGS), most),
            slope_rtol=1e-4,
            curv_rtol=self.curvature,
            approx_dec_rtol=ROUNDING,
            initial_guess_strategy="one",
        )

    def init(self, psi: Psi, kinds: int = 1) -> OptimizerState:
        """The state of the transformation, and the loss at ψ with its gradient and its split."""
        nothing = jnp.asarray(jnp.inf, ravel_pytree(psi)[0].dtype)
        known = nothing, optax.tree.zeros_like(psi), jnp.zeros(kinds, nothing.dtype)
        return self._transformation().init(psi), known

    def step(
        self, objective: Objective, psi: Psi, state: OptimizerState, clock: Clock = FRESH
    ) -> tuple[Psi, OptimizerState, Report]:
        inner, known = state
        _, arrived, _ = known
        here = jax.lax.cond(clock.changed, lambda: objective.loss_and_gradient(psi), lambda: known)
        loss, gradient, split = here
        transformation = self._transformation()
        ascent, inner = transformation.update(gradient, inner, psi, arrived=arrived)
        search: Any = self._search(inner)  # optax does not declare its state
        start = psi, jnp.zeros_like(split)
        (way, _), there = search.update(
            (jax.tree.map(jnp.negative, ascent), jnp.zeros_like(split)),
            search.init(start),
            start,
            value=loss,
            grad=(gradient, split),
            value_fn=_tilted_loss(objective),
        )
        taken = there.value <= loss + ROUNDING * jnp.abs(loss)  # false if either is NaN
        updates, rate, known = optax.tree.where(
            taken,
            (way, there.learning_rate, (there.value, *there.grad)),
            (optax.tree.zeros_like(psi), jnp.zeros_like(there.learning_rate), here),
        )
        return apply_updates(psi, updates, (inner, known), loss, split, rate)


class CurvaturePair(NamedTuple):
    """The last step s and the change y of the gradient along it."""

    position: Float[Array, " n"]  # where it arrived
    s: Float[Array, " n"]
    y: Float[Array, " n"]
    moved: Bool[Array, ""]  # s is not zero, and y is finite
    curved: Bool[Array, ""]  # sᵀy > 0, by more than rounding errors


def curvature_pair(
    state: OptimizerState, gradient: Array, params: Psi | None, arrived: Psi | None
) -> CurvaturePair:
    """The pair of the step from `state` to `params`, where the gradient is `arrived` or `gradient`.

    The state has `begun`, whether there was such a step, and `position` and `gradient` before it.
    """
    if params is None:
        raise UserError("quasi-Newton: update(gradient, state, params) needs params")
    position = ravel_pytree(params)[0]
    slope = gradient if arrived is None else ravel_pytree(arrived)[0]
    s, y = position - state.position, slope - state.gradient
    least = jnp.finfo(s.dtype).eps * jnp.linalg.norm(s) * jnp.linalg.norm(y)
    moved = state.begun & jnp.any(s != 0) & jnp.all(jnp.isfinite(y))
    return CurvaturePair(position, s, y, moved, moved & (y @ s > least))


def _tilted_loss(objective: Objective) -> Callable[[tuple[Psi, Array]], Array]:
    """Σ (1 + tilt)·(loss of a kind of row) of (ψ, tilt), where the tilt is zero.

    Its gradient is that of ‖r‖², from `loss_and_gradient`, and along the tilt the split of ‖r‖².
    """

    @jax.custom_vjp
    def loss(place: tuple[Psi, Array]) -> Array:
        return jnp.sum(objective.losses(place[0]))

    def forward(place: tuple[Psi, Array]) -> tuple[Array, tuple[Psi, Array]]:
        value, gradient, split = objective.loss_and_gradient(place[0])
        return value, (gradient, split)

    def backward(gradient: tuple[Psi, Array], cotangent: Array) -> tuple[tuple[Psi, Array]]:
        return (jax.tree.map(lambda g: cotangent * g, gradient),)

    loss.defvjp(forward, backward)
    return loss
