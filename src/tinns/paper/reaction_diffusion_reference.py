"""Two substances that react and diffuse between walls: cosine series in space, Radau in time.

u_t = D_u u_xx + f(u, v) and v_t = D_v v_xx + g(u, v) on [0, length] x [0, end], without flux at the
ends and with f and g of degree three at most. The series of u and v stand one after the other in
one vector of modes, and time is divided by `end`, since a stored series runs from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp
import numpy as np
from scipy.fft import dct, idct

from tinns._runtime.errors import UserError
from tinns.problem.reference import Reference
from tinns.problems.references.spectral_collocation import (
    Nonlinear,
    PanelSeries,
    integrate_adaptively,
)
from tinns.problems.references.stored_series import StoredSeries, first_resolved

MODE_COUNTS = (64, 128, 256, 512)  # of each substance
RESOLVED = 1e-12

Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class ReactionDiffusion:
    """A pair of equations with its start; `name` and `coefficients` identify a stored solution."""

    name: str
    coefficients: dict[str, float]
    diffusion: tuple[float, float]
    reaction: Callable[[np.ndarray, np.ndarray], Pair] = field(compare=False)
    start: Callable[[np.ndarray], Pair] = field(compare=False)
    length: float
    end: float

    def semidiscrete(self, modes: int) -> tuple[np.ndarray, Nonlinear, np.ndarray]:
        """The linear symbol, the nonlinear term and the first modes, for times divided by `end`."""
        # Twice as many points as modes: no product of three modes is aliased onto a kept one.
        points = 2 * modes
        x = (np.arange(points) + 0.5) / points * self.length

        def to_modes(pair: Pair) -> np.ndarray:
            coefficients = np.asarray(dct(np.stack(pair, axis=-2), axis=-1))[..., :modes] / points
            coefficients[..., 0] /= 2
            return coefficients.reshape(*coefficients.shape[:-2], 2 * modes)

        def to_values(states: np.ndarray) -> Pair:
            padded = np.zeros((*states.shape[:-1], 2, points))
            padded[..., :modes] = points * states.reshape(*states.shape[:-1], 2, modes)
            padded[..., 0] *= 2
            values = np.asarray(idct(padded, axis=-1))
            return values[..., 0, :], values[..., 1, :]

        def nonlinear(times: np.ndarray, states: np.ndarray) -> np.ndarray:
            return self.end * to_modes(self.reaction(*to_values(states)))

        squares = (np.pi / self.length * np.arange(modes)) ** 2
        linear = -self.end * np.concatenate([d * squares for d in self.diffusion])
        return linear, nonlinear, to_modes(self.start(x))

    def solve(self, modes: int, stages: int = 20, tolerance: float = 1e-13) -> PanelSeries:
        """The cosine coefficients of u, then those of v, on [0, 1] in units of `end`."""
        return integrate_adaptively(
            *self.semidiscrete(modes), stages=stages, tolerance=tolerance, first_panel=2.0**-8
        )

    def reference(self) -> Reference:
        """(u, v) at any x and t; computed at the first use and kept on disk."""
        for name, value in self.coefficients.items():
            if not 0 <= value < np.inf:
                raise UserError(f"{self.name}: {name}={value!r}; expected a number >= 0")
        stored = StoredSeries(
            self.name,
            {**self.coefficients, "end": self.end},
            lambda: first_resolved(self.solve, MODE_COUNTS, RESOLVED),
        )
        length, end = self.length, self.end

        def formula(x: jax.Array, t: jax.Array) -> jax.Array:
            modes = stored.modes(t / end).reshape(2, -1)
            return modes @ jnp.cos(jnp.pi / length * x * np.arange(modes.shape[1]))

        def grid(**axes: np.ndarray) -> np.ndarray:
            x, t = axes["x"], axes["t"]
            modes = stored.series.at(t / end).reshape(len(t), 2, -1)
            cosines = np.cos(np.pi / length * np.outer(x, np.arange(modes.shape[2])))
            order = "xk,tuk->xtu" if tuple(axes) == ("x", "t") else "xk,tuk->txu"
            return np.einsum(order, cosines, modes, optimize=True)

        return Reference(
            formula=formula,
            grid=grid,
            accuracy=1e-9,
            source="cosine series in space, Radau collocation of high order in time",
        )


def brusselator(
    diffusion: float = 0.02, a: float = 1.0, b: float = 3.0, end: float = 10.0
) -> ReactionDiffusion:
    """u_t = D u_xx + a + u²v - (b + 1) u, v_t = D v_xx + b u - u²v on [0, 1]."""

    def reaction(u: np.ndarray, v: np.ndarray) -> Pair:
        made = u * u * v
        return a + made - (b + 1) * u, b * u - made

    def start(x: np.ndarray) -> Pair:
        return 1 + np.cos(np.pi * x) / 2, np.full_like(x, 3.0)

    given = {"diffusion": diffusion, "a": a, "b": b}
    return ReactionDiffusion(
        "brusselator", given, (diffusion, diffusion), reaction, start, length=1.0, end=end
    )


def gray_scott(
    u_diffusion: float = 2e-4,
    v_diffusion: float = 1e-4,
    feed: float = 0.04,
    kill: float = 0.06,
    end: float = 1000.0,
) -> ReactionDiffusion:
    """u_t = D_u u_xx - u v² + F (1 - u), v_t = D_v v_xx + u v² - (F + k) v on [0, 2]."""

    def reaction(u: np.ndarray, v: np.ndarray) -> Pair:
        made = u * v * v
        return feed * (1 - u) - made, made - (feed + kill) * v

    def start(x: np.ndarray) -> Pair:
        bump = np.exp(-(((x - 1) / 0.15) ** 2))
        return 1 - bump / 2, bump / 4

    given = {"du": u_diffusion, "dv": v_diffusion, "feed": feed, "kill": kill}
    return ReactionDiffusion(
        "gray-scott", given, (u_diffusion, v_diffusion), reaction, start, length=2.0, end=end
    )
