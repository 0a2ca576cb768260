"""ẏ = rate(t, y) by diffrax: many steps inside one compiled call."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from tinns._runtime.compilation import compiled
from tinns._runtime.errors import UserError
from tinns.solvers.frozen_features.options import EXPLICIT, IMPLICIT, FrozenFeatures
from tinns.solvers.frozen_features.semidiscrete import Data, Rate, Semidiscrete
from tinns.solvers.frozen_features.sorting import METHOD

BLOCK = 256  # steps tried in one compiled call
LEAST_STEPS = 24  # over the whole interval, so that the path can be fitted to its steps
STIFF = 3000.0  # times 1/duration: larger eigenvalues need an implicit solver
BEYOND = 1e8  # times the size of the start: the solution has diverged
ROUND_OFF = 1e-8


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class MarchState:
    """The accepted steps: times, states of shape (steps + 1, order, rank), and seconds spent."""

    times: np.ndarray
    states: np.ndarray
    seconds: np.ndarray  # spent when each step was known
    step: float  # the size of the last step

    @property
    def steps(self) -> int:
        return len(self.times) - 1

    def first(self, steps: int) -> "MarchState":
        """The state after the first `steps` steps."""
        kept = slice(0, steps + 1)
        return MarchState(self.times[kept], self.states[kept], self.seconds[kept], self.step)


@dataclass(frozen=True)
class Prepared:
    """An ODE as it is to be integrated, with the eigenvalues of its Jacobian at the start."""

    ode: Semidiscrete
    eigenvalues: np.ndarray
    seconds: float

    @property
    def growth(self) -> float:
        """The fastest rate at which a disturbance grows at the start."""
        return float(np.real(self.eigenvalues).max())


def prepare(ode: Semidiscrete, interval: tuple[float, float]) -> Prepared:
    """Compute the Jacobian, which replaces the ODE where that is affine with a constant one."""
    before = time.perf_counter()
    shape, random = ode.start.shape, np.random.default_rng(0)
    size = np.linalg.norm(ode.start) / np.sqrt(ode.start.size) + 1e-3
    times = np.asarray([interval[0], 0.3 * interval[0] + 0.7 * interval[1]])
    shifts = size * random.normal(size=(2, ode.start.size))

    @jax.jit
    def probe(start: Array, times: Array, shifts: Array, data: Data) -> tuple[Array, Array]:
        def flat(t: Array, y: Array) -> Array:
            return ode.rate(t, y.reshape(shape), data).reshape(-1)

        jacobian = jax.jacfwd(flat, 1)(times[0], start)
        change = jax.vmap(lambda t, s: flat(t, start + s) - flat(t, start))(times, shifts)
        gap = jnp.linalg.norm(change - shifts @ jacobian.T, axis=1)
        return jacobian, jnp.all(gap <= ROUND_OFF * jnp.linalg.norm(change, axis=1))

    jacobian, affine = probe(ode.start.reshape(-1), times, shifts, ode.data)
    jacobian = np.asarray(jacobian)
    if not np.isfinite(jacobian).all():
        raise UserError(
            f"{METHOD}: the equation's derivative in time is not finite at the start; check the "
            "equation where the initial value is steep or zero"
        )
    ode = _matrix_alone(ode, jacobian) if affine else ode
    return Prepared(ode, np.linalg.eigvals(jacobian), time.perf_counter() - before)


class Integrator:
    """The compiled steps of an ODE over an interval."""

    def __init__(
        self, prepared: Prepared, interval: tuple[float, float], settings: FrozenFeatures
    ) -> None:
        before = time.perf_counter()
        duration = interval[1] - interval[0]
        self.ode, self.solver, self.interval = prepared.ode, settings.solver, interval
        if self.solver == "auto":
            stiff = np.abs(prepared.eigenvalues).max() * duration > STIFF
            self.solver = IMPLICIT[-1] if stiff else EXPLICIT[0]
        block = _block(self.ode.rate, self.solver, settings, duration)
        arguments = self._arguments(self.start())
        self._advance = compiled(block, *arguments)
        self.compile_seconds = prepared.seconds + time.perf_counter() - before

    def start(self) -> MarchState:
        first = (self.interval[1] - self.interval[0]) * 1e-6
        times, seconds = np.asarray([self.interval[0]]), np.zeros(1)
        return MarchState(times, self.ode.start[None], seconds, first)

    def advance(self, state: MarchState) -> MarchState | None:
        """The state after at most BLOCK more tried steps; None where a step cannot be taken."""
        before = time.perf_counter()
        ts, ys, taken, sound = jax.block_until_ready(self._advance(*self._arguments(state)))
        elapsed = time.perf_counter() - before
        count = int(taken)
        times, states = np.asarray(ts)[:count], np.asarray(ys)[:count]
        most = BEYOND * (1 + np.abs(self.ode.start).max())
        if count == 0 or not np.abs(states).max() <= most or not bool(sound):
            return None
        seconds = state.seconds[-1] + elapsed * np.arange(1, count + 1) / count
        return MarchState(
            np.concatenate([state.times, times]),
            np.concatenate([state.states, states]),
            np.concatenate([state.seconds, seconds]),
            float(times[-1] - (times[-2] if count > 1 else state.times[-1])),
        )

    def _arguments(self, state: MarchState) -> tuple[Array, Array, Array, Array, Data]:
        now, end = jnp.asarray(state.times[-1]), jnp.asarray(self.interval[1])
        return now, end, jnp.asarray(state.states[-1]), jnp.asarray(state.step), self.ode.data


def _block(
    rate: Rate, solver: str, settings: FrozenFeatures, duration: float
) -> Callable[[Array, Array, Array, Array, Data], tuple[PyTree, ...]]:
    """(t, end, y, first step, data) -> times, states, their number, and whether all went well."""
    import diffrax

    term = diffrax.ODETerm(rate)  # pyright: ignore[reportArgumentType]
    method = getattr(diffrax, solver)()
    controller = diffrax.PIDController(
        settings.rtol,
        settings.atol,
        pcoeff=0.3,
        icoeff=0.4,
        dtmax=duration / LEAST_STEPS,
    )

    def advance(
        start: Array, end: Array, state: Array, step: Array, data: Data
    ) -> tuple[PyTree, ...]:
        found = diffrax.diffeqsolve(
            term,
            method,
            start,
            end,
            jnp.minimum(step, end - start),
            state,
            args=data,
            saveat=diffrax.SaveAt(steps=True),
            stepsize_controller=controller,
            max_steps=BLOCK,
            throw=False,
        )
        going_on = found.result == diffrax.RESULTS.max_steps_reached
        sound = diffrax.is_successful(found.result) | going_on
        return found.ts, found.ys, found.stats["num_accepted_steps"], sound

    return advance


def _matrix_alone(ode: Semidiscrete, jacobian: np.ndarray) -> Semidiscrete:
    """The same affine ODE by its matrix, which is far smaller than the tables at all points."""
    shape = ode.start.shape

    def rate(t: Array, y: Array, data: Data) -> Array:
        forcing = ode.rate(t, jnp.zeros(shape), data)
        return (data["jacobian"] @ y.reshape(-1)).reshape(shape) + forcing

    return replace(ode, rate=rate, data=ode.data | {"jacobian": jnp.asarray(jacobian)})
