"""Space-time separation as a run: steps in time, then the path of the features' coefficients."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Batch, Coordinates, Domain
from tinns.nn import Field, RandomFeatures
from tinns.nn.windowed import in_window
from tinns.objective import Objective, Psi, System, Window, assemble
from tinns.solvers.checkpoint import Arrays, unpack
from tinns.solvers.frozen_features.collocation import Collocation, collocation, draw_hidden
from tinns.solvers.frozen_features.integration import Integrator, MarchState, Prepared, prepare
from tinns.solvers.frozen_features.options import SIMULATED_TIME, STEP_SIZE, FrozenFeatures
from tinns.solvers.frozen_features.panels import fit_panels
from tinns.solvers.frozen_features.semidiscrete import semidiscrete
from tinns.solvers.frozen_features.sorting import METHOD, Posed, sorted_conditions
from tinns.solvers.history import ERROR, ITERATION, LOSS, SECONDS, VALIDATION_LOSS, History
from tinns.solvers.progress import Reporter, Snapshot
from tinns.solvers.solver import Stage, Task, Trained
from tinns.solvers.stopping import Stop, StopReason

POINTS_PER_FEATURE = 3
DRAWS = 4  # of features, at most
STEADY = 5.0  # e-foldings of a disturbance over the time interval that need no other draw

Hidden = dict[str, jax.Array]  # the features' weights and biases


@dataclass(frozen=True)
class _Interval:
    """What is fixed over one interval of time: the features, and the ODE of their coefficients."""

    domain: Domain
    hidden: Hidden
    integrator: Integrator
    stage: Stage | None


class March:
    """A run of `FrozenFeatures`; its state is a `MarchState`."""

    def __init__(self, settings: FrozenFeatures, task: Task, in_windows: bool = False) -> None:
        if not isinstance(task.field, RandomFeatures):
            raise UserError(
                f"recipe: field={type(task.field).__name__} with solver=FrozenFeatures(...); "
                "expected field=RandomFeatures(...), or leave the solver out"
            )
        if task.hard:
            raise UserError(
                f"{METHOD} cannot build conditions in: leave out hard={', '.join(task.hard)}"
            )
        if task.precision != "float64":
            raise UserError(f"{METHOD} needs precision float64, not {task.precision}")
        self.settings, self.task, self.field = settings, task, task.field
        self.in_windows, self.reporter = in_windows, task.reporter
        self.posed = sorted_conditions(task.problem)
        keys = jax.random.split(jax.random.key(task.seed), 4)
        self.place_key, self.face_key, self.train_key, self.validation_key = keys
        self._interval: _Interval | None = None

    def start(self, stage: Stage | None = None) -> MarchState:
        self._interval = self._prepared(stage)
        return self._interval.integrator.start()

    def restore(self, arrays: Arrays, stage: Stage | None = None, prefix: str = "") -> MarchState:
        return unpack(arrays, self.start(stage), prefix)

    def advance(self, state: MarchState, stop: Stop) -> MarchState:
        now = self._now()
        advanced = now.integrator.advance(state)
        if advanced is None:
            raise UserError(
                f"{METHOD}: {now.integrator.solver} broke down at t = {state.times[-1]:g} of "
                f"{now.domain.end:g} on {self.task.problem.name}; give FrozenFeatures a larger "
                f"cutoff than {self.settings.cutoff:g} or more points, or try another seed or width"
            )
        self.reporter.status(
            f"t = {advanced.times[-1]:.4g} of {now.domain.end:g}  step {advanced.steps}  "
            f"{advanced.seconds[-1]:.0f} s"
        )
        return advanced

    def reason(self, state: MarchState, stop: Stop, interrupted: bool = False) -> StopReason | None:
        if stop.iterations is not None and state.steps > stop.iterations:
            return StopReason.ITERATIONS
        if state.times[-1] >= self._now().domain.end:
            return StopReason.REACHED_END
        if interrupted:
            return StopReason.INTERRUPTED
        if stop.iterations is not None and state.steps >= stop.iterations:
            return StopReason.ITERATIONS
        if stop.seconds is not None and state.seconds[-1] >= stop.seconds:
            return StopReason.SECONDS
        return None

    def finish(self, state: MarchState, reason: StopReason) -> Trained:
        now = self._now()
        most = self.task.stop.iterations
        if reason is StopReason.ITERATIONS and most is not None and not self.in_windows:
            state = state.first(most)
        if reason is not StopReason.REACHED_END:
            self.reporter.notice(
                f"{reason} at t = {state.times[-1]:g} of {now.domain.end:g}: later values are "
                "those of that time"
            )
        self.reporter.status("fitting the path")
        field, psi = self._path(now, state, reason)
        system = assemble(self.task.problem, field, self.task.weights, in_windows=self.in_windows)
        window = None if now.stage is None else self._window(now.stage, psi)
        loss, validation_loss = self._losses(system, psi, window)
        error = None
        if self.task.measure is not None:
            error = self.task.measure(field, psi, now.domain.start, now.domain.end)
        seconds = float(state.seconds[-1])
        self.reporter.update(Snapshot(state.steps, seconds, loss, validation_loss, None, error))
        return Trained(
            psi,
            field,
            self.task.problem.domain,
            loss,
            validation_loss,
            state.steps,
            seconds,
            now.integrator.compile_seconds,
            reason,
            "",
            state.steps,
            _history(state, loss, validation_loss, error),
            system=system,
        )

    def outline(self, stage: Stage | None = None) -> Trained:
        start, end = self._times(stage)
        psi = {"field": self.field.init(jax.random.key(0), self.task.problem.domain, 1)}
        return Trained(
            psi | {"coefficients": {}},
            self.field,
            self.task.problem.domain.over(start, end),
            0.0,
            0.0,
            0,
            0.0,
            0.0,
            StopReason.REACHED_END,
            "",
            0,
            History(),
        )

    def report_to(self, reporter: Reporter) -> None:
        self.reporter = reporter

    def _now(self) -> _Interval:
        if self._interval is None:
            raise RuntimeError("a march must be started or restored before it is advanced")
        return self._interval

    def _times(self, stage: Stage | None) -> tuple[float, float]:
        domain = self.task.problem.domain
        return (domain.start, domain.end) if stage is None else (stage.start, stage.end)

    def _prepared(self, stage: Stage | None) -> _Interval:
        """Features drawn where the start of the interval varies, and the ODE on them."""
        settings, field = self.settings, self.field
        domain = self.task.problem.domain.over(*self._times(stage))
        posed = dataclasses.replace(self.posed, problem=self.task.problem.with_domain(domain))
        self.reporter.status("drawing features")
        count = settings.points or POINTS_PER_FEATURE * field.width
        if count <= field.width:
            raise UserError(
                f"{METHOD}: points={count} are too few for {field.width} features; give several "
                "times as many, or None"
            )
        targets = self._targets(posed, stage)
        places = collocation(settings, count, domain, targets, self.place_key)
        hidden, prepared = self._steadiest(posed, places)
        self.reporter.status("compiling the steps in time")
        interval = (domain.start, domain.end)
        return _Interval(domain, hidden, Integrator(prepared, interval, settings), stage)

    def _steadiest(self, posed: Posed, places: Collocation) -> tuple[Hidden, Prepared]:
        """Features whose ODE does not grow, or of several draws those whose ODE grows least.

        Occasionally a draw has a growing mode that the equation does not have.
        """
        domain, settings, field = posed.problem.domain, self.settings, self.field
        interval = domain.interval(TIME)
        best = None
        for draw in range(DRAWS):
            weights, biases = draw_hidden(field, domain, places, (self.task.seed, draw))
            hidden = {"weights": jnp.asarray(weights), "biases": jnp.asarray(biases)}
            hidden["edges"] = jnp.asarray(interval)
            ode = semidiscrete(posed, field, settings, hidden, places, self.face_key)
            prepared = prepare(ode, interval)
            if best is None or prepared.growth < best[1].growth:
                best = hidden, prepared
            if prepared.growth * (interval[1] - interval[0]) <= STEADY:
                break
        assert best is not None
        return best

    def _targets(self, posed: Posed, stage: Stage | None) -> Callable[[Coordinates], jax.Array]:
        """The values, then the velocities, at the start of the interval, at one point."""
        if stage is None or stage.trained is None or stage.before is None:
            parts = [posed.initial(bool(n)) for n in range(posed.order)]
            return lambda point: jnp.concatenate([part(point) for part in parts])
        before, trained = stage.before, stage.trained
        field: Field = in_window(trained.field, before.start, before.end - before.start)
        domain, outputs = self.task.problem.domain, len(self.task.problem.unknowns)
        wanted = [(*(0,) * len(domain.space), n) for n in range(posed.order)]

        def at_end(point: Coordinates) -> jax.Array:
            there = point | {TIME: jnp.asarray(stage.start, float)}
            values = field.derivatives(trained.psi["field"], domain, outputs, there, wanted)
            return jnp.concatenate([values[k] for k in wanted])

        return at_end

    def _path(
        self, now: _Interval, state: MarchState, reason: StopReason
    ) -> tuple[RandomFeatures, Psi]:
        """ψ from the accepted steps; after the last one the coefficients stay constant."""
        settings, end = self.settings, now.domain.end
        states = state.states[:, 0]
        tolerance = settings.atol + settings.rtol * float(np.abs(states).max())
        rates = state.states[:, 1] if state.states.shape[1] > 1 else None
        edges, path = fit_panels(state.times, states, tolerance, rates)
        if reason is not StopReason.REACHED_END:
            rest = np.zeros_like(path[:, :1])
            rest[0, 0] = states[-1]
            edges, path = np.append(edges, end), np.concatenate([path, rest], axis=1)
        if now.stage is not None:  # a window's own time runs from 0 to 1
            edges = (edges - now.domain.start) / (end - now.domain.start)
        coefficients = np.einsum("wor,dpr->dpwo", now.integrator.ode.coefficients, path)
        psi = now.hidden | {"edges": jnp.asarray(edges), "path": jnp.asarray(coefficients)}
        field = dataclasses.replace(self.field, panels=len(edges) - 1)
        return field, {"field": psi, "coefficients": {}}

    def _window(self, stage: Stage, psi: Psi) -> Window:
        before = stage.before or stage
        return Window(
            jnp.asarray(stage.start),
            jnp.asarray(stage.end - stage.start),
            jnp.asarray(stage.trained is None),
            psi if stage.trained is None else stage.trained.psi,
            jnp.asarray(before.start),
            jnp.asarray(before.end - before.start),
            (None,) * len(self.task.problem.all_conditions()),
        )

    def _losses(self, system: System, psi: Psi, window: Window | None) -> list[float]:
        """The sums of all mean squares, as training has them, on training and validation points."""
        task = self.task

        @jax.jit
        def loss(psi: Psi, points: tuple[Batch, ...]) -> jax.Array:
            return jnp.sum(Objective(system.blocks, points).losses(psi))

        draw = jax.jit(system.draw, static_argnums=(1, 2))
        drawn = ((self.train_key, task.points), (self.validation_key, task.validation))
        return [float(loss(psi, draw(key, counts, task.sampler, window))) for key, counts in drawn]


def _history(
    state: MarchState, loss: float, validation_loss: float, error: float | None
) -> History:
    """One entry per accepted step; losses and error are those of the whole path, at the end."""
    count = state.steps
    last = {LOSS: loss, VALIDATION_LOSS: validation_loss, ERROR: error}
    columns = {
        ITERATION: np.arange(1.0, count + 1),
        SECONDS: state.seconds[1:],
        SIMULATED_TIME: state.times[1:],
        STEP_SIZE: np.diff(state.times),
    }
    for name, value in last.items():
        columns[name] = np.full(count, np.nan)
        columns[name][-1] = np.nan if value is None else value
    return History(columns)
