"""The compiled programs of a run, and its points on their devices."""

import time
from collections.abc import Callable, Hashable
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree

from tinns._runtime.compilation import compiled, jitted
from tinns._runtime.errors import UserError
from tinns.geometry import Batch, spans_grids
from tinns.objective import Block, Layout, Psi, System, Window
from tinns.objective.layout import ROWS
from tinns.optim.optimizer import Optimizer, program_for
from tinns.solvers.least_squares.memory import Device, fitting_layout, free_bytes
from tinns.solvers.least_squares.program import CallArguments, Points, Reports, iterations
from tinns.solvers.least_squares.redraw import Redraw, distribute
from tinns.solvers.least_squares.settings import LeastSquares
from tinns.solvers.least_squares.state import LoopState, RunState, first_loop_state
from tinns.solvers.progress import Reporter

Program = Callable[..., PyTree]  # compiled: trees of arrays in and out


class Runner:
    """Programs for each count of points, compiled when they are needed.

    A runner holds no state of a run: states go in and come out.
    """

    def __init__(self, system: System, settings: LeastSquares, reporter: Reporter) -> None:
        self.system, self.settings, self.reporter = system, settings, reporter
        self.devices = _devices(settings)
        self.mesh = Mesh(np.array(self.devices), (ROWS,)) if len(self.devices) > 1 else None
        self.compile_seconds = 0.0
        self._programs: dict[Hashable, Program] = {}
        self._layouts: dict[tuple[int, ...], Layout] = {}
        # Compiled, each is one program to cache instead of dozens.
        self.init = jitted(system.init)
        self.draw = jitted(system.draw, static_argnums=(1, 2))

    @property
    def platform(self) -> str:
        return self.devices[0].platform

    def first_loop_state(self, psi: Psi) -> LoopState:
        state = first_loop_state(self.system, self.settings.optimizer, psi)
        if self.mesh is not None:
            state = jax.device_put(state, NamedSharding(self.mesh, PartitionSpec()))
        return state

    def distributed(self, points: Points) -> Points:
        """Points on their devices."""
        if self.mesh is None:
            return points
        shares = distribute(points, len(self.devices))
        return jax.device_put(shares, NamedSharding(self.mesh, PartitionSpec(ROWS)))

    def placed(self, state: RunState) -> RunState:
        """A restored state on its devices."""
        if self.mesh is None:
            return state
        rows, everywhere = (
            NamedSharding(self.mesh, p) for p in (PartitionSpec(ROWS), PartitionSpec())
        )
        return replace(
            state,
            loop=jax.device_put(state.loop, everywhere),
            points=jax.device_put(state.points, rows),
            validation=jax.device_put(state.validation, rows),
        )

    def counts(self, points: Points) -> tuple[int, ...]:
        """The number of points of each block."""
        pairs = zip(self.system.blocks, points, strict=True)
        return tuple(block.count(data) for block, data in pairs)

    def steps(self, state: RunState, call: CallArguments) -> tuple[RunState, Reports, int, float]:
        """At most `call.steps` steps: the state after them, their reports, number and seconds."""
        optimizer = program_for(self.settings.optimizer, state.loop.optimizer)
        program = self._steps(optimizer, state, call)
        before = time.perf_counter()
        loop, points, reports, taken = jax.block_until_ready(
            program(state.loop, state.points, state.validation, call)
        )
        elapsed = time.perf_counter() - before
        state = replace(state, loop=loop, points=points or state.points)
        return state, reports, int(taken), elapsed

    def prepare(self, state: RunState) -> None:
        """Compile the steps that a state needs first."""
        optimizer = program_for(self.settings.optimizer, state.loop.optimizer)
        self._steps(optimizer, state, call_arguments(0, 0, (0.0, 0, 0.0), state.batch_key))

    def redraw(
        self, state: RunState, rule: Redraw, rung: int, key: jax.Array
    ) -> tuple[RunState, float]:
        """New points at the present ψ; also the seconds it took, without compilation."""
        settings, counts = self.settings, rule.counts(self.settings.points, rung)
        chunk = self._layout(state).chunk

        def new_points(key: jax.Array, psi: Psi, window: Window | None) -> Points:
            return rule.draw(self.system, counts, settings.sampler, key, psi, chunk, window)

        given = key, state.loop.psi, state.window
        program = self._compiled(
            ("points", counts), "compiling the choice of points", new_points, *given
        )
        before = time.perf_counter()
        points = jax.block_until_ready(program(*given))
        spent = time.perf_counter() - before
        loop = state.loop._replace(changed=jnp.ones_like(state.loop.changed))
        if settings.optimizer.restarts_on_redraw:
            kinds = len(self.system.row_names)
            loop = loop._replace(optimizer=settings.optimizer.init(loop.psi, kinds))
        return replace(state, loop=loop, points=self.distributed(points)), spent

    def chosen(self, state: RunState) -> tuple[Psi, int | None, float, float]:
        """The resulting ψ with its iteration (None: the last) and its losses.

        It is the last one, or the best if the settings say so or the last is not finite.
        """
        loop = state.loop
        loss, validation_loss = self._losses(state, loop.psi)
        last_is_worse = not validation_loss <= float(loop.best_validation_loss)
        if (self.settings.keep == "best" and last_is_worse) or not np.isfinite(validation_loss):
            loss, validation_loss = self._losses(state, loop.best)
            return loop.best, int(loop.best_iteration), loss, validation_loss
        return loop.psi, None, loss, validation_loss

    def _losses(self, state: RunState, psi: Psi) -> tuple[float, float]:
        """Training and validation loss of ψ by the recipe's weights.

        Every step reports them as it begins: one more step, which is discarded, costs less than a
        separate program.
        """
        loop = state.loop
        asked = loop._replace(
            psi=psi,
            factors=jnp.ones_like(loop.factors),
            changed=jnp.ones_like(loop.changed),
            switching=jnp.zeros_like(loop.switching),
        )
        call = call_arguments(0, 1, (0.0, 0, 0.0), state.batch_key)
        _, reports, _, _ = self.steps(replace(state, loop=asked), call)
        return float(reports["loss"][0]), float(reports["validation_loss"][0])

    def _steps(self, optimizer: Optimizer, state: RunState, call: CallArguments) -> Program:
        layout, counts = self._layout(state), self.counts(state.points)
        return self._compiled(
            (optimizer, counts),
            "compiling the training step (once per kind of run)",
            iterations(self.system, self.settings, optimizer, layout, self.mesh),
            state.loop,
            state.points,
            state.validation,
            call,
        )

    def _layout(self, state: RunState) -> Layout:
        counts = self.counts(state.points)
        if counts not in self._layouts:
            self._layouts[counts] = self._fitting(state.loop.psi, state.points)
        return self._layouts[counts]

    def _fitting(self, psi: Psi, points: Points) -> Layout:
        """Rows in chunks that fit into memory, unless the settings say how many."""
        shards, settings = len(self.devices), self.settings
        if settings.chunk is not None or not settings.optimizer.forms_jacobian:
            return Layout(settings.chunk or Layout().chunk, shards)
        leaves = jax.tree.leaves(psi)
        pairs: list[tuple[Block, Batch]] = list(zip(self.system.blocks, points, strict=True))
        layout, message = fitting_layout(
            sum(data.count * len(block.row_names) for block, data in pairs),
            sum(leaf.size for leaf in leaves),
            leaves[0].dtype.itemsize,
            shards,
            free_bytes(self.devices),
        )
        if message:
            self.reporter.notice(message)
        return layout

    def _compiled(
        self, name: Hashable, activity: str, function: Program, *arguments: PyTree
    ) -> Program:
        if name not in self._programs:
            self.reporter.status(activity)
            before = time.perf_counter()
            self._programs[name] = compiled(function, *arguments)
            self.compile_seconds += time.perf_counter() - before
        return self._programs[name]


def call_arguments(
    done: int, count: int, budget: tuple[float, int, float], key: jax.Array
) -> CallArguments:
    """`budget`: the share spent at an iteration, that iteration, and the share of a step."""
    spent, since, per_step = budget
    return CallArguments(
        jnp.asarray(done),
        jnp.asarray(count),
        jnp.asarray(spent, float),
        jnp.asarray(since),
        jnp.asarray(per_step, float),
        key,
    )


def _devices(settings: LeastSquares) -> list[Device]:
    """The devices to use: only one if rows depend on each other or are redrawn within a call."""
    found = jax.devices()
    redrawn = settings.redraw is not None and settings.redraw.every is not None
    if spans_grids(settings.sampler) or settings.emphasis or redrawn:
        found = found[:1]
    wanted = settings.devices or len(found)
    if wanted > len(found):
        raise UserError(f"recipe: devices={wanted}, but JAX sees {len(found)} here")
    return found[:wanted]
