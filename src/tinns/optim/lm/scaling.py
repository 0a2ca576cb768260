"""Column scaling of the damping, on only for as long as it is seen to pay.

Scaled damping, μ·d_j² with d_j the length of column j of J (J. J. Moré, 1978), makes steps blind
to the units of the parameters. For networks it is a gamble: late in a run it can be faster than
plain damping, early it is slower, and on some problems it never pays. So both are tried in turn,
and whichever lowers ln(loss) faster is kept until the next comparison.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jaxtyping import Float


class ScalingState(NamedTuple):
    """Which damping is on, what both gained when they were last tried, and where we are."""

    on: Array
    gains: Float[Array, "2"]  # mean ln(loss before / loss after): plain, scaled
    running: Array  # gained in the present stretch
    iteration: Array


@dataclass(frozen=True)
class ColumnScaling:
    """Stretches of `stretch` iterations; every `period` of them the other damping is tried."""

    stretch: int = 20
    period: int = 10
    smallest: float = 1e-3  # floor of d_j, relative to the longest column

    def init(self) -> ScalingState:
        return ScalingState(
            jnp.asarray(False), jnp.zeros(2), jnp.asarray(0.0, float), jnp.asarray(0)
        )

    def metric(self, state: ScalingState, gram: Float[Array, "P P"]) -> Float[Array, " P"]:
        """d_j², of mean 1; all 1 where scaling is off."""
        return jnp.where(state.on, self._squares(gram), 1.0)

    def update(
        self, state: ScalingState, mu: Array, gram: Float[Array, "P P"], gained: Array
    ) -> tuple[Array, ScalingState]:
        """μ and the state for the next iteration; μ is converted where the damping changes."""
        done = state.iteration + 1
        running = state.running + gained
        over = done % self.stretch == 0
        tried = jnp.where(state.on, jnp.array([False, True]), jnp.array([True, False]))
        gains = jnp.where(over & tried, running / self.stretch, state.gains)
        compares = (done // self.stretch) % self.period == 0
        on = jnp.where(compares, ~state.on, gains[1] > gains[0])
        on = jnp.where(over, on, state.on)
        # Weak directions feel the damping: their metric, not the mean, sets the exchange rate.
        rate = jnp.exp(jnp.mean(jnp.log(self._squares(gram))))
        mu = jnp.where(on & ~state.on, mu / rate, jnp.where(~on & state.on, mu * rate, mu))
        return mu, ScalingState(on, gains, jnp.where(over, 0.0, running), done)

    def _squares(self, gram: Array) -> Array:
        squares = jnp.diagonal(gram)
        squares = jnp.maximum(squares, self.smallest**2 * jnp.max(squares))
        return squares / jnp.mean(squares)
