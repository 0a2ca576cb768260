"""The compiled part of training: many steps in one call, each with its validation."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from tinns.least_squares import rows
from tinns.least_squares.layout import ROWS, Layout
from tinns.least_squares.rows import Block
from tinns.optimizers import Relay, Step
from tinns.recipe import Recipe
from tinns.residuals import Psi, System
from tinns.sampling import Points
from tinns.strategies import Balance, Balancing, Difficulty
from tinns.training.balancing import balanced, equalised, reweighted
from tinns.training.emphasis import emphasised

CAPACITY = 512  # most iterations in one compiled call

Reports = dict[str, Array]


class Carry(NamedTuple):
    """All that one iteration hands to the next."""

    psi: Psi
    state: Any
    factors: Array  # on the weights, by kind of row
    validation: Array  # the validation loss by kind of row, when it was last computed
    changed: Array  # points or weights are others than at the last step
    overfitted: Array  # the points should change before the next step
    handed_over: Array  # another program of the optimiser should take the next step
    best: Psi  # the ψ of lowest validation loss so far
    best_validation_loss: Array
    best_iteration: Array  # how many steps had been taken to it


class Plan(NamedTuple):
    """What one call of the program is to do."""

    done: Array  # iterations before it
    count: Array  # iterations wanted of it
    spent: Array  # the share of the budget used up before it
    share_per_step: Array  # the share that an iteration uses
    key: Array  # for new points


def first_carry(system: System, recipe: Recipe, psi: Psi) -> Carry:
    return Carry(
        psi,
        recipe.step.init(psi, len(system.row_names)),
        jnp.ones(len(system.row_names)),
        jnp.full(len(system.row_names), jnp.inf),
        jnp.asarray(True),
        jnp.asarray(False),
        jnp.asarray(False),
        psi,
        jnp.asarray(jnp.inf, float),
        jnp.asarray(0),
    )


def iterations(
    system: System, recipe: Recipe, optimizer: Step, layout: Layout, mesh: Mesh | None
) -> Callable[..., tuple[Carry, tuple[Points, ...], Reports, Array]]:
    """(carry, points, validation, plan) -> carry, points, reports, and how many steps were taken.

    It ends before `count` steps where the points or the program should change. Reports have
    CAPACITY entries. Points are given back only where the recipe changes them `every` so often.
    """
    every = recipe.redraw.every if recipe.redraw else None
    moving = recipe.balance is not None or isinstance(recipe.emphasis, Difficulty)  # the weights

    @jax.jit  # traced once, though it is needed twice below
    def iterate(
        carry: Carry,
        points: tuple[Points, ...],
        validation: tuple[Points, ...],
        number: Array,
        spent: Array,
    ) -> tuple[Carry, Reports]:
        blocks = system.blocks
        if recipe.emphasis:
            blocks = emphasised(blocks, system.regions, recipe.emphasis, spent)
        weighted = reweighted(blocks, carry.factors) if recipe.balance else blocks
        validation_split = _now_and_then(
            recipe.validate,
            number,
            lambda: rows.losses(system.blocks, carry.psi, validation, layout),
            carry.validation,
        )
        validation_loss = jnp.sum(validation_split)
        psi, state, report = optimizer.step(
            weighted, carry.psi, points, carry.state, layout, spent, carry.changed
        )
        split, factors = report.pop("losses"), carry.factors
        report |= {f"loss_{name}": split[n] for n, name in enumerate(system.row_names)}
        report["validation_loss"] = validation_loss
        comparable = jnp.sum(factors**2 * validation_split)
        if recipe.balance:
            report |= {f"factor_{name}": factors[n] for n, name in enumerate(system.row_names)}
            factors = _rebalanced(
                recipe.balance, factors, split, number, blocks, psi, points, layout
            )
        overfitted = jnp.asarray(False)
        if recipe.redraw is not None and recipe.redraw.ratio is not None:
            overfitted = comparable > recipe.redraw.ratio * report["loss"]
        better = validation_loss < carry.best_validation_loss
        return Carry(
            psi,
            state,
            factors,
            validation_split,
            jnp.asarray(moving),
            overfitted,
            optimizer.hands_over(state) if isinstance(optimizer, Relay) else jnp.asarray(False),
            jax.tree.map(lambda new, old: jnp.where(better, new, old), carry.psi, carry.best),
            jnp.where(better, validation_loss, carry.best_validation_loss),
            jnp.where(better, number, carry.best_iteration),
        ), report

    def many(
        carry: Carry, points: tuple[Points, ...], validation: tuple[Points, ...], plan: Plan
    ) -> tuple[Carry, tuple[Points, ...], Reports, Array]:
        given = points
        shapes = jax.eval_shape(iterate, carry, points, validation, plan.done, plan.spent)[1]
        columns = {name: jnp.zeros(CAPACITY, s.dtype) for name, s in shapes.items()}

        def fresh(number: Array) -> tuple[Points, ...]:
            key = jax.random.fold_in(plan.key, number)
            return system.draw(key, recipe.points, recipe.sampler)

        def body(value: Any) -> Any:
            inner, changing, table, number = value
            total = plan.done + number
            if every is not None:
                due = (total % every == 0) & (total > 0)
                changing = jax.lax.cond(due, fresh, lambda _, kept=changing: kept, total)
                inner = inner._replace(changed=inner.changed | due)
            own = given if every is None else changing
            spent = plan.spent + number * plan.share_per_step
            inner, report = iterate(inner, own, validation, total, spent)
            table = {name: table[name].at[number].set(report[name]) for name in table}
            return inner, changing, table, number + 1

        def goes_on(value: Any) -> Array:
            inner, _, _, number = value
            return (number < plan.count) & ~inner.overfitted & ~inner.handed_over

        no = jnp.asarray(False)
        start = carry._replace(overfitted=no, handed_over=no)
        changing = () if every is None else points
        return jax.lax.while_loop(
            goes_on, body, (start, changing, columns, jnp.zeros_like(plan.count))
        )

    if mesh is None:
        return many
    everybodys, own = PartitionSpec(), PartitionSpec(ROWS)
    return jax.shard_map(
        many,
        mesh=mesh,
        in_specs=(everybodys, own, own, everybodys),
        out_specs=everybodys,
        check_vma=False,
    )


def _now_and_then(every: int, number: Array, compute: Callable[[], Array], last: Array) -> Array:
    """A value computed at every so many iterations, and kept in between."""
    if every == 1:
        return compute()
    return jax.lax.cond(number % every == 0, compute, lambda: last)


def _rebalanced(
    balance: Balancing,
    factors: Array,
    split: Array,
    number: Array,
    blocks: Sequence[Block],
    psi: Psi,
    points: tuple[Points, ...],
    layout: Layout,
) -> Array:
    """The factors on the weights after a step that saw the losses `split` and led to ψ."""
    if isinstance(balance, Balance):
        return balanced(balance, factors, split)
    return _now_and_then(
        balance.every,
        number,
        lambda: equalised(balance, factors, blocks, psi, points, layout),
        factors,
    )
