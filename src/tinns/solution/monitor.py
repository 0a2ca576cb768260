"""The error during a run, on a thinned test grid."""

from collections.abc import Callable
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from tinns._runtime.compilation import jitted
from tinns.geometry import TIME, Coordinates
from tinns.nn import Field
from tinns.nn.windowed import in_window
from tinns.objective import Psi
from tinns.problem import Problem

POINTS = 5000  # about how many points the error is measured on

Span = tuple[float, float]


class Monitor:
    """‖u - u*‖ / ‖u*‖ over a span of time. The reference is evaluated once for each span."""

    def __init__(self, problem: Problem, windows: int = 1) -> None:
        self.problem, self.windows = problem, windows
        self._known: dict[Span, tuple[dict[str, np.ndarray], np.ndarray]] = {}
        self._field: Field | None = None
        self._program: Callable[..., Array] = _unset

    def __call__(self, field: Field, psi: Psi, start: float, end: float) -> float:
        points, values = self._over(start, end)
        if self._field is not field:
            self._field, self._program = field, self._compiled(field)
        return float(self._program(psi["field"], points, values, (start, end - start)))

    def _compiled(self, field: Field) -> Callable[..., Array]:
        domain, outputs = self.problem.domain, len(self.problem.unknowns)
        zero = (0,) * len(domain.axes)

        def measure(psi: PyTree, points: Coordinates, values: Array, span: Span) -> Array:
            own = in_window(field, *span) if self.windows > 1 else field

            def at(point: Coordinates) -> Array:
                return own.derivatives(psi, domain, outputs, point, [zero])[zero]

            difference = jax.vmap(at)(points)[:, : values.shape[1]] - values
            return jnp.linalg.norm(difference) / jnp.linalg.norm(values)

        return jitted(measure)

    @cached_property
    def _thinned(self) -> dict[str, np.ndarray]:
        grid = self.problem.test_grid()
        size = np.prod([len(points) for points in grid.values()])
        stride = max(1, round((size / POINTS) ** (1 / len(grid))))
        thinned = {axis: points[::stride] for axis, points in grid.items()}
        if self.windows > 1:  # as many times in each, so that one program serves them all
            thinned[TIME] = np.linspace(0, 1, max(3, len(thinned[TIME]) // self.windows + 1))
        return thinned

    def _over(self, start: float, end: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
        if (start, end) not in self._known:
            reference = self.problem.known_solution()
            assert reference is not None
            times = self._thinned[TIME]
            times = times if self.windows == 1 else start + (end - start) * times
            axes = self._thinned | {TIME: times}
            mesh = np.meshgrid(*axes.values(), indexing="ij")
            points = {a: m.reshape(-1) for a, m in zip(axes, mesh, strict=True)}
            values = reference.on_grid(**axes).reshape(mesh[0].size, -1)
            inside = self.problem.domain.contains(points)
            points = {axis: column[inside] for axis, column in points.items()}
            self._known[start, end] = points, values[inside]
        return self._known[start, end]


def _unset(*arguments: object) -> Array:
    raise RuntimeError("the error is measured on a field")
