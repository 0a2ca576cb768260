"""What a domain is: named axes, how points are drawn inside it and on its boundary."""

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import numpy as np
from jax import Array

TIME = "t"

MultiIndex = tuple[int, ...]  # the order of a derivative along each axis, space first, t last

Coordinates = dict[str, Array]  # equally long arrays by axis name
Sampler = Callable[
    [Array, int, int], Array
]  # key, count, dimension -> (count, dimension) in [0, 1)


@runtime_checkable
class Domain(Protocol):
    """Ω x [t0, t1], with space axes first and `t` last.

    A geometry of your own is one class with these members; `Box` is the one that comes with the
    package. Drawing is a pure JAX function of a key, so that a compiled program can draw points.
    A sampler supplies numbers in the unit cube, and the domain maps them to points.
    """

    @property
    def axes(self) -> tuple[str, ...]:
        """All axis names, space first and t last; single lower-case letters."""
        ...

    @property
    def space(self) -> tuple[str, ...]:
        """The space axes."""
        ...

    @property
    def periodic(self) -> tuple[str, ...]:
        """Space axes on which networks are periodic; usually none."""
        ...

    @property
    def start(self) -> float:
        """The initial time."""
        ...

    @property
    def end(self) -> float:
        """The final time."""
        ...

    def interval(self, axis: str) -> tuple[float, float]:
        """The smallest interval that contains the domain along an axis; networks scale by it."""
        ...

    def over(self, start: float, end: float) -> "Domain":
        """The same space over another time interval."""
        ...

    def draw_interior(self, key: Array, count: int, sampler: Sampler) -> Coordinates:
        """`count` points of Ω x [t0, t1]."""
        ...

    def draw_initial(
        self, key: Array, count: int, sampler: Sampler, within: Mapping[str, tuple[float, float]]
    ) -> Coordinates:
        """`count` points of Ω at t0, inside the given intervals of some axes."""
        ...

    def draw_boundary(
        self, key: Array, count: int, sampler: Sampler, parts: tuple[str, ...]
    ) -> tuple[Coordinates, Coordinates]:
        """About `count` points of ∂Ω x [t0, t1] and the outward normals there, by space axis.

        `parts` names parts of the boundary, such as the faces of a box; empty means all of it.
        """
        ...

    def contains(self, points: Mapping[str, np.ndarray]) -> np.ndarray:
        """Whether points, given by coordinates that broadcast together, lie in the domain."""
        ...
