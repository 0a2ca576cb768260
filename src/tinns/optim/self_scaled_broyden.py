"""Self-scaled Broyden: a dense quasi-Newton method whose inverse Hessian is rescaled every step.

The update is SSBroyden2 of M. Al-Baali (1998), with which E. Urbán et al. (2025) and vRBA train
small networks.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import Array
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from tinns._runtime.errors import UserError
from tinns.objective import Psi
from tinns.optim.optimizer import OptimizerState
from tinns.optim.quasi_newton import QuasiNewton, curvature_pair

Update = Literal["broyden", "bfgs"]

LARGEST = 20_000  # parameters: H then has 3.2 GB in double precision


def self_scaled_update(
    inverse: Float[Array, "n n"],
    s: Float[Array, " n"],
    y: Float[Array, " n"],
    b: Float[Array, ""],
    scales_initially: Array | bool = False,
    update: Update = "broyden",
) -> Float[Array, "n n"]:
    """H⁺ = [H - H y yᵀ H / yᵀHy + φ (yᵀHy) v vᵀ]/τ + ρ s sᵀ, so that H⁺ y = s.

    Here ρ = 1/yᵀs, v = ρ s - H y / yᵀHy and b = ρ sᵀH⁻¹s. SSBroyden2 chooses φ and τ by bounds
    on θ = (1 - φ)/(1 + φ a), a = (ρ yᵀHy) b - 1; `bfgs` has φ = 1. With `scales_initially`, H is
    replaced by its multiple of the size that y and s suggest, as is usual after H = I.
    """
    hy = inverse @ y
    yhy, rho, n = y @ hy, 1 / (y @ s), y.size
    h = rho * yhy
    scale = jnp.minimum(1, 1 / b)
    if update == "bfgs":
        phi, sigma, tau = jnp.ones_like(b), jnp.ones_like(b), scale
    else:
        a = jnp.maximum(b * h - 1, jnp.finfo(b.dtype).eps)  # Cauchy-Schwarz, but for rounding
        low = jnp.minimum(1, h * (1 - jnp.sqrt(a / (1 + a))))
        theta = jnp.maximum((low - 1) / a, jnp.minimum(1 / low, (1 - b) / b))
        sigma = 1 + theta * a
        spread = jnp.abs(sigma) ** (-1 / max(n - 1, 1))
        above = jnp.where(theta > 0, theta, 1)
        tau = jnp.where(
            theta <= 0,
            jnp.minimum(scale * spread, sigma),
            scale * jnp.minimum(spread, 1 / above),
        )
        phi = (1 - theta) / sigma
    tau = jnp.where(scales_initially, h / sigma, tau)
    v = rho * s - hy / yhy
    # Products of a vector with itself first: exactly symmetric.
    shape = inverse - jnp.outer(hy, hy) / yhy + phi * yhy * jnp.outer(v, v)
    return shape / tau + rho * jnp.outer(s, s)


class BroydenState(NamedTuple):
    """H, and the start of the last step, from which H is updated next."""

    inverse: Array
    unscaled: Array  # whether H is still I
    begun: Array  # whether there was a last step
    position: Array
    gradient: Array
    direction: Array  # H times the gradient


def scale_by_self_scaled_broyden(
    update: Update = "broyden", initial_scaling: bool = True
) -> optax.GradientTransformationExtraArgs:
    """H g with a dense H, updated from the last step and the change of the gradient along it.

    A line search should follow. If the objective has changed since the last step, for example by
    new points, the gradient of the former objective after that step should be given as `arrived`,
    so that pairs (s, y) never mix two objectives. A step of zero length, a gradient that is not
    finite, and a direction that is not one of descent reset H to I; a step without positive
    curvature leaves H unchanged. While H = I, the norm of the result is at most 1.
    """
    if update not in ("broyden", "bfgs"):
        raise UserError(f"self-scaled update={update!r}; expected broyden or bfgs")

    def init(params: Psi) -> BroydenState:
        position = ravel_pytree(params)[0]
        zero = jnp.zeros_like(position)
        no = jnp.asarray(False)
        identity = jnp.eye(position.size, dtype=position.dtype)
        return BroydenState(identity, ~no, no, zero, zero, zero)

    def transform(
        updates: Psi,
        state: OptimizerState,
        params: Psi | None = None,
        *,
        arrived: Psi | None = None,
        **_: object,
    ) -> tuple[Psi, BroydenState]:
        gradient, unravel = ravel_pytree(updates)
        position, s, y, moved, curved = curvature_pair(state, gradient, params, arrived)

        # s is a multiple α of -H g, hence sᵀH⁻¹s = -α sᵀg.
        length = -(s @ state.direction) / (state.direction @ state.direction)
        b = -length * (s @ state.gradient) / (y @ s)
        moved = moved & jnp.isfinite(length)
        learns = moved & curved & (b > 0)
        scales = state.unscaled & initial_scaling
        identity = jnp.eye(s.size, dtype=s.dtype)
        learned = self_scaled_update(state.inverse, s, y, b, scales, update)
        inverse = jnp.where(learns, learned, jnp.where(moved, state.inverse, identity))

        direction = inverse @ gradient
        descends = direction @ gradient > 0  # also false for NaN
        inverse = jnp.where(descends, inverse, identity)
        direction = jnp.where(descends, direction, gradient)
        unscaled = ~descends | (~learns & (~moved | state.unscaled))
        longest = jnp.where(unscaled, jnp.maximum(jnp.linalg.norm(gradient), 1), 1)
        begun = jnp.ones_like(state.begun)
        return unravel(direction / longest), BroydenState(
            inverse, unscaled, begun, position, gradient, direction
        )

    return optax.GradientTransformationExtraArgs(init, transform)


@dataclass(frozen=True)
class SelfScaledBroyden(QuasiNewton):
    """SSBroyden2, or with update="bfgs" self-scaled BFGS, with a strong Wolfe line search.

    The inverse Hessian is dense: for networks of up to a few thousand parameters. Rejected steps
    reset H to I. When the points change H is kept, as in vRBA, unless `carries_over` is false.
    """

    update: Update = "broyden"
    initial_scaling: bool = True
    carries_over: bool = True

    @property
    def restarts_on_redraw(self) -> bool:
        return not self.carries_over

    def _transformation(self) -> optax.GradientTransformationExtraArgs:
        return scale_by_self_scaled_broyden(self.update, self.initial_scaling)

    def init(self, psi: Psi, kinds: int = 1) -> OptimizerState:
        leaves = jax.tree.leaves(psi)
        n = sum(leaf.size for leaf in leaves)
        if n > LARGEST:
            raise UserError(
                f"SelfScaledBroyden: {n} parameters; its inverse Hessian of n² numbers would take "
                f"{leaves[0].dtype.itemsize * n**2 / 1e9:.1f} GB. Expected at most {LARGEST}: use "
                "LBFGS, SOAP or Adam, or a smaller network"
            )
        return super().init(psi, kinds)
