"""A solution: u(x, t) as a function, with its derivatives, its error and its history."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from functools import partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import ArrayLike

from tinns._runtime.compilation import jitted
from tinns._runtime.errors import UserError, unknown_name
from tinns._runtime.precision import computing_in
from tinns.geometry import TIME, Coordinates, Domain, MultiIndex
from tinns.nn import Field
from tinns.nn.fields import OnGrids
from tinns.nn.windowed import HasWindows
from tinns.objective import Psi
from tinns.problem.base import Problem
from tinns.problem.jets import multi_index
from tinns.problem.reference import Reference
from tinns.solution.coordinates import Columns, as_columns, checked_coordinates
from tinns.solution.quantities import evaluate_quantities, quantity_shapes, reference_field
from tinns.solution.uncertainty import Estimate
from tinns.solvers import History
from tinns.verification import Breakdown, Check, ErrorEstimate, Verdict, estimate_error

if TYPE_CHECKING:
    import xarray

EVALUATION_CHUNK = 65536  # points evaluated at once
GRID_CHUNK = 2**22  # points of a grid whose axes are evaluated


@dataclass(frozen=True)
class Solution:
    """u(x, t), mesh-free. Coordinates are given by name and broadcast against each other.

    With one unknown a call gives an array; with several, a dict of arrays by their names.
    """

    domain: Domain
    unknowns: tuple[str, ...]
    field: Field
    psi: Psi
    precision: str = "float64"
    problem: Problem | None = None
    history: History = dataclass_field(default_factory=History)
    result: Mapping[str, Any] = dataclass_field(default_factory=dict)

    def __repr__(self) -> str:
        name = self.problem.name if self.problem is not None else "an unnamed problem"
        facts = [f"{self.parameters} parameters"]
        if self.result.get("relative_l2") is not None:
            facts.append(f"relative L2 error {self.result['relative_l2']:.2e}")
        elif self.result.get("estimate"):
            facts.append(f"estimated error {self.result['estimate']['relative_l2']:.1e}")
        if self.verdict is not None:
            facts.append(self.verdict.status)
        if self.result.get("stop_reason"):
            facts.append(str(self.result["stop_reason"]))
        unknowns, axes = ", ".join(self.unknowns), ", ".join(self.domain.axes)
        return f"<Solution {unknowns}({axes}) of {name}: {', '.join(facts)}>"

    def __call__(
        self, *positional: object, extrapolate: bool = False, **coordinates: ArrayLike
    ) -> Any:
        """u at the given coordinates; outside the domain only with `extrapolate=True`."""
        if positional:
            example = ", ".join(f"{axis}=..." for axis in self.domain.axes)
            raise UserError(f"coordinates go by name: write solution({example})")
        zero = (0,) * len(self.domain.axes)
        values = self._evaluate(zero, coordinates, extrapolate)
        named = {name: values[..., n] for n, name in enumerate(self.unknowns)}
        return named if len(named) > 1 else named[self.unknowns[0]]

    def derivative(
        self, name: str, extrapolate: bool = False, **coordinates: ArrayLike
    ) -> np.ndarray:
        """A derivative such as "u_x" or "u_xxt", exact up to round-off."""
        unknown, _, letters = name.partition("_")
        if unknown not in self.unknowns and name[:1] in self.unknowns:
            raise UserError(f"derivative '{name}': write '{name[:1]}_{name[1:]}'")
        if unknown not in self.unknowns:
            raise unknown_name("function in derivative", unknown, self.unknowns)
        index = multi_index(letters, self.domain, unknown)
        values = self._evaluate(index, coordinates, extrapolate)
        return values[..., self.unknowns.index(unknown)]

    def quantity(
        self, name: str, extrapolate: bool = False, **coordinates: ArrayLike
    ) -> np.ndarray:
        """One of the problem's `quantities`; one made of m numbers adds a last axis of length m."""
        shapes = quantity_shapes(self.problem) if self.problem is not None else {}
        if name not in shapes:
            raise unknown_name("quantity", name, shapes)
        shape, columns = as_columns(self.domain, coordinates, extrapolate)
        values = self._quantities(self.field, self.psi, columns)[name]
        return values.reshape(shape + shapes[name])

    def grid(self, **axes: ArrayLike) -> "xarray.Dataset":
        """u on a tensor grid: a number of points per axis (101 if not given), or the points."""
        import xarray

        points = {axis: self._axis_points(axis, axes.pop(axis, None)) for axis in self.domain.axes}
        if axes:
            raise unknown_name("axis", next(iter(axes)), self.domain.axes)
        values = self._on_grid(points)
        inside = self._inside(points)
        values = values if inside.all() else np.where(inside[..., None], values, np.nan)
        named = {name: (tuple(points), values[..., n]) for n, name in enumerate(self.unknowns)}
        return xarray.Dataset(named, coords=points)

    @property
    def coefficients(self) -> dict[str, float]:
        """The estimated values of the trainable coefficients."""
        return {name: float(value) for name, value in self.psi["coefficients"].items()}

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The same with standard errors and 95 % intervals, which are local and linear."""
        stored = self.result.get("estimates") or {}
        return {name: Estimate.from_data(data) for name, data in stored.items()}

    @property
    def verdict(self) -> Verdict | None:
        """Whether to trust the solution, and why; None if it was never checked."""
        stored = self.result.get("verdict")
        return Verdict.from_data(stored) if stored else None

    def error_estimate(self, dimensions: int = 1, seconds: float | None = None) -> ErrorEstimate:
        """The relative L2 error, estimated without a reference.

        It is the estimate made at the end of the run. With `seconds` a new one is made, in about
        as much time; boxes of up to `dimensions` space dimensions are then solved classically.
        """
        stored = self.result.get("estimate")
        if stored and seconds is None and dimensions == 1:
            return ErrorEstimate.from_data(stored)
        if self.problem is None:
            raise UserError(
                "the error of a solution without its problem cannot be estimated: load it with "
                "tinns.load(path, problem=...)"
            )
        try:
            return estimate_error(
                self.problem,
                self.field,
                self.psi,
                dimensions=dimensions,
                budget=5.0 if seconds is None else seconds,
            )
        except Breakdown as breakdown:
            raise UserError(f"the error cannot be estimated: {breakdown}") from None

    def shortfall(self, required: float) -> str | None:
        """Why the estimated error is not known to be at most `required`; None if it is."""
        stored = self.result.get("estimate")
        if not stored:
            return f"no error was estimated, {required:g} is required"
        worst, name = ErrorEstimate.from_data(stored).worst
        whose = f" of {name}" if len(self.unknowns) > 1 else ""
        if worst <= required:
            return None
        return f"the estimated error{whose} is {worst:.1e}, at most {required:g} is required"

    def checked(self, check: Check | None = None) -> "Solution":
        """The solution checked again, by default on finer sets of points and in two dimensions.

        The new estimate and verdict are in its `result`.
        """
        from tinns.solution.judgement import judged

        return judged(self, check or Check.thorough())

    @property
    def parameters(self) -> int:
        """The number of fitted parameters, coefficients included."""
        return sum(np.size(leaf) for leaf in jax.tree.leaves(self.psi))

    def relative_l2(self, **axes: ArrayLike) -> float:
        """‖u - u*‖ / ‖u*‖ over the problem's test grid, or over the grid of the given axes."""
        difference, known = self._compared(axes)
        return float(np.linalg.norm(difference) / np.linalg.norm(known))

    def relative_l2_per_unknown(self, **axes: ArrayLike) -> dict[str, float]:
        """The same for each unknown function, relative to its own size."""
        difference, known = (
            values.reshape(-1, len(self.unknowns)) for values in self._compared(axes)
        )
        ratios = np.linalg.norm(difference, axis=0) / np.linalg.norm(known, axis=0)
        return {name: float(ratio) for name, ratio in zip(self.unknowns, ratios, strict=True)}

    def errors(self, **axes: ArrayLike) -> dict[str, float]:
        """‖q - q*‖ / ‖q*‖ for each of the problem's `quantities`, on the grid of `relative_l2`.

        A quantity that depends on a coefficient being estimated has no q*, and is left out.
        """
        problem = self.problem
        if problem is None or not quantity_shapes(problem):
            return {}
        reference = self.known()
        exact = reference_field(problem, reference)
        if exact is None:
            raise UserError(
                f"the reference of {problem.name} does not give all of "
                f"{', '.join(self.unknowns)}: no error of its quantities can be stated"
            )
        mesh = np.meshgrid(*self._test_axes(axes).values(), indexing="ij", sparse=True)
        _, columns = as_columns(self.domain, dict(zip(self.domain.axes, mesh, strict=True)), False)
        unknown = {"field": (), "coefficients": {name: np.nan for name in problem.trainable}}
        found = self._quantities(self.field, self.psi, columns)
        double = replace(self, precision="float64")  # like references, whatever the run used
        known = double._quantities(exact, unknown, columns, reference.chunk)
        return {
            name: float(np.linalg.norm(found[name] - values) / np.linalg.norm(values))
            for name, values in known.items()
            if not problem.trainable or np.isfinite(values).all()
        }

    def relative_l2_over_time(self, **axes: ArrayLike) -> "xarray.DataArray":
        """‖u(·, t) - u*(·, t)‖ / ‖u*(·, t)‖ for each time of the grid."""
        import xarray

        difference, known = self._compared(axes)
        space = tuple(n for n, axis in enumerate(self.domain.axes) if axis != TIME)
        over = (*space, *range(len(self.domain.axes), known.ndim))
        ratio = np.sqrt((difference**2).sum(axis=over) / (known**2).sum(axis=over))
        times = self._test_axes(axes)[TIME]
        return xarray.DataArray(ratio, coords={TIME: times}, dims=(TIME,))

    def jumps(self) -> np.ndarray:
        """‖u(t+) - u(t-)‖ / ‖u(t-)‖ where time windows meet; empty if there is one window."""
        axes = self._test_axes({})
        space = {axis: axes[axis] for axis in self.domain.space}
        mesh = np.meshgrid(*space.values(), indexing="ij")
        places = {axis: m.reshape(-1) for axis, m in zip(space, mesh, strict=True)}
        inside = self.domain.contains(places | {TIME: np.asarray(self.domain.start)})
        places = {axis: column[inside] for axis, column in places.items()}
        jumps = []
        for number, edge in enumerate(self.window_edges[1:-1], start=1):
            before, after = (self._in_window(n, places, edge) for n in (number - 1, number))
            jumps.append(np.linalg.norm(after - before) / np.linalg.norm(before))
        return np.array(jumps)

    @property
    def window_edges(self) -> tuple[float, ...]:
        """The edges of the time windows; for a single window, its start and end."""
        return getattr(self.field, "edges", (self.domain.start, self.domain.end))

    def _in_window(self, number: int, places: Columns, time: float) -> np.ndarray:
        """All unknowns at some places and a time, with the parameters of one window."""
        assert isinstance(self.field, HasWindows)
        own, psi, zero = self.field.window(number), self.psi["field"][number], self._zero
        columns = dict(places) | {TIME: np.full(len(next(iter(places.values()))), time)}

        def values(points: Coordinates) -> dict[str, Array]:
            return {"u": _derivative(own, self.domain, len(self.unknowns), zero, psi, points)}

        return self._in_pieces(values, columns)["u"]

    @property
    def _zero(self) -> MultiIndex:
        return (0,) * len(self.domain.axes)

    def save(self, path: str | Path) -> Path:
        """Write parameters and architecture as safetensors; `tinns.load` reads them back."""
        from tinns.solution.storage import save

        return save(self, path)

    def plot(self, path: str | Path) -> Path:
        """A picture of the solution (with the reference and the error where one is known)."""
        from tinns.solution.plots import plot_solution

        return plot_solution(self, path)

    def known(self) -> Reference:
        """The problem's reference; an error if there is none."""
        reference = self.problem.known_solution() if self.problem is not None else None
        if reference is None:
            raise UserError(
                "no reference is known for this solution: give the problem a reference(self), "
                "or load the solution with tinns.load(path, problem=...)"
            )
        return reference

    def _compared(self, axes: Mapping[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
        points = self._test_axes(axes)
        known = self.known().on_grid(**points)
        dataset = self.grid(**points)
        several = known.ndim > len(points)
        values = np.stack([dataset[n].values for n in self.unknowns], axis=-1)
        inside = self._inside(points)
        if not inside.all():  # points of the grid outside of the domain do not count
            known = np.where(inside[..., None] if several else inside, known, 0.0)
            values = np.where(inside[..., None], values, 0.0)
        return (values if several else values[..., 0]) - known, known

    def _inside(self, axes: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which points of a grid lie in the domain."""
        mesh = np.meshgrid(*axes.values(), indexing="ij", sparse=True)
        inside = self.domain.contains(dict(zip(axes, mesh, strict=True)))
        periodic = bool(self.domain.periodic)
        return np.ones_like(inside) if periodic else inside

    def _test_axes(self, axes: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        standard = self.problem.test_grid() if self.problem is not None else {}
        if TIME in standard:  # a run that was interrupted may end before the problem does
            standard[TIME] = standard[TIME][standard[TIME] <= self.domain.end]
        return {a: self._axis_points(a, axes.get(a, standard.get(a))) for a in self.domain.axes}

    def _axis_points(self, axis: str, given: ArrayLike | None) -> np.ndarray:
        lower, upper = self.domain.interval(axis)
        if given is None:
            given = 101
        if isinstance(given, int | np.integer):
            if given < 1:
                raise UserError(f"axis {axis}: expected at least 1 point, got {given}")
            return np.linspace(lower, upper, int(given))
        if isinstance(given, float):
            raise UserError(f"axis {axis}: expected a number of points or a list, got {given}")
        return np.atleast_1d(np.asarray(given, dtype=float))

    def _evaluate(
        self, index: MultiIndex, coordinates: Mapping[str, ArrayLike], extrapolate: bool
    ) -> np.ndarray:
        """∂^index of all unknowns, shape (broadcast shape, number of unknowns)."""
        shape, columns = as_columns(self.domain, coordinates, extrapolate)
        outputs = len(self.unknowns)

        def values(points: Coordinates) -> dict[str, Array]:
            psi = self.psi["field"]
            return {"u": _derivative(self.field, self.domain, outputs, index, psi, points)}

        return self._in_pieces(values, columns)["u"].reshape(*shape, outputs)

    def _on_grid(self, axes: dict[str, np.ndarray]) -> np.ndarray:
        """All unknowns on a grid, (len(x), ..., len(t), unknowns); axis by axis where possible."""
        field, outputs, psi = self.field, len(self.unknowns), self.psi["field"]
        if not isinstance(field, OnGrids):
            mesh = np.meshgrid(*axes.values(), indexing="ij", sparse=True)
            zero = (0,) * len(axes)
            return self._evaluate(zero, dict(zip(axes, mesh, strict=True)), extrapolate=False)
        space = checked_coordinates(self.domain, axes, extrapolate=False)
        times = space.pop(TIME)

        def values(
            slab: Coordinates,
        ) -> dict[str, Array]:  # time first: the axis of the pieces
            over_space = {axis: jnp.asarray(points) for axis, points in space.items()}
            on_slab = _values_on_grid(field, self.domain, outputs, psi, over_space | slab)
            return {"u": jnp.moveaxis(on_slab, -2, 0)}

        places = max(1, prod(len(points) for points in space.values()))
        chunk = max(1, GRID_CHUNK // places)
        return np.moveaxis(self._in_pieces(values, {TIME: times}, chunk)["u"], 0, -2)

    def _quantities(
        self, field: Field, psi: Psi, columns: Columns, chunk: int = EVALUATION_CHUNK
    ) -> dict[str, np.ndarray]:
        problem = self.problem
        assert problem is not None
        return self._in_pieces(
            lambda points: evaluate_quantities(problem, field, psi, points), columns, chunk
        )

    def _in_pieces(
        self,
        function: Callable[[Coordinates], dict[str, Array]],
        columns: Columns,
        chunk: int = EVALUATION_CHUNK,
    ) -> dict[str, np.ndarray]:
        """A function of many points, called with at most `chunk` of them at once."""
        count, pieces = columns[TIME].size, []
        with computing_in(self.precision):
            for first in range(0, max(count, 1), chunk):
                points = {n: jnp.asarray(c[first : first + chunk]) for n, c in columns.items()}
                pieces.append(jax.tree.map(partial(np.asarray, dtype=float), function(points)))
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


@partial(jitted, static_argnums=(0, 1, 2, 3))
def _derivative(
    field: Field, domain: Domain, outputs: int, index: MultiIndex, psi: Psi, points: Coordinates
) -> Array:
    return jax.vmap(lambda p: field.derivatives(psi, domain, outputs, p, [index])[index])(points)


@partial(jitted, static_argnums=(0, 1, 2))
def _values_on_grid(
    field: OnGrids, domain: Domain, outputs: int, psi: Psi, axes: Coordinates
) -> Array:
    zero = (0,) * len(domain.axes)
    return field.derivatives_on_grid(psi, domain, outputs, axes, [zero])[zero]
