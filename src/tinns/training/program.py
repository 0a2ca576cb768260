"""The compiled part of training: many steps in one call, each with its validation."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh, PartitionSpec

from tinns.least_squares import rows
from tinns.least_squares.layout import ROWS, Layout
from tinns.optimizers import Relay, Step
from tinns.recipe import Recipe
from tinns.residuals import Psi, System
from tinns.sampling import Points
from tinns.training.balancing import balanced, reweighted

CAPACITY = 512  # most iterations in one compiled call

Reports = dict[str, Array]


class Carry(NamedTuple):
    """All that one iteration hands to the next."""

    psi: Psi
    state: Any
    factors: Array  # on the weights, by kind of row
    overfitted: Array  # the points should change before the next step
    handed_over: Array  # another program of the optimiser should take the next step
    best: Psi  # the ψ of lowest validation loss so far
    best_validation_loss: Array
    best_iteration: Array  # how many steps had been taken to it


def first_carry(system: System, recipe: Recipe, psi: Psi) -> Carry:
    return Carry(
        psi,
        recipe.step.init(psi),
        jnp.ones(len(system.row_names)),
        jnp.asarray(False),
        jnp.asarray(False),
        psi,
        jnp.asarray(jnp.inf, float),
        jnp.asarray(0),
    )


def iterations(
    system: System, recipe: Recipe, optimizer: Step, layout: Layout, mesh: Mesh | None
) -> Callable[..., tuple[Carry, Reports, Array]]:
    """(carry, points, validation, done, count) -> carry, reports, and how many steps were taken.

    It ends before `count` steps where the points or the program should change. Reports have
    CAPACITY entries.
    """
    balance = recipe.balance

    @jax.jit  # traced once, though it is needed twice below
    def iterate(
        carry: Carry, points: tuple[Points, ...], validation: tuple[Points, ...], number: Array
    ) -> tuple[Carry, Reports]:
        blocks = reweighted(system.blocks, carry.factors) if balance else system.blocks
        validation_split = rows.losses(system.blocks, carry.psi, validation, layout)
        validation_loss = jnp.sum(validation_split)
        psi, state, report = optimizer.step(blocks, carry.psi, points, carry.state, layout)
        split, factors = report.pop("losses"), carry.factors
        report |= {f"loss_{name}": split[n] for n, name in enumerate(system.row_names)}
        report["validation_loss"] = validation_loss
        comparable = jnp.sum(factors**2 * validation_split)
        if balance:
            report |= {f"factor_{name}": factors[n] for n, name in enumerate(system.row_names)}
            factors = balanced(balance, factors, split)
        overfitted = jnp.asarray(False)
        if recipe.redraw is not None:
            overfitted = comparable > recipe.redraw.ratio * report["loss"]
        better = validation_loss < carry.best_validation_loss
        return Carry(
            psi,
            state,
            factors,
            overfitted,
            optimizer.hands_over(state) if isinstance(optimizer, Relay) else jnp.asarray(False),
            jax.tree.map(lambda new, old: jnp.where(better, new, old), carry.psi, carry.best),
            jnp.where(better, validation_loss, carry.best_validation_loss),
            jnp.where(better, number, carry.best_iteration),
        ), report

    def many(
        carry: Carry,
        points: tuple[Points, ...],
        validation: tuple[Points, ...],
        done: Array,
        count: Array,
    ) -> tuple[Carry, Reports, Array]:
        shapes = jax.eval_shape(iterate, carry, points, validation, done)[1]
        columns = {name: jnp.zeros(CAPACITY, s.dtype) for name, s in shapes.items()}

        def body(value: tuple[Carry, Reports, Array]) -> tuple[Carry, Reports, Array]:
            inner, table, number = value
            inner, report = iterate(inner, points, validation, done + number)
            table = {name: table[name].at[number].set(report[name]) for name in table}
            return inner, table, number + 1

        def goes_on(value: tuple[Carry, Reports, Array]) -> Array:
            inner, _, number = value
            return (number < count) & ~inner.overfitted & ~inner.handed_over

        no = jnp.asarray(False)
        start = carry._replace(overfitted=no, handed_over=no)
        return jax.lax.while_loop(goes_on, body, (start, columns, jnp.zeros_like(count)))

    if mesh is None:
        return many
    everybodys, own = PartitionSpec(), PartitionSpec(ROWS)
    return jax.shard_map(
        many,
        mesh=mesh,
        in_specs=(everybodys, own, own, everybodys, everybodys),
        out_specs=everybodys,
        check_vma=False,
    )
