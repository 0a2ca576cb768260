"""Growth of a trained field that keeps the function it represents."""

from dataclasses import dataclass
from typing import Protocol

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.nn.backbones import Params
from tinns.nn.fields import Field
from tinns.nn.sum import Sum
from tinns.nn.widening import widened


class Growth(Protocol):
    """A larger field, and the parameters by which it represents the same function."""

    def applied(self, field: Field) -> Field:
        """The larger field."""
        ...

    def continued(self, psi: Params, fresh: Params) -> Params:
        """ψ of the larger field that continues `psi`; the rest is taken from `fresh`.

        `fresh` is what `init` of the larger field draws.
        """
        ...


@dataclass(frozen=True)
class Wider:
    """More neurons in all hidden layers: they start with random inputs and without effect.

    Fields of an `MLP` grow, with their time network if it is one. The weights by which old neurons
    and outputs see new neurons start as zero.
    """

    factor: float = 1.5

    def __post_init__(self) -> None:
        if not (isinstance(self.factor, int | float) and self.factor > 1):
            raise UserError(f"Wider: factor={self.factor!r}; expected a number > 1")

    def applied(self, field: Field) -> Field:
        return widened(field, self.factor)

    def continued(self, psi: Params, fresh: Params) -> Params:
        return jax.tree.map(_embedded, psi, fresh)


@dataclass(frozen=True)
class Added:
    """Another field added to the one that was trained; it starts as zero."""

    field: Field

    def applied(self, field: Field) -> Field:
        return Sum(field, self.field)

    def continued(self, psi: Params, fresh: Params) -> Params:
        return psi, fresh[1]


def _embedded(old: Array, fresh: Array) -> Array:
    """`old` as the leading block of `fresh`, with zeros to its right: (rows, columns)."""
    old, fresh = jnp.asarray(old), jnp.asarray(fresh)
    rows, *columns = old.shape or (0,)
    if not old.shape:
        return old
    if columns:
        fresh = fresh.at[:rows, columns[0] :].set(0)
    block: tuple[slice, ...] = tuple(slice(0, length) for length in old.shape)
    return fresh.at[block].set(old)
