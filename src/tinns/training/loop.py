"""The one training loop: an optimiser's step, many times inside one compiled call, then a look.

Inside the compiled call: step, validation. Outside, at look-ups about twice a second and whenever
the points have had their day: new points, progress, measured error, reasons to stop. The loop
returns data and never draws.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import numpy as np

from tinns.errors import UserError
from tinns.least_squares import rows
from tinns.least_squares.layout import Layout
from tinns.least_squares.rows import Block
from tinns.recipe import Recipe, Stop
from tinns.residuals import Psi, System, Window
from tinns.sampling import Points
from tinns.strategies import Redraw
from tinns.training.balancing import reweighted
from tinns.training.history import History
from tinns.training.informed_start import informed
from tinns.training.machine import Machine
from tinns.training.program import CAPACITY, Carry
from tinns.training.progress import Silent, Snapshot, Watcher
from tinns.training.redrawing import Ladder
from tinns.training.stopping import Interruption, stop_reason

LOOK_UP_SECONDS = 0.5


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
    blocks: tuple[Block, ...] = ()  # the rows that were minimised in the end, with their weights
    points: tuple[Points, ...] = ()  # and the data they were taken at
    windows: "tuple[Trained, ...]" = ()  # one for each time window, where there are any


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
    machine = Machine(system, recipe, watcher or Silent())
    return run(machine, jax.random.key(seed), recipe.stop, measure)


def run(
    machine: Machine,
    key: jax.Array,
    stop: Stop,
    measure: Callable[[Psi], float] | None = None,
    window: Window | None = None,
    psi: Psi | None = None,
) -> Trained:
    """One run of a machine, in a window if one is given, from the given ψ or from a random one."""
    recipe, watcher, compiled = machine.recipe, machine.watcher, machine.compile_seconds
    start_key, point_key, validation_key, run_key = jax.random.split(key, 4)
    ladder = Ladder.first(recipe.redraw or Redraw(), recipe.points, machine.devices[0].platform)
    psi = _start(machine, start_key) if psi is None else psi
    validation = machine.draw(validation_key, recipe.validation, recipe.sampler, window)
    points = machine.draw(point_key, ladder.counts(recipe.points), recipe.sampler, window)
    carry = machine.start(psi, points, validation, window, jax.random.fold_in(run_key, 0))

    watcher.says("first iterations")
    history, seconds, seen, count, redraws, pace = History(), 0.0, 0.0, 1, 0, 0.0
    with Interruption() as interruption:
        while True:
            share, share_per_step = _budget(stop, len(history), seconds, pace)
            carry, reports, taken, elapsed = machine.run(
                carry, len(history), count, share, share_per_step
            )
            pace = elapsed / taken
            done = len(history) + taken
            table = {name: np.asarray(column)[:taken] for name, column in reports.items()}
            table["iteration"] = np.arange(len(history), done) + 1.0
            table["seconds"] = seconds + elapsed * np.arange(1, taken + 1) / taken
            table["points"] = np.full(taken, 1.0 * machine.counts[0])
            table["redraws"] = np.full(taken, 1.0 * redraws)
            seconds += elapsed

            looked_up = seconds - seen >= LOOK_UP_SECONDS / 2 or taken == count
            error = float(measure(carry.psi)) if measure and looked_up else None
            table["relative_l2"] = np.full(taken, np.nan)
            if error is not None:
                table["relative_l2"][-1] = error
            history.extend(table)
            if not np.isfinite(history["loss"][0]):
                raise _no_number(machine.system, psi, points)

            loss, validation_loss = table["loss"][-1], table["validation_loss"][-1]
            if looked_up:
                seen = seconds
                damping = float(table["damping"][-1]) if "damping" in table else None
                watcher.sees(Snapshot(done, seconds, loss, validation_loss, damping, error))
            reason = stop_reason(stop, history, loss, interruption.asked)
            if reason:
                break
            if carry.overfitted:
                ladder, redraws = ladder.after_overfitting(done), redraws + 1
                run_key, draw_key = jax.random.split(run_key)
                carry, spent = machine.redraw(carry, ladder, draw_key)
                seconds += spent
            count = _next_count(stop, pace, done, seconds)

    watcher.says("choosing the result")
    psi, kept, loss, validation_loss = machine.chosen(carry)
    return Trained(
        psi,
        loss,
        validation_loss,
        len(history),
        seconds,
        machine.compile_seconds - compiled,
        reason,
        kept if kept is not None else len(history),
        history,
        _minimised(machine, carry),
        machine.points,
    )


def _start(machine: Machine, key: jax.Array) -> Psi:
    psi = machine.init(key)
    return informed(machine.system, psi) if machine.recipe.informed else psi


def _minimised(machine: Machine, carry: Carry) -> tuple[Block, ...]:
    """The rows as they were weighted in the end."""
    blocks = machine.system.blocks
    return tuple(reweighted(blocks, carry.factors)) if machine.recipe.balance else blocks


def _no_number(system: System, psi: Psi, points: tuple[Points, ...]) -> UserError:
    """The error for a problem whose residual is not a number before anything was trained."""
    for block, data in zip(system.blocks, points, strict=True):
        (values,) = rows.residuals([block], psi, [data], Layout())
        bad = np.argwhere(~np.isfinite(np.asarray(values)))
        if len(bad):
            datum, kind = bad[0]
            axes, points_of = system.problem.domain.axes, block.points(data)
            where = ", ".join(f"{axis} = {float(points_of[axis][datum]):g}" for axis in axes)
            return UserError(
                f"{system.problem.name}: '{block.row_names[kind]}' is "
                f"{float(values[datum, kind])} at {where}; check the equation and the given "
                "functions there"
            )
    return UserError(f"{system.problem.name}: the loss is not a number at the start")


def _budget(stop: Stop, done: int, seconds: float, pace: float) -> tuple[float, float]:
    """The share of the budget that is spent, and what an iteration at `pace` seconds will spend."""
    shares = [(0.0, 0.0)]
    if stop.iterations is not None:
        shares.append((done / stop.iterations, 1 / stop.iterations))
    if stop.seconds is not None:
        shares.append((seconds / stop.seconds, pace / stop.seconds))
    return min(1.0, max(spent for spent, _ in shares)), max(each for _, each in shares)


def _next_count(stop: Stop, pace: float, done: int, seconds: float) -> int:
    """How many iterations until the next look-up, at `pace` seconds each."""
    count = min(CAPACITY, LOOK_UP_SECONDS / pace)
    if stop.iterations is not None:
        count = min(count, stop.iterations - done)
    if stop.seconds is not None:
        count = min(count, (stop.seconds - seconds) / pace)
    return max(1, int(count))
