"""Leaves of one shape as one array of matrices, the factors of their sides as stacks."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.optim.orthonormal import EXACT


class Slots(NamedTuple):
    """Which matrices of which stack belong to one side of a group."""

    stack: int
    matrices: slice


class Group(NamedTuple):
    """Leaves of one shape, seen as matrices."""

    shape: tuple[int, int]
    members: tuple[int, ...]  # their places among all leaves
    sides: tuple[Slots | None, Slots | None]  # None: not rotated


class Stack(NamedTuple):
    size: int
    dtype: np.dtype
    matrices: int


def arrangement(leaves: Sequence[Array], max_size: int) -> tuple[list[Group], list[Stack]]:
    """Which leaves go together, and where the factors of their sides lie, by shape and dtype."""
    members: dict[tuple[tuple[int, int], np.dtype], list[int]] = {}
    for place, leaf in enumerate(leaves):
        members.setdefault((_matrix_shape(leaf.shape), leaf.dtype), []).append(place)
    stacks: list[Stack] = []

    def slots(size: int, dtype: np.dtype, count: int) -> Slots | None:
        if size == 1 or size > max_size:  # a basis of size 1 is ±1 and changes nothing
            return None
        kinds = [(stack.size, stack.dtype) for stack in stacks]
        if (size, dtype) not in kinds:
            stacks.append(Stack(size, dtype, 0))
            kinds.append((size, dtype))
        number = kinds.index((size, dtype))
        start = stacks[number].matrices
        stacks[number] = Stack(size, dtype, start + count)
        return Slots(number, slice(start, start + count))

    groups = [
        Group(
            shape,
            tuple(places),
            (slots(shape[0], dtype, len(places)), slots(shape[1], dtype, len(places))),
        )
        for (shape, dtype), places in members.items()
    ]
    return groups, stacks


def _matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) < 2:
        return (shape[0] if shape else 1), 1
    return prod(shape[:-1]), shape[-1]


def stacked(leaves: Sequence[Array], group: Group) -> Array:
    return jnp.stack([leaves[place].reshape(group.shape) for place in group.members])


def unstacked(
    arrays: Sequence[Array], groups: list[Group], like: Sequence[Array]
) -> list[Array | None]:
    leaves: list[Array | None] = [None] * len(like)
    for array, group in zip(arrays, groups, strict=True):
        for number, place in enumerate(group.members):
            leaves[place] = array[number].reshape(like[place].shape)
    return leaves


def products(gradient: Sequence[Array], groups: list[Group], stacks: list[Stack]) -> list[Array]:
    """G Gᵀ and Gᵀ G of every matrix, in the order of the stacks."""
    parts: list[list[Array]] = [[] for _ in stacks]
    for g, group in zip(gradient, groups, strict=True):
        for slots, indices in zip(group.sides, ("kij,klj->kil", "kji,kjl->kil"), strict=True):
            if slots is not None:
                parts[slots.stack].append(jnp.einsum(indices, g, g, precision=EXACT))
    return [jnp.concatenate(part) for part in parts]


def rotated(
    arrays: Sequence[Array], groups: list[Group], bases: Sequence[Array], back: bool = False
) -> tuple[Array, ...]:
    """Q_Lᵀ X Q_R for every matrix X, or with `back` Q_L X Q_Rᵀ."""
    left, right = ("kij,kjl->kil", "kil,kjl->kij") if back else ("kji,kjl->kil", "kil,klj->kij")
    turned = []
    for x, group in zip(arrays, groups, strict=True):
        rows, columns = group.sides
        if rows is not None:
            x = jnp.einsum(left, bases[rows.stack][rows.matrices], x, precision=EXACT)
        if columns is not None:
            x = jnp.einsum(right, x, bases[columns.stack][columns.matrices], precision=EXACT)
        turned.append(x)
    return tuple(turned)
