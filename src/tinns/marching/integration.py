"""ẏ = rate(t, y) by diffrax: many steps inside one compiled call, then a look."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.compilation import compiled
from tinns.errors import UserError
from tinns.marching.conditions import METHOD
from tinns.marching.semidiscrete import Data, Rate, Semidiscrete
from tinns.separation import EXPLICIT, IMPLICIT, Separation

BLOCK = 256  # steps tried in one compiled call
LEAST_STEPS = 24  # over the whole interval, so that the path can be told from its steps
STIFF = 3000.0  # times 1/duration: eigenvalues beyond ask for an implicit solver
BEYOND = 1e8  # times the size of the start: no solution any more
ROUND_OFF = 1e-8


@dataclass(frozen=True)
class Marched:
    """The accepted steps: times, states of shape (steps + 1, order, rank), and what they cost."""

    times: np.ndarray
    states: np.ndarray
    seconds: np.ndarray  # spent when each step was known
    compile_seconds: float
    solver: str
    reason: str | None  # why it ended before the end, if it did


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
    """Look at the Jacobian, and march by it alone where the ODE is affine with a constant one."""
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
            f"{METHOD}: the equation's derivative in time is no number at the start; check the "
            "equation where the initial value is steep or zero"
        )
    ode = _matrix_alone(ode, jacobian) if affine else ode
    return Prepared(ode, np.linalg.eigvals(jacobian), time.perf_counter() - before)


def integrate(
    prepared: Prepared,
    interval: tuple[float, float],
    settings: Separation,
    stop: Callable[[float, int, float], str | None],
) -> Marched:
    """Steps from one end of the interval to the other, or until `stop(t, steps, seconds)`.

    A step that cannot be taken ends it with the reason "broke down".
    """
    before = time.perf_counter()
    duration = interval[1] - interval[0]
    ode, solver = prepared.ode, settings.solver
    if solver == "auto":
        stiff = np.abs(prepared.eigenvalues).max() * duration > STIFF
        solver = IMPLICIT[-1] if stiff else EXPLICIT[0]
    start, end = jnp.asarray(interval[0]), jnp.asarray(interval[1])
    first = jnp.asarray(duration * 1e-6)
    state = jnp.asarray(ode.start)
    block = _block(ode.rate, solver, settings, duration)
    advance = compiled(block, start, end, state, first, ode.data)
    compile_seconds = prepared.seconds + time.perf_counter() - before

    times, states, seconds = [np.asarray([interval[0]])], [ode.start[None]], [np.zeros(1)]
    now, step, spent, count, reason = start, first, 0.0, 0, None
    while reason is None and float(now) < interval[1]:
        before = time.perf_counter()
        ts, ys, taken, sound = jax.block_until_ready(advance(now, end, state, step, ode.data))
        elapsed = time.perf_counter() - before
        number = int(taken)
        new_times, new_states = np.asarray(ts)[:number], np.asarray(ys)[:number]
        lost = number == 0 or not np.abs(new_states).max() <= BEYOND * (1 + np.abs(ode.start).max())
        if lost or not bool(sound):
            reason = "broke down"
            break
        times.append(new_times)
        states.append(new_states)
        seconds.append(spent + elapsed * np.arange(1, number + 1) / number)
        spent, count = spent + elapsed, count + number
        step = jnp.asarray(new_times[-1] - (new_times[-2] if number > 1 else float(now)))
        now, state = jnp.asarray(new_times[-1]), jnp.asarray(new_states[-1])
        reason = stop(float(now), count, spent) if float(now) < interval[1] else None
    return Marched(
        np.concatenate(times),
        np.concatenate(states),
        np.concatenate(seconds),
        compile_seconds,
        solver,
        reason,
    )


def _block(rate: Rate, solver: str, settings: Separation, duration: float) -> Callable:
    """(t, end, y, first step, data) -> times, states, how many, and whether all went well."""
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

    def advance(start: Array, end: Array, state: Array, step: Array, data: Data) -> tuple:
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
    """The same ODE, affine in y, by its matrix: far smaller than the tables at all points."""
    shape = ode.start.shape

    def rate(t: Array, y: Array, data: Data) -> Array:
        forcing = ode.rate(t, jnp.zeros(shape), data)
        return (data["jacobian"] @ y.reshape(-1)).reshape(shape) + forcing

    return replace(ode, rate=rate, data=ode.data | {"jacobian": jnp.asarray(jacobian)})
