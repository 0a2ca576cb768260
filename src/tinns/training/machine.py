"""The programs of a run, compiled as they are needed, and its points on their devices."""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from tinns.compilation import compiled, jitted
from tinns.errors import UserError
from tinns.least_squares.layout import ROWS, Layout, count_of
from tinns.optimizers import Relay
from tinns.recipe import Recipe
from tinns.residuals import Psi, System, Window
from tinns.sampling import Points, TensorGrid
from tinns.training.memory import fitting_layout, free_bytes
from tinns.training.program import Carry, Plan, Reports, first_carry, iterations
from tinns.training.progress import Watcher
from tinns.training.redrawing import Ladder, dealt, drawn


class Machine:
    """One set of programs for each count of points; data dealt out where devices are several."""

    def __init__(self, system: System, recipe: Recipe, watcher: Watcher) -> None:
        self.system, self.recipe, self.watcher = system, recipe, watcher
        self.devices = _devices(recipe)
        self.mesh = Mesh(np.array(self.devices), (ROWS,)) if len(self.devices) > 1 else None
        self.points: tuple[Points, ...] = ()
        self.counts: tuple[int, ...] = ()  # of data, block by block
        self.validation: tuple[Points, ...] = ()
        self.layout = Layout()
        self.window: Window | None = None
        self.batch_key = jax.random.key(0)  # for points that change every so many iterations
        self.optimizer = recipe.step  # the program of it that steps at present
        self.compile_seconds = 0.0
        self._programs: dict[Any, Callable[..., Any]] = {}
        # Compiled, each is one program to keep instead of dozens.
        self.init = jitted(system.init)
        self.draw = jitted(system.draw, static_argnums=(1, 2))

    def start(
        self,
        psi: Psi,
        points: tuple[Points, ...],
        validation: tuple[Points, ...],
        window: Window | None = None,
        batch_key: jax.Array | None = None,
    ) -> Carry:
        """Take these points, compile the steps on them, and give the first carry."""
        self.window, self.optimizer = window, self.recipe.step
        self.batch_key = self.batch_key if batch_key is None else batch_key
        self.validation = self._dealt(validation)
        carry = first_carry(self.system, self.recipe, psi)
        if self.mesh is not None:
            carry = jax.device_put(carry, NamedSharding(self.mesh, PartitionSpec()))
        self._take(points, psi)
        self._steps(carry)
        return carry

    def run(
        self, carry: Carry, done: int, count: int, spent: float = 0.0, share_per_step: float = 0.0
    ) -> tuple[Carry, Reports, int, float]:
        """At most `count` steps: the carry after them, their reports, their number and seconds.

        `spent` is the share of the budget used up before them.
        """
        if carry.handed_over:
            assert isinstance(self.optimizer, Relay)
            self.optimizer = self.optimizer.successor(carry.state)
        plan = _plan(done, count, spent, share_per_step, self.batch_key)
        steps = self._steps(carry)
        before = time.perf_counter()
        carry, points, reports, taken = jax.block_until_ready(
            steps(carry, self.points, self.validation, plan)
        )
        self.points = points or self.points
        return carry, reports, int(taken), time.perf_counter() - before

    def redraw(self, carry: Carry, ladder: Ladder, key: jax.Array) -> tuple[Carry, float]:
        """New points at the present ψ; also the seconds it took, compilation apart."""
        counts, chunk = ladder.counts(self.recipe.points), self.layout.chunk

        def new_points(key: jax.Array, psi: Psi, window: Window | None) -> tuple[Points, ...]:
            return drawn(self.system, self.recipe, counts, key, psi, chunk, window)

        given = key, carry.psi, self.window
        name = ("points", counts)
        program = self._compiled(name, "compiling the choice of points", new_points, *given)
        before = time.perf_counter()
        points = jax.block_until_ready(program(*given))
        spent = time.perf_counter() - before
        carry = carry._replace(changed=jnp.ones_like(carry.changed))
        if self.recipe.step.restarts_on_redraw:
            kinds = len(self.system.row_names)
            carry = carry._replace(state=self.recipe.step.init(carry.psi, kinds))
        self._take(points, carry.psi)
        return carry, spent

    def chosen(self, carry: Carry) -> tuple[Psi, int | None, float, float]:
        """The resulting ψ with its iteration (None: the last) and its losses.

        It is the last one, or the best if that is asked for or the last is no number.
        """
        loss, validation_loss = self._losses(carry, carry.psi)
        last_is_worse = not validation_loss <= float(carry.best_validation_loss)
        if (self.recipe.keep == "best" and last_is_worse) or not np.isfinite(validation_loss):
            loss, validation_loss = self._losses(carry, carry.best)
            return carry.best, int(carry.best_iteration), loss, validation_loss
        return carry.psi, None, loss, validation_loss

    def _losses(self, carry: Carry, psi: Psi) -> tuple[float, float]:
        """Training and validation loss of ψ by the recipe's weights.

        Every step reports them as it begins: one more step, not kept, costs less than a program
        of their own.
        """
        no = jnp.zeros_like(carry.handed_over)  # whichever program is at hand will do
        factors, yes = jnp.ones_like(carry.factors), jnp.ones_like(carry.changed)
        asked = carry._replace(psi=psi, factors=factors, changed=yes, handed_over=no)
        _, reports, _, _ = self.run(asked, 0, 1)
        return float(reports["loss"][0]), float(reports["validation_loss"][0])

    def _take(self, points: tuple[Points, ...], psi: Psi) -> None:
        before = self.counts
        self.points = self._dealt(points)
        self.counts = tuple(
            block.count(data) for block, data in zip(self.system.blocks, self.points, strict=True)
        )
        if self.counts != before:
            self.layout = self._fitting(psi)

    def _steps(self, carry: Carry) -> Callable[..., Any]:
        return self._compiled(
            (self.optimizer, self.counts),
            "compiling the training step (once per kind of run)",
            iterations(self.system, self.recipe, self.optimizer, self.layout, self.mesh),
            carry,
            self.points,
            self.validation,
            _plan(0, 0, 0.0, 0.0, self.batch_key),
        )

    def _fitting(self, psi: Psi) -> Layout:
        """Rows in chunks that fit into memory, unless the recipe says how many."""
        shards = len(self.devices)
        if self.recipe.chunk is not None or not self.recipe.step.forms_jacobian:
            return Layout(self.recipe.chunk or Layout().chunk, shards)
        leaves = jax.tree.leaves(psi)
        layout, told = fitting_layout(
            sum(
                count_of(data) * len(block.row_names)
                for block, data in zip(self.system.blocks, self.points, strict=True)
            ),
            sum(leaf.size for leaf in leaves),
            leaves[0].dtype.itemsize,
            shards,
            free_bytes(self.devices),
        )
        if told:
            self.watcher.tells(told)
        return layout

    def _dealt(self, points: tuple[Points, ...]) -> tuple[Points, ...]:
        if self.mesh is None:
            return points
        shares = dealt(points, len(self.devices))
        return jax.device_put(shares, NamedSharding(self.mesh, PartitionSpec(ROWS)))

    def _compiled(
        self, name: Any, activity: str, function: Callable[..., Any], *arguments: Any
    ) -> Callable[..., Any]:
        if name not in self._programs:
            self.watcher.says(activity)
            before = time.perf_counter()
            self._programs[name] = compiled(function, *arguments)
            self.compile_seconds += time.perf_counter() - before
        return self._programs[name]


def _plan(done: int, count: int, spent: float, share_per_step: float, key: jax.Array) -> Plan:
    share, each = jnp.asarray(spent, float), jnp.asarray(share_per_step, float)
    return Plan(jnp.asarray(done), jnp.asarray(count), share, each, key)


def _devices(recipe: Recipe) -> list[Any]:
    """The devices to deal the rows out to: one, where rows must see each other or are redrawn."""
    found = jax.devices()
    redrawn = recipe.redraw is not None and recipe.redraw.every is not None
    if isinstance(recipe.sampler, TensorGrid) or recipe.emphasis or redrawn:
        found = found[:1]
    wanted = recipe.devices or len(found)
    if wanted > len(found):
        raise UserError(f"recipe: devices={wanted}, but JAX sees {len(found)} here")
    return found[:wanted]
