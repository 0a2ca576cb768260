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
from tinns.geometry import Batch, Counts, spans_grids
from tinns.objective import Block, Layout, Objective, Psi, System, Window
from tinns.objective.layout import ROWS
from tinns.optim.optimizer import Optimizer, program_for
from tinns.solvers.least_squares.emphasis import emphasised
from tinns.solvers.least_squares.memory import (
    POINTS,
    POOLS,
    STATES,
    Device,
    Part,
    Tape,
    check_fits,
    fitting_layout,
    free_bytes,
    gradient_layout,
    size_of,
)
from tinns.solvers.least_squares.program import CallArguments, Points, Reports, iterations
from tinns.solvers.least_squares.redraw import Redraw, distribute
from tinns.solvers.least_squares.renewal import Renewal
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
        self._held = check_fits(self._parts(), free_bytes(self.devices))

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

    def renew(
        self,
        renewal: Renewal,
        key: jax.Array,
        psi: Psi,
        best: Psi,
        window: Window | None,
        chunk: int = Layout().chunk,
    ) -> tuple[Points, jax.Array, float]:
        """New validation points for ψ, the loss of `best` there, and the seconds it took."""
        settings = self.settings

        def new_points(
            key: jax.Array, psi: Psi, best: Psi, window: Window | None
        ) -> tuple[Points, jax.Array]:
            counts, sampler = settings.validation, settings.sampler
            points = renewal.draw(self.system, counts, sampler, key, psi, chunk, window)
            losses = Objective(self.system.blocks, points, Layout(chunk)).losses(best)
            return points, jnp.sum(losses)

        given = key, psi, best, window
        program = self._compiled(
            "validation", "compiling the choice of validation points", new_points, *given
        )
        before = time.perf_counter()
        points, loss = jax.block_until_ready(program(*given))
        return self.distributed(points), loss, time.perf_counter() - before

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
            self._layouts[counts] = self._fitting(state.loop, state.points)
        return self._layouts[counts]

    def _fitting(self, loop: LoopState, points: Points) -> Layout:
        """Rows in chunks that fit into memory, unless the settings say how many."""
        shards, settings = len(self.devices), self.settings
        if settings.chunk is not None:
            return Layout(settings.chunk, shards)
        # The state is there already: what is free now is what its copies and the rows can take.
        held = max(0.0, self._held - size_of(loop))
        free = max(0.0, free_bytes(self.devices) - held)
        if settings.optimizer.forms_jacobian:
            leaves = jax.tree.leaves(loop.psi)
            layout, message = fitting_layout(
                sum(data.count * len(block.row_names) for block, data in self._pairs(points)),
                sum(leaf.size for leaf in leaves),
                leaves[0].dtype.itemsize,
                shards,
                free,
            )
        else:
            layout, message = gradient_layout(self._tapes(loop.psi, points), shards, free)
        if message:
            self.reporter.notice(message)
        return layout

    def _parts(self) -> list[Part]:
        """What a run holds besides its rows, before any of it is allocated."""
        system, settings, key = self.system, self.settings, jax.random.key(0)
        optimizer, rule, renewal = settings.optimizer, settings.redraw, settings.renewal

        def drawn(counts: Counts) -> int:
            return size_of(jax.eval_shape(lambda k: system.draw(k, counts, settings.sampler), key))

        psi = jax.eval_shape(system.init, key)
        try:
            state = size_of(jax.eval_shape(lambda p: first_loop_state(system, optimizer, p), psi))
        except (
            jax.errors.JAXTypeError
        ):  # an optimiser of a user's own whose `init` is not traceable
            state = size_of(psi)
        most = rule.counts(settings.points, len(rule.ladder) - 1) if rule else settings.points
        candidates = rule.candidates if rule else 1
        pools = [drawn(most.times(candidates))] if candidates > 1 else []
        if renewal is not None:
            pools.append(drawn(settings.validation.times(renewal.candidates)))
        held = POINTS * (drawn(most) + drawn(settings.validation)) + POOLS * max(pools, default=0)
        name = type(optimizer).__name__
        return [
            Part(
                f"for parameters and the state of {name}",
                STATES * state,
                "use a smaller network"
                + ("" if name == "Adam" else ", or Adam, which holds least"),
            ),
            Part(
                "for points and candidates",
                held,
                "use fewer points, fewer candidates or a shorter ladder in Redraw(...)",
            ),
        ]

    def _tapes(self, psi: Psi, points: Points) -> list[Tape]:
        """What reverse mode keeps of each block's rows, by tracing them."""

        def kept(block: Block, data: Batch) -> int:
            def pullback(p: Psi, d: Batch) -> PyTree:
                return jax.vjp(lambda q: block.all_rows(q, d), p)[1]

            return size_of(jax.eval_shape(pullback, psi, data))

        shards = len(self.devices)
        blocks = emphasised(self.system, self.settings.emphasis, 0.0)
        return [
            Tape(
                kept(block, data) / shards,
                -(-block.count(data) // shards) * len(block.row_names),
                divisible=block.grid is None and block.emphasis is None,
            )
            for block, data in zip(blocks, points, strict=True)
        ]

    def _pairs(self, points: Points) -> list[tuple[Block, Batch]]:
        return list(zip(self.system.blocks, points, strict=True))

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
