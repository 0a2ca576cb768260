"""Whether the conditions of a problem determine its solution.

The problem is linearised at a solution. A change e of the unknowns goes unnoticed if all rows A e
are far smaller than e. The smallest ‖A e‖ / ‖e‖ is sought among polynomials e of space and time,
which can only be too few: a problem that determines its solution has a positive lower bound for all
functions. Where solutions grow quickly that bound is small as well; what the solution is at the
initial time and on the boundary then does not raise it, while it excludes other changes.
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import jax
import numpy as np

from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns.geometry import TIME, Box, Counts, Domain, Initial, Interior
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales, lengths_of
from tinns.problem.base import Problem
from tinns.verification.linear_model import Linearisation, Rows
from tinns.verification.polynomials import polynomials_up_to

COUNTS = {1: Counts(1000, 200, 200), 2: Counts(1000, 400, 800), 3: Counts(800, 600, 1800)}
COLUMNS = 560  # at most, of all unknowns together
HIGHEST = 20  # degree of polynomials
UNNOTICED = 1e-6  # ‖A e‖ / ‖e‖ of a change that no condition notices
EXCLUDED = 1e-3  # of values that exclude a change
LEAST_SHARE = 1e-2  # of an unknown in a change
LEAST_TERM = 0.1  # of an unknown in an equation, relative to the largest
PLACES = 200  # points at which an unknown is taken as known

Kind = Literal["constant", "function of time", "function of space", "function", "coefficients"]
_WORDS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Undetermined:
    """A change of unknowns or coefficients that no condition notices."""

    names: tuple[str, ...]  # the unknowns and coefficients that it changes
    kind: Kind
    missing: tuple[str, ...]  # what would exclude it, as far as that is known
    sentence: str


@dataclass(frozen=True)
class Determinacy:
    """Whether a solution is determined; `weakest` is the smallest ‖A e‖ / ‖e‖ of any change e."""

    weakest: float
    undetermined: tuple[Undetermined, ...] = ()
    seconds: float = 0.0

    @property
    def determined(self) -> bool:
        return not self.undetermined

    @property
    def sentence(self) -> str:
        found = [each.sentence for each in self.undetermined]
        return "; ".join(found) or "the conditions determine the solution"

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives the result back."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Determinacy":
        found = [
            Undetermined(tuple(u["names"]), u["kind"], tuple(u["missing"]), u["sentence"])
            for u in data["undetermined"]
        ]
        return cls(data["weakest"], tuple(found), data["seconds"])


def check_determinacy(
    problem: Problem,
    field: Field,
    psi: Psi,
    *,
    scales: Scales | None = None,
    budget: float = 3.0,
    seed: int = 0,
) -> Determinacy:
    """Whether the conditions determine the solution, a field with parameters ψ.

    It takes a few seconds, most of them for compilation; with a `budget` of less than two seconds
    it looks among fewer changes.
    """
    started = time.monotonic()
    on_host = jax.default_device(jax.devices("cpu")[0])
    with single_threaded_blas(), computing_in("float64"), on_host:
        check = _Check(problem, field, psi, scales, seed, COLUMNS if budget >= 2 else COLUMNS // 2)
        weakest, found = check.result()
    return Determinacy(weakest, found, time.monotonic() - started)


@dataclass(frozen=True)
class _Place:
    """A derivative of an unknown along one axis, at the initial or final time or on a face."""

    unknown: int
    axis: str
    value: float
    order: int
    what: str  # is given there
    face: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} at {self.face}" if self.face else self.what


class _Check:
    """The linearised rows of a problem, and the changes that they do not notice."""

    def __init__(
        self,
        problem: Problem,
        field: Field,
        psi: Psi,
        scales: Scales | None,
        seed: int,
        columns: int,
    ) -> None:
        self.problem, self.domain, self.unknowns = problem, problem.domain, problem.unknowns
        self.model = Linearisation(problem, field, COUNTS[len(self.domain.space)], scales)
        # Later windows are determined as the first one is, unless there are observations.
        windows = self.model.windows if problem.has_observations else 1
        self.span = (self.model.span(0)[0], self.model.span(windows - 1)[1])
        self.basis = polynomials_up_to(
            self.domain, columns // len(self.unknowns), self.span, HIGHEST
        )
        rows = _rows(self.model, psi, windows, seed)
        self.sizes, rescaled = _balanced(rows, self.domain, self.span, self.model.scales.sizes)
        self.coefficient_sizes = self._coefficient_sizes(psi, rows)
        self.equations = sum(
            rows.residual.shape[1]
            for rows in rescaled
            if isinstance(rows.condition.region, Interior)
        )
        self.matrix = self._matrix(rescaled)
        self.held = lambda: self._matrix(
            _rescaled(_rows(self.model, psi, windows, seed + 1), rows, rescaled)
        )

    def result(self) -> tuple[float, tuple[Undetermined, ...]]:
        ratios, changes = smallest_ratios(self.matrix)
        weakest = float(ratios[0])
        null = changes[:, ratios < UNNOTICED]
        if null.shape[1]:
            # Noticed at other points means that the points were too few for these changes.
            _, kept, turned = np.linalg.svd(self.held() @ null, full_matrices=False)
            null = null @ turned[kept < 10 * UNNOTICED].T
        if not null.shape[1]:
            return weakest, ()
        by_coefficient = self._of_coefficients(null)
        if by_coefficient:
            return weakest, (by_coefficient,)
        found = self._of_one_kind(null) or self._of_any_kind(null, weakest)
        return weakest, (found,) if found else ()

    def _of_coefficients(self, null: np.ndarray) -> Undetermined | None:
        """Coefficients that are not determined, whatever the unknowns are."""
        names = tuple(self.problem.trainable)
        if not names:
            return None
        own = null[-len(names) :]
        left, sizes, turned = np.linalg.svd(own, full_matrices=False)
        if sizes[0] < LEAST_SHARE:
            return None
        direction, change = left[:, 0], null @ turned[0]
        involved = np.flatnonzero(np.abs(direction) > LEAST_SHARE * np.abs(direction).max())
        chosen = tuple(names[n] for n in involved)
        with_unknowns = np.linalg.norm(change[: -len(names)]) > LEAST_SHARE
        listed = _listed(chosen)
        verb = "is" if len(chosen) == 1 else "are"
        if with_unknowns:
            says = f"a change of {listed} goes unnoticed if the solution changes with it"
        elif len(chosen) == 1:
            says = f"no condition notices a change of {listed}"
        else:
            says = "no condition notices if " + _listed(
                [_in_percent(names[n], direction[n] / direction[involved[0]]) for n in involved]
            )
        sentence = f"{listed} {verb} not determined: {says}"
        return Undetermined(chosen, "coefficients", (), sentence)

    def _of_one_kind(self, null: np.ndarray) -> Undetermined | None:
        """All changes are constants, or functions of time alone or of space alone."""
        kinds: list[tuple[Kind, tuple[str, ...]]] = [
            ("constant", ()),
            ("function of time", (TIME,)),
            ("function of space", self.domain.space),
        ]
        functions = self.basis.count
        for kind, axes in kinds:
            among = np.tile(self.basis.among(axes, self.domain), len(self.unknowns))
            outside = null[: functions * len(self.unknowns)][~among]
            if np.linalg.norm(outside, 2) < 1e-3:
                names = self._involved(null)
                added = self._added(kind, names)
                verb = "is" if len(names) == 1 else "are"
                sentence = (
                    f"{_listed(names)} {verb} not determined: the conditions do not see {added}"
                )
                return Undetermined(names, kind, (), sentence)
        return None

    def _added(self, kind: Kind, names: tuple[str, ...]) -> str:
        to = f"added to {_listed(names)}"
        space = ", ".join(self.domain.space)
        return {
            "constant": f"a constant {to}",
            "function of time": f"a constant {to} at each time (a function of t)",
            "function of space": f"a function of {space} {to} that is the same at all times",
        }[kind]

    def _of_any_kind(self, null: np.ndarray, weakest: float) -> Undetermined | None:
        """What is known at the initial time and on the boundary excludes other changes."""
        names = self._involved(null)
        verb = "is" if len(names) == 1 else "are"
        start = f"{_listed(names)} {verb} not determined"
        places = self._places()
        everywhere = [*places, *self._at_end()]
        complete, _ = smallest_ratios(np.vstack([self.matrix, self._known(everywhere)]))
        if complete[0] < UNNOTICED:
            equations, unknowns = self.equations, len(self.unknowns)
            says = f"the equations allow changes of {_listed(names)} inside the domain"
            if equations < unknowns:
                verb = "is" if equations == 1 else "are"
                says = f"there {verb} {_count(equations, 'equation')} for {_count(unknowns, 'unknown')}"
            return Undetermined(names, "function", ("an equation",), f"{start}: {says}")
        complete, _ = smallest_ratios(np.vstack([self.matrix, self._known(places)]))
        if weakest > UNNOTICED * complete[0]:
            return None  # small because solutions grow
        missing = self._missing(places, max(UNNOTICED, 1e-4 * complete[0]))
        what = f"; {_listed(_joined(missing))} may be missing" if missing else ""
        says = f"no condition notices certain changes of {_listed(names)}"
        named = tuple(place.name for place in missing)
        return Undetermined(names, "function", named, f"{start}: {says}{what}")

    def _missing(self, places: list[_Place], unnoticed: float) -> list[_Place]:
        """The fewest values that exclude all changes, found one by one."""
        missing: list[_Place] = []
        matrix = self.matrix
        while len(missing) < len(places):
            ratios, changes = smallest_ratios(matrix)
            null = changes[:, ratios < unnoticed]
            if not null.shape[1]:
                break
            left = [self._not_excluded(null, place).shape[1] for place in places]
            if min(left) == null.shape[1]:
                break
            best = places[int(np.argmin(left))]
            missing.append(best)
            matrix = np.vstack([matrix, self._known([best])])
        return sorted(missing, key=places.index)

    def _not_excluded(self, null: np.ndarray, place: _Place) -> np.ndarray:
        _, sizes, turned = np.linalg.svd(self._known([place]) @ null, full_matrices=False)
        return null @ turned[sizes < EXCLUDED].T

    def _involved(self, null: np.ndarray) -> tuple[str, ...]:
        functions = self.basis.count
        shares = [
            np.linalg.norm(null[n * functions : (n + 1) * functions], 2)
            for n in range(len(self.unknowns))
        ]
        names = zip(self.unknowns, shares, strict=True)
        return tuple(name for name, share in names if share > LEAST_SHARE * max(shares))

    def _places(self) -> list[_Place]:
        """What may be given at the initial time and on the faces of a box."""
        found = []
        for number, unknown in enumerate(self.unknowns):
            for order in range(self._order(number, TIME)):
                what = f"the initial {_derivative('value', 'velocity', order)} of {unknown}"
                found.append(_Place(number, TIME, self.span[0], order, what))
        faces = self.domain.faces if isinstance(self.domain, Box) else ()
        orders = max(
            self._order(n, a) for n in range(len(self.unknowns)) for a in self.domain.space
        )
        for order in range(orders):
            for number, unknown in enumerate(self.unknowns):
                for face in faces:
                    if order < self._order(number, face.axis):
                        what = f"the {_derivative('value', 'slope', order)} of {unknown}"
                        place = _Place(number, face.axis, face.value, order, what, face.name)
                        found.append(place)
        return found

    def _at_end(self) -> list[_Place]:
        return [
            _Place(n, TIME, self.span[1], order, "")
            for n in range(len(self.unknowns))
            for order in range(self._order(n, TIME))
        ]

    def _order(self, unknown: int, axis: str) -> int:
        """The highest derivative of an unknown along an axis in the equation."""
        number = self.domain.axes.index(axis)
        orders = [
            k[number]
            for rows, own in self._interior_slopes
            for n, k in enumerate(rows.indices)
            if own[n, unknown]
        ]
        return max(orders, default=0)

    def _known(self, places: Sequence[_Place]) -> np.ndarray:
        """Rows that vanish if the unknowns do not change at these places."""
        lengths = lengths_of(self.domain) | {TIME: self.span[1] - self.span[0]}
        functions, total = self.basis.count, self.matrix.shape[1]
        random = np.random.default_rng(0)
        columns = {}
        for axis in self.domain.axes:
            low, high = self.span if axis == TIME else self.domain.interval(axis)
            columns[axis] = (
                low + high - (high - low) * np.cos(random.uniform(0, np.pi, PLACES))
            ) / 2
        found = []
        for place in places:
            points = columns | {place.axis: np.full(PLACES, place.value)}
            index = tuple(place.order * (axis == place.axis) for axis in self.domain.axes)
            values = self.basis.derivatives(self.domain, points, [index])[index]
            block = np.zeros((PLACES, total))
            first = place.unknown * functions
            block[:, first : first + functions] = (
                values * lengths[place.axis] ** place.order / np.sqrt(PLACES)
            )
            found.append(block)
        return np.concatenate(found)

    def _matrix(self, rows: Sequence[Rows]) -> np.ndarray:
        """The changes of all rows by the functions, for unknowns of size one, and coefficients."""
        self._interior_slopes = [
            (r, np.max([np.abs(s).max(axis=(0, 1)) for s in r.slopes], axis=0) > 0)
            for r in rows
            if isinstance(r.condition.region, Interior)
        ]
        parts = []
        for each in rows:
            own = each.columns(self.domain, self.basis)  # pyright: ignore[reportArgumentType]
            own = own * np.repeat(self.sizes, self.basis.count)
            parts.append(np.hstack([own, each.coefficient_columns() * self.coefficient_sizes]))
        return np.concatenate(parts)

    def _coefficient_sizes(self, psi: Psi, rows: Sequence[Rows]) -> np.ndarray:
        """The value of each coefficient; for one that is zero, what changes rows by one."""
        values = np.array([abs(float(psi["coefficients"][n])) for n in self.problem.trainable])
        effects = np.sqrt(sum((r.coefficient_columns() ** 2).sum(axis=0) for r in rows))
        return np.where(values > 0, values, 1 / np.where(effects > 0, effects, 1.0))


def smallest_ratios(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stationary values of ‖A c‖ / ‖c‖ in ascending order, and the unit vectors c.

    Columns of very different size, as of derivatives of high degree, cost no accuracy: the smallest
    values are accurate although A has columns 10^10 times as large.
    """
    shrunk = 1 / np.maximum(np.linalg.norm(matrix, axis=0), 1.0)
    upper = np.linalg.qr(matrix * shrunk, mode="r")
    _, sizes, turned = np.linalg.svd(upper, full_matrices=True)
    sizes = np.append(sizes, np.zeros(matrix.shape[1] - len(sizes)))
    sizes = np.maximum(sizes, 1e-16 * sizes[0])
    changes, inverse, _ = np.linalg.svd((shrunk[:, None] * turned.T) / sizes)
    return 1 / inverse, changes


def _rows(model: Linearisation, psi: Psi, windows: int, seed: int) -> list[Rows]:
    """The rows of the first windows; the initial conditions belong to the first one."""
    return [
        replace(rows, weight=rows.weight / np.sqrt(windows))
        for window in range(windows)
        for rows in model.rows(psi, window, seed)
        if window == 0 or not isinstance(rows.condition.region, Initial)
    ]


def _balanced(
    rows: Sequence[Rows], domain: Domain, span: tuple[float, float], sizes: Sequence[float]
) -> tuple[np.ndarray, list[Rows]]:
    """Sizes of unknowns and rows that are scaled to them.

    Data do not always say how large an unknown becomes, such as one that is zero at first: it is
    large enough to matter in one of the equations that contain it.
    """
    lengths = lengths_of(domain) | {TIME: span[1] - span[0]}
    found = np.array(sizes, float)
    interior = [r for r in rows if isinstance(r.condition.region, Interior)]
    for _ in range(len(found)):
        terms = np.concatenate([_terms(r, domain, lengths) for r in interior])  # (rows, unknowns)
        with np.errstate(divide="ignore", invalid="ignore"):
            wanted = LEAST_TERM * (terms * found).max(axis=1, keepdims=True) / terms
        wanted = np.where(terms > 0, wanted, np.inf).min(axis=0)
        found = np.maximum(found, np.where(np.isfinite(wanted), wanted, 0.0))
    scaled = []
    for each in rows:
        largest = (_terms(each, domain, lengths) * found).max(axis=1)
        scaled.append(replace(each, weight=each.weight / np.where(largest > 0, largest, 1.0)))
    return found, scaled


def _rescaled(others: Sequence[Rows], rows: Sequence[Rows], scaled: Sequence[Rows]) -> list[Rows]:
    """Rows at other points, scaled as these were."""
    found = []
    for other, before, after in zip(others, rows, scaled, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.nanmax(
                np.where(before.weight > 0, after.weight / before.weight, 0.0), axis=0
            )
        found.append(replace(other, weight=other.weight * factor))
    return found


def _terms(rows: Rows, domain: Domain, lengths: dict[str, float]) -> np.ndarray:
    """The largest mean change of each row by each unknown of size one: (rows, unknowns)."""
    units = [
        np.prod([lengths[a] ** -order for a, order in zip(domain.axes, k, strict=True)])
        for k in rows.indices
    ]
    mean = sum(
        np.sqrt(((slopes * rows.weight[:, :, None, None]) ** 2).sum(axis=0))
        for slopes in rows.slopes
    )
    return (mean * np.array(units)[None, :, None]).max(axis=1)


def _joined(places: Sequence[_Place]) -> list[str]:
    """What is given, with all faces at which it is."""
    faces: dict[str, list[str]] = {}
    for place in places:
        faces.setdefault(place.what, []).append(place.face)
    return [f"{w} at {_listed(own)}" if any(own) else w for w, own in faces.items()]


def _in_percent(name: str, change: float) -> str:
    size = abs(change)
    return f"{name} is {size:.3g} % {'larger' if change > 0 else 'smaller'}"


def _derivative(zeroth: str, first: str, order: int) -> str:
    ordinals = {2: "second", 3: "third"}
    return (
        (zeroth, first)[order] if order < 2 else f"{ordinals.get(order, f'{order}th')} derivative"
    )


def _count(number: int, what: str) -> str:
    word = _WORDS[number] if number < len(_WORDS) else str(number)
    return f"{word} {what}{'s' * (number != 1)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
