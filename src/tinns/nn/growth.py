"""Growth of a trained field that keeps the function it represents."""

from dataclasses import dataclass, replace
from typing import Protocol

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.nn.backbones import MLP, Params
from tinns.nn.fields import Field, SpaceTime, TimeInduced
from tinns.nn.sum import Sum
from tinns.nn.trajectories import Layerwise, Linear


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
        if isinstance(field, Sum):
            return Sum(self.applied(field.first), self.applied(field.second))
        if isinstance(field, SpaceTime) and isinstance(field.network, MLP):
            return replace(field, network=self._widened(field.network))
        if isinstance(field, TimeInduced) and isinstance(field.backbone, MLP):
            path = field.trajectory
            if isinstance(path, Layerwise):
                path = replace(path, network=self._widened(path.network))
            if isinstance(path, Layerwise | Linear):
                return replace(field, backbone=self._widened(field.backbone), trajectory=path)
        raise UserError(
            f"Wider: {field!r} cannot grow; expected SpaceTime(MLP(...)), or TimeInduced(MLP(...)) "
            "with Layerwise(...) or Linear()"
        )

    def continued(self, psi: Params, fresh: Params) -> Params:
        return jax.tree.map(_embedded, psi, fresh)

    def _widened(self, network: MLP) -> MLP:
        hidden = tuple(max(width + 1, round(self.factor * width)) for width in network.hidden)
        return replace(network, hidden=hidden)


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
