"""The one training loop: an optimiser's step, many times inside one compiled call, then a look.

Inside the compiled call: step, validation, redrawing of points. Outside, at look-ups about twice a
second: progress, measured error, reasons to stop. The loop returns data and never draws.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.errors import UserError
from tinns.least_squares import rows
from tinns.recipe import Recipe
from tinns.residuals import Psi, System
from tinns.sampling import Points
from tinns.training.history import History
from tinns.training.progress import Silent, Snapshot, Watcher
from tinns.training.redrawing import drawn
from tinns.training.stopping import Interruption, stop_reason

CAPACITY = 512  # most iterations in one compiled call
LOOK_UP_SECONDS = 0.5


class Carry(NamedTuple):
    """All that one iteration hands to the next."""

    psi: Psi
    state: Any
    points: tuple[Points, ...]
    key: Array
    redraws: Array
    best: Psi  # the ψ of lowest validation loss so far
    best_validation_loss: Array
    best_iteration: Array  # how many steps had been taken to it


@dataclass(frozen=True)
class Trained:
    """The outcome of a run."""

    psi: Psi
    loss: float
    validation_loss: float
    iterations: int
    seconds: float
    compile_seconds: float
    stop_reason: str
    kept_iteration: int  # the iteration whose ψ this is
    history: History


def train(
    system: System,
    recipe: Recipe,
    seed: int,
    measure: Callable[[Psi], float] | None = None,
    watcher: Watcher | None = None,
) -> Trained:
    """Minimise the rows of `system` as `recipe` says; the same seed gives the same numbers.

    `measure` states an error of ψ at look-ups; its time is not counted as training.
    """
    watcher = watcher or Silent()
    start_key, point_key, validation_key, run_key = jax.random.split(jax.random.key(seed), 4)
    psi = system.init(start_key)
    points = system.draw(point_key, recipe.points, recipe.sampler)
    validation = system.draw(validation_key, recipe.validation, recipe.sampler)
    unknown = jnp.asarray(jnp.inf)
    state = recipe.optimizer.init(psi)
    carry = Carry(psi, state, points, run_key, jnp.asarray(0), psi, unknown, jnp.asarray(0))

    watcher.says("compiling the training step (once per kind of run)")
    before = time.perf_counter()
    many = jax.jit(_iterations(system, recipe)).lower(carry, validation, 0, 0).compile()
    compile_seconds = time.perf_counter() - before

    watcher.says("first iterations")
    history, seconds, count = History(), 0.0, 1
    with Interruption() as interruption:
        while True:
            before = time.perf_counter()
            carry, entries = jax.block_until_ready(many(carry, validation, len(history), count))
            elapsed = time.perf_counter() - before
            done = len(history) + count
            table = {name: np.asarray(column)[:count] for name, column in entries.items()}
            table["iteration"] = np.arange(len(history), done) + 1.0
            table["seconds"] = seconds + elapsed * np.arange(1, count + 1) / count
            seconds += elapsed

            error = float(measure(carry.psi)) if measure else None
            table["relative_l2"] = np.full(count, np.nan)
            if error is not None:
                table["relative_l2"][-1] = error
            history.extend(table)
            if not np.isfinite(history["loss"][0]):
                raise _no_number(system, recipe, psi, points)

            loss, validation_loss = table["loss"][-1], table["validation_loss"][-1]
            damping = float(table["damping"][-1]) if "damping" in table else None
            watcher.sees(Snapshot(done, seconds, loss, validation_loss, damping, error))
            reason = stop_reason(recipe.stop, history, loss, interruption.asked)
            if reason:
                break
            count = _next_count(recipe, elapsed / count, done, seconds)

    psi, kept, loss, validation_loss = _chosen(system, recipe, carry, validation)
    return Trained(
        psi,
        loss,
        validation_loss,
        len(history),
        seconds,
        compile_seconds,
        reason,
        kept if kept is not None else len(history),
        history,
    )


def _iterations(system: System, recipe: Recipe) -> Callable[..., Any]:
    """The function that is compiled: `count` iterations from a carry, with their reports."""
    optimizer, blocks = recipe.optimizer, system.blocks

    def loss_at(psi: Psi, points: tuple[Points, ...]) -> Array:
        return jnp.sum(rows.losses(blocks, psi, points, recipe.chunk))

    def iterate(
        carry: Carry, validation: tuple[Points, ...], number: Array
    ) -> tuple[Carry, dict[str, Array]]:
        validation_loss = loss_at(carry.psi, validation)
        psi, state, report = optimizer.step(
            blocks, carry.psi, carry.points, carry.state, recipe.chunk
        )
        split = report.pop("losses")
        report |= {f"loss_{name}": split[n] for n, name in enumerate(system.row_names)}
        report |= {"validation_loss": validation_loss, "redraws": carry.redraws}
        better = validation_loss < carry.best_validation_loss
        carry = carry._replace(
            psi=psi,
            state=state,
            best=jax.tree.map(lambda new, old: jnp.where(better, new, old), carry.psi, carry.best),
            best_validation_loss=jnp.where(better, validation_loss, carry.best_validation_loss),
            best_iteration=jnp.where(better, number, carry.best_iteration),
        )
        if recipe.redraw is not None:
            overfitted = validation_loss > recipe.redraw.ratio * report["loss"]
            carry = jax.lax.cond(overfitted, redrawn, lambda c: c, carry)
        return carry, report

    def redrawn(carry: Carry) -> Carry:
        key, draw_key = jax.random.split(carry.key)
        points = drawn(system, recipe, draw_key, carry.psi)
        state = optimizer.init(carry.psi) if optimizer.restarts_on_redraw else carry.state
        return carry._replace(state=state, points=points, key=key, redraws=carry.redraws + 1)

    def many(
        carry: Carry, validation: tuple[Points, ...], done: Array, count: Array
    ) -> tuple[Carry, dict[str, Array]]:
        shapes = jax.eval_shape(iterate, carry, validation, done)[1]
        columns = {name: jnp.zeros(CAPACITY, s.dtype) for name, s in shapes.items()}

        def body(number: Array, value: tuple[Carry, dict[str, Array]]):
            inner, table = value
            inner, report = iterate(inner, validation, done + number)
            return inner, {name: table[name].at[number].set(report[name]) for name in table}

        return jax.lax.fori_loop(0, count, body, (carry, columns))

    return many


def _chosen(
    system: System, recipe: Recipe, carry: Carry, validation: tuple[Points, ...]
) -> tuple[Psi, int | None, float, float]:
    """The resulting ψ with its iteration (None: the last) and its losses.

    It is the last one, or the best if that is asked for or the last is no number.
    """

    @jax.jit
    def both(psi: Psi) -> tuple[Array, Array]:
        training = rows.losses(system.blocks, psi, carry.points, recipe.chunk)
        return jnp.sum(training), jnp.sum(rows.losses(system.blocks, psi, validation, recipe.chunk))

    loss, validation_loss = map(float, both(carry.psi))
    last_is_worse = not validation_loss <= float(carry.best_validation_loss)
    if (recipe.keep == "best" and last_is_worse) or not np.isfinite(validation_loss):
        loss, validation_loss = map(float, both(carry.best))
        return carry.best, int(carry.best_iteration), loss, validation_loss
    return carry.psi, None, loss, validation_loss


def _no_number(system: System, recipe: Recipe, psi: Psi, points: tuple[Points, ...]) -> UserError:
    """The error for a problem whose residual is not a number before anything was trained."""
    for block, data in zip(system.blocks, points, strict=True):
        (values,) = rows.residuals([block], psi, [data], recipe.chunk)
        bad = np.argwhere(~np.isfinite(np.asarray(values)))
        if len(bad):
            datum, kind = bad[0]
            axes = system.problem.domain.axes
            where = ", ".join(f"{axis} = {float(data[axis][datum]):g}" for axis in axes)
            return UserError(
                f"{system.problem.name}: '{block.row_names[kind]}' is "
                f"{float(values[datum, kind])} at {where}; check the equation and the given "
                "functions there"
            )
    return UserError(f"{system.problem.name}: the loss is not a number at the start")


def _next_count(recipe: Recipe, pace: float, done: int, seconds: float) -> int:
    """How many iterations until the next look-up, at `pace` seconds each."""
    count = min(CAPACITY, LOOK_UP_SECONDS / pace)
    if recipe.stop.iterations is not None:
        count = min(count, recipe.stop.iterations - done)
    if recipe.stop.seconds is not None:
        count = min(count, (recipe.stop.seconds - seconds) / pace)
    return max(1, int(count))
