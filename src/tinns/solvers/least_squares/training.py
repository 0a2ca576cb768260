"""Training as a run: look-ups between calls of the compiled program.

Inside the compiled call: step, validation. Outside, at look-ups about twice a second and whenever
the points must be redrawn: new points, progress, measured error. The run returns data and draws
nothing.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Observations
from tinns.nn import Advancing
from tinns.objective import Psi, Window, assemble
from tinns.objective.sum_of_squares import reweighted
from tinns.optim.optimizer import DAMPING
from tinns.solvers.checkpoint import Arrays, unpack
from tinns.solvers.history import ERROR, ITERATION, LOSS, SECONDS, VALIDATION_LOSS, History
from tinns.solvers.least_squares.diagnosis import faulty_row, not_finite
from tinns.solvers.least_squares.initial_layer import fit_initial_layer
from tinns.solvers.least_squares.program import CAPACITY
from tinns.solvers.least_squares.redraw import NEVER
from tinns.solvers.least_squares.renewal import Renewal
from tinns.solvers.least_squares.runner import Runner, call_arguments
from tinns.solvers.least_squares.settings import LeastSquares
from tinns.solvers.least_squares.state import RunState
from tinns.solvers.progress import Reporter, Snapshot
from tinns.solvers.solver import Stage, Task, Trained
from tinns.solvers.stopping import Stop, StopReason, stop_reason

LOOK_UP_SECONDS = 0.5
RENEWALS = 1 << 20  # folded into a key: renewals have keys of their own
MINIMA = (StopReason.CONVERGED, StopReason.PRECISION_FLOOR)
POINTS, REDRAWS = "points", "redraws"  # columns of the history


class Training:
    """A run of `LeastSquares`; its state is a `RunState`."""

    def __init__(self, settings: LeastSquares, task: Task, in_windows: bool = False) -> None:
        settings.check(task.hard, in_windows)
        if getattr(task.field, "frozen", False):
            raise UserError(
                f"recipe: {type(task.field).__name__}(...) has no parameters to train; give the "
                "recipe solver=FrozenFeatures(...), or another field"
            )
        self.settings, self.task = settings, task
        self.rule = settings.redraw or NEVER
        self.renewal = settings.renewal and settings.renewal.fitting(settings)
        given = task.problem, task.field, task.weights, task.hard, settings.sampler, in_windows
        self.system = self.result_system = assemble(*given, task.scales)
        if task.scales is not None and self.system.units:
            self.result_system = assemble(*given, task.scales.of_rows_and_unknowns())
        self.reporter = task.reporter
        self.runner = Runner(self.system, settings, task.reporter)
        self._observed = self._observations_by_window(in_windows)

    def report_to(self, reporter: Reporter) -> None:
        self.reporter = self.runner.reporter = reporter

    def start(self, stage: Stage | None = None) -> RunState:
        state = self._initial(stage)
        self.runner.prepare(state)
        self.reporter.status("first iterations")
        return state

    def restore(self, arrays: Arrays, stage: Stage | None = None, prefix: str = "") -> RunState:
        return self.runner.placed(unpack(arrays, self._initial(stage), prefix))

    def _initial(self, stage: Stage | None) -> RunState:
        """The first state, before anything is compiled for it."""
        settings, runner = self.settings, self.runner
        key = jax.random.key(self.task.seed)
        key = key if stage is None else jax.random.fold_in(key, stage.number)
        start_key, point_key, validation_key, run_key = jax.random.split(key, 4)
        window = None if stage is None else self._window(stage, key)
        if stage is not None and stage.trained is not None:
            psi = self._advanced(_on_host(stage.trained.psi))
        else:
            psi = runner.init(start_key)
            psi = fit_initial_layer(self.system, psi) if settings.fit_initial_layer else psi
        rung = self.rule.first_rung(settings.points, runner.platform)
        counts = self.rule.counts(settings.points, rung)
        points = runner.draw(point_key, counts, settings.sampler, window)
        self._require_points(points, "points")
        validation = runner.draw(validation_key, settings.validation, settings.sampler, window)
        self._require_points(validation, "validation")
        validation = runner.distributed(validation)
        if self.renewal is not None:
            validation, _, _ = runner.renew(self.renewal, validation_key, psi, psi, window)
        return RunState(
            runner.first_loop_state(psi),
            runner.distributed(points),
            validation,
            window,
            redraw_key=run_key,
            batch_key=jax.random.fold_in(run_key, 0),
            rung=rung,
            since=0,
            redraws=0,
            seconds=0.0,
            shown=0.0,
            pace=0.0,
            history=History(),
        )

    def advance(self, state: RunState, stop: Stop) -> RunState:
        runner, done = self.runner, state.iterations
        if done and bool(state.loop.overfitted):
            state = self._redrawn(state)
        renewal = self.renewal
        if renewal is not None and done and done % renewal.every == 0:
            state = self._renewed(state, renewal)
        count = _next_count(stop, state)
        if renewal is not None:
            count = min(count, renewal.every - done % renewal.every)
        call = call_arguments(done, count, _budget(stop, state), state.batch_key)
        points = state.points
        state, reports, taken, elapsed = runner.steps(state, call)
        table = {name: np.asarray(column, float)[:taken] for name, column in reports.items()}
        table[ITERATION] = np.arange(done, done + taken) + 1.0
        table[SECONDS] = state.seconds + elapsed * np.arange(1, taken + 1) / taken
        table[POINTS] = np.full(taken, 1.0 * runner.counts(points)[0])
        table[REDRAWS] = np.full(taken, 1.0 * state.redraws)
        state = replace(state, seconds=state.seconds + elapsed, pace=elapsed / taken)
        looks_up = state.seconds - state.shown >= LOOK_UP_SECONDS / 2 or taken == count
        table[ERROR] = np.full(taken, np.nan)
        if looks_up:
            table[ERROR][-1] = self._measured(state)
        state = replace(state, history=state.history.extended(table))
        if not np.isfinite(state.history[LOSS][0]):
            raise not_finite(self.system, state, points)
        if looks_up:
            self.reporter.update(_snapshot(state))
            state = replace(state, shown=state.seconds)
        return state

    def reason(self, state: RunState, stop: Stop, interrupted: bool = False) -> StopReason | None:
        reason = stop_reason(stop, state.history, interrupted)
        # A minimum on the present points is no reason to stop where validation calls for others.
        if reason in MINIMA and self.renewal and bool(state.loop.overfitted):
            return None
        return reason

    def finish(self, state: RunState, reason: StopReason) -> Trained:
        self.reporter.status("choosing the result")
        detail = faulty_row(self.system, state) if reason.is_failure else ""
        psi, kept, loss, validation_loss = self.runner.chosen(state)
        system, blocks = self.result_system, self.result_system.blocks
        return Trained(
            self.system.plain(psi),
            system.field,
            self.task.problem.domain,
            loss,
            validation_loss,
            state.iterations,
            state.seconds,
            self.runner.compile_seconds,
            reason,
            detail,
            kept if kept is not None else state.iterations,
            state.history,
            self._counters,
            system,
            reweighted(blocks, state.loop.factors) if self.settings.balance else blocks,
            state.points,
        )

    @property
    def _counters(self) -> tuple[str, ...]:
        return (*self.settings.optimizer.counters, REDRAWS)

    def outline(self, stage: Stage | None = None) -> Trained:
        return Trained(
            jax.eval_shape(self.system.init, jax.random.key(0)),
            self.system.field,
            self.task.problem.domain,
            0.0,
            0.0,
            0,
            0.0,
            0.0,
            StopReason.ITERATIONS,
            "",
            0,
            History(),
            self._counters,
            self.result_system,
        )

    def _redrawn(self, state: RunState) -> RunState:
        done = state.iterations
        rung = self.rule.next_rung(state.rung, done - state.since)
        next_key, key = jax.random.split(state.redraw_key)
        state, spent = self.runner.redraw(state, self.rule, rung, key)
        return replace(
            state,
            redraw_key=next_key,
            rung=rung,
            since=done,
            redraws=state.redraws + 1,
            seconds=state.seconds + spent,
        )

    def _renewed(self, state: RunState, renewal: Renewal) -> RunState:
        """The state with new validation points, by which its best ψ is judged too."""
        loop = state.loop
        own_key = jax.random.fold_in(state.batch_key, RENEWALS)
        key = jax.random.fold_in(own_key, state.iterations)
        points, loss, spent = self.runner.renew(renewal, key, loop.psi, loop.best, state.window)
        is_known = jnp.isfinite(loop.best_validation_loss)
        best = jnp.where(is_known, loss, loop.best_validation_loss)
        return replace(
            state,
            loop=loop._replace(best_validation_loss=best),
            validation=points,
            seconds=state.seconds + spent,
        )

    def _measured(self, state: RunState) -> float:
        if self.task.measure is None:
            return np.nan
        domain, window = self.task.problem.domain, state.window
        start, end = domain.start, domain.end
        if window is not None:
            start, end = float(window.start), float(window.start + window.length)
        return self.task.measure(self.system.field, state.loop.psi, start, end)

    def _window(self, stage: Stage, key: jax.Array) -> Window:
        before, span = stage.before or stage, stage.trained
        psi = self.runner.init(key) if span is None else span.psi
        return Window(
            jnp.asarray(stage.start, float),
            jnp.asarray(stage.end - stage.start, float),
            jnp.asarray(stage.number == 0),
            _on_host(psi),
            jnp.asarray(before.start, float),
            jnp.asarray(before.end - before.start, float),
            self._observations(stage),
        )

    def _advanced(self, psi: Psi) -> Psi:
        """The parameters from which the next window starts."""
        field = self.system.field
        if not isinstance(field, Advancing):
            return psi
        return psi | {"field": field.advanced(psi["field"], self.system.domain)}

    def _require_points(self, points: tuple[Batch, ...], setting: str) -> None:
        """Refuse a setting that gives some condition no points."""
        for block, count in zip(self.system.blocks, self.runner.counts(points), strict=True):
            if count == 0:
                raise UserError(
                    f"recipe: {setting}={getattr(self.settings, setting)!r} gives "
                    f"'{block.row_names[0]}' no points; expected at least 1"
                )

    def _observations_by_window(self, in_windows: bool) -> list[Observations | None]:
        regions = self.system.regions
        return [r if in_windows and isinstance(r, Observations) else None for r in regions]

    def _observations(self, stage: Stage) -> tuple[Batch | None, ...]:
        """The observations inside a window, all windows filled up to one count."""
        found: list[Batch | None] = []
        for region in self._observed:
            if region is None:
                found.append(None)
                continue
            whole = region.draw(
                jax.random.key(0), self.system.domain, self.settings.points, self.settings.sampler
            )
            inside = region.between(stage.start, stage.end, stage.is_last)
            count = whole.count
            if len(inside):
                found.append(whole.take(jnp.asarray(inside)).padded(count))
            else:  # nothing was observed in this window
                found.append(replace(whole, weight=jnp.zeros(count)))
        return tuple(found)


def _on_host(psi: Psi) -> Psi:
    """ψ free to move to whichever device a program needs it on."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)), psi)


def _snapshot(state: RunState) -> Snapshot:
    last = {name: float(column[-1]) for name, column in state.history.columns.items()}
    error = last[ERROR]
    return Snapshot(
        state.iterations,
        state.seconds,
        last[LOSS],
        last[VALIDATION_LOSS],
        last.get(DAMPING),
        None if np.isnan(error) else error,
    )


def _budget(stop: Stop, state: RunState) -> tuple[float, int, float]:
    """The share of the budget spent at an iteration, that iteration, and the share of a step.

    With a number of iterations as the limit the share depends on the iteration alone, not on when
    the program was called.
    """
    shares = [(0.0, 0, 0.0)]
    if stop.iterations is not None:
        shares.append((0.0, 0, 1 / stop.iterations))
    if stop.seconds is not None:
        spent = min(1.0, state.seconds / stop.seconds)
        shares.append((spent, state.iterations, state.pace / stop.seconds))

    def now(share: tuple[float, int, float]) -> float:
        spent, since, per_step = share
        return spent + (state.iterations - since) * per_step

    return max(shares, key=now) if len(shares) > 2 else shares[-1]


def _next_count(stop: Stop, state: RunState) -> int:
    """How many iterations until the next look-up, at the present pace."""
    if state.pace == 0.0:
        return 1
    count = min(CAPACITY, LOOK_UP_SECONDS / state.pace)
    if stop.iterations is not None:
        count = min(count, stop.iterations - state.iterations)
    if stop.seconds is not None:
        count = min(count, (stop.seconds - state.seconds) / state.pace)
    return max(1, int(count))
