"""The compiled part of training: many steps in one call, each with its validation."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from tinns.geometry import Batch
from tinns.objective import Layout, Objective, System
from tinns.objective.layout import ROWS
from tinns.optim import Clock, Optimizer
from tinns.optim.optimizer import should_switch
from tinns.solvers.history import VALIDATION_LOSS
from tinns.solvers.least_squares.balancing import every_so_often
from tinns.solvers.least_squares.emphasis import emphasised
from tinns.solvers.least_squares.redraw import NEVER
from tinns.solvers.least_squares.settings import LeastSquares
from tinns.solvers.least_squares.state import LoopState

CAPACITY = 512  # most iterations in one compiled call


def loss_column(kind: str) -> str:
    """The column of the history with the loss of one kind of row."""
    return f"loss_{kind}"


def factor_column(kind: str) -> str:
    """The column of the history with the factor on one kind of row."""
    return f"factor_{kind}"


Reports = dict[str, Array]
Points = tuple[Batch, ...]
Carry = tuple[LoopState, Points, Reports, Array]  # the array: the number of steps taken


class CallArguments(NamedTuple):
    """What one call of the program should do.

    After k iterations in all, the spent share of the budget is spent + (k - since)·per_step.
    """

    done: Array  # iterations before it
    steps: Array  # iterations it should take
    spent: Array
    since: Array
    per_step: Array
    key: Array  # for new points


def iterations(
    system: System, settings: LeastSquares, optimizer: Optimizer, layout: Layout, mesh: Mesh | None
) -> Callable[..., tuple[LoopState, Points, Reports, Array]]:
    """(state, points, validation, call) -> state, points, reports and the number of steps taken.

    It ends before `call.steps` steps where the points or the program should change. Reports have
    CAPACITY entries. Points are returned only if the settings change them inside the program.
    """
    redraw, balance, emphasis = settings.redraw or NEVER, settings.balance, settings.emphasis
    every = redraw.every
    weights_move = balance is not None or (emphasis is not None and emphasis.moves)
    names = system.row_names

    @jax.jit  # traced once, although it is needed twice below
    def iterate(
        state: LoopState, points: Points, validation: Points, number: Array, spent: Array
    ) -> tuple[LoopState, Reports]:
        objective = Objective(emphasised(system, emphasis, spent), points, layout)
        weighted = objective.reweighted(state.factors) if balance else objective
        validation_split = every_so_often(
            settings.validate,
            number,
            lambda: Objective(system.blocks, validation, layout).losses(state.psi),
            state.validation,
        )
        validation_loss = jnp.sum(validation_split)
        clock = Clock(spent, state.changed)
        psi, inner, report = optimizer.step(weighted, state.psi, state.optimizer, clock)
        factors = state.factors
        columns = report.as_columns() | {VALIDATION_LOSS: validation_loss}
        columns |= {loss_column(name): report.losses[n] for n, name in enumerate(names)}
        comparable = jnp.sum(factors**2 * validation_split)
        if balance:
            columns |= {factor_column(name): factors[n] for n, name in enumerate(names)}
            factors = balance.update(factors, report.losses, number, objective, psi)
        better = validation_loss < state.best_validation_loss
        return LoopState(
            psi,
            inner,
            factors,
            validation_split,
            jnp.asarray(weights_move),
            redraw.is_due(comparable, report.loss),
            should_switch(optimizer, inner),
            jax.tree.map(lambda new, old: jnp.where(better, new, old), state.psi, state.best),
            jnp.where(better, validation_loss, state.best_validation_loss),
            jnp.where(better, number, state.best_iteration),
        ), columns

    def many(
        state: LoopState, points: Points, validation: Points, call: CallArguments
    ) -> tuple[LoopState, Points, Reports, Array]:
        given = points
        shapes = jax.eval_shape(iterate, state, points, validation, call.done, call.spent)[1]
        table = {name: jnp.zeros(CAPACITY, s.dtype) for name, s in shapes.items()}

        def fresh(number: Array) -> Points:
            key = jax.random.fold_in(call.key, number)
            return system.draw(key, settings.points, settings.sampler)

        def body(value: Carry) -> Carry:
            inner, changing, table, number = value
            total = call.done + number
            if every is not None:
                due = (total % every == 0) & (total > 0)
                changing = jax.lax.cond(due, fresh, lambda _, kept=changing: kept, total)
                inner = inner._replace(changed=inner.changed | due)
            own = given if every is None else changing
            spent = call.spent + (total - call.since) * call.per_step
            inner, report = iterate(inner, own, validation, total, spent)
            table = {name: table[name].at[number].set(report[name]) for name in table}
            return inner, changing, table, number + 1

        def keeps_going(value: Carry) -> Array:
            inner, _, _, number = value
            return (number < call.steps) & ~inner.overfitted & ~inner.switching

        no = jnp.asarray(False)
        start = state._replace(overfitted=no, switching=no)
        changing = () if every is None else points
        return jax.lax.while_loop(
            keeps_going, body, (start, changing, table, jnp.zeros_like(call.steps))
        )

    if mesh is None:
        return many
    replicated, own = PartitionSpec(), PartitionSpec(ROWS)
    return jax.shard_map(
        many,
        mesh=mesh,
        in_specs=(replicated, own, own, replicated),
        out_specs=replicated,
        check_vma=False,
    )
