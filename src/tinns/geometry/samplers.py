"""How points are drawn: numbers in the unit cube, and how many of them each region gets."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Key

from tinns._runtime.errors import UserError
from tinns.geometry.domain import Coordinates, Domain, Sampler


def spans_grids(sampler: Sampler) -> bool:
    """Whether a sampler draws tensor grids rather than single points."""
    return bool(getattr(sampler, "spans_grids", False))


@dataclass(frozen=True)
class Uniform:
    """Independent uniform points."""

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        return jax.random.uniform(key, (count, dimension))


@dataclass(frozen=True)
class QuasiRandom:
    """A randomly shifted additive recurrence: frac(shift + i·a), a_j = g^-j, g^(d+1) = g + 1.

    With the generalised golden ratio g this is the R_d sequence (M. Roberts, 2018); its
    discrepancy is close to that of Sobol points, at any count.
    """

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        ratio = 2.0
        for _ in range(60):
            ratio = (1 + ratio) ** (1 / (dimension + 1))
        steps = jnp.asarray(ratio ** -np.arange(1.0, dimension + 1))
        shift = jax.random.uniform(key, (dimension,))
        return (shift + jnp.arange(count)[:, None] * steps) % 1.0


@dataclass(frozen=True)
class TensorGrid:
    """`per_axis` uniform points on every axis, and all points of the grid that they span.

    For separable fields, which are cheap on grids. Regions that are not grids get single points.
    """

    per_axis: int = 256
    spans_grids = True

    def __post_init__(self) -> None:
        if not isinstance(self.per_axis, int) or self.per_axis < 1:
            raise UserError(f"TensorGrid: per_axis={self.per_axis!r}; expected a whole number >= 1")

    def axes(self, key: Key[Array, ""], domain: Domain) -> Coordinates:
        """The points of each axis."""
        return domain.draw_interior(key, self.per_axis, Uniform())

    def __call__(
        self, key: Key[Array, ""], count: int, dimension: int
    ) -> Float[Array, "{count} {dimension}"]:
        return Uniform()(key, count, dimension)


@dataclass(frozen=True)
class Counts:
    """How many points each kind of region gets; `boundary` is the total over all faces."""

    interior: int
    initial: int = 0
    boundary: int = 0

    def times(self, factor: int) -> "Counts":
        return Counts(factor * self.interior, factor * self.initial, factor * self.boundary)

    def __post_init__(self) -> None:
        for name, count in vars(self).items():
            if count < 0 or int(count) != count:
                raise UserError(f"{name} points: expected a whole number >= 0, got {count}")
