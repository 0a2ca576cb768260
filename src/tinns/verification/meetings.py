"""Which conditions of a problem meet, where, and which of their derivatives are compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tinns.geometry import Box, Interior, LowerFace, MultiIndex, Observations
from tinns.problem.base import Problem
from tinns.verification.joint_rows import Demand
from tinns.verification.rows import Name, used
from tinns.verification.strata import Columns, Stratum, meeting, points_in, strata_of
from tinns.verification.tangential import TangentialRows, occurring, places_asked


@dataclass(frozen=True)
class _Part:
    """Rows of a condition at points of a stratum, with the numbers of the places they use."""

    number: int
    stratum: Stratum
    points: Columns
    names: frozenset[Name]  # the derivatives in these rows
    places: tuple[int, ...] = (0,)
    kinds: tuple[int, ...] | None = None  # which of the rows; None: all

    @property
    def indices(self) -> set[MultiIndex]:
        return {index for _, index in self.names}


_Group = list[tuple[int, Stratum]]  # conditions, by number, on one stratum
_Site = list[_Part]


class Meetings:
    """The conditions of a problem, by the strata on which they hold."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.domain = problem, problem.domain
        self.conditions = problem.all_conditions()
        self._names: dict[int, frozenset[Name]] = {}
        self.points = points_in(self.domain)
        self._groups: dict[object, _Group] = {}
        self._paired: list[tuple[int, str]] = []  # conditions that compare both ends of an axis
        for number, condition in enumerate(self.conditions):
            region = condition.region
            if not condition.weight or isinstance(region, Interior | Observations):
                continue
            self._names[number] = frozenset(used(problem, [condition]))
            places = places_asked(problem, condition)
            if places == 2 and isinstance(region, LowerFace) and isinstance(self.domain, Box):
                self._paired.append((number, region.axis))
            elif places == 1:
                for stratum in strata_of(self.domain, region):
                    self._groups.setdefault(stratum.key, []).append((number, stratum))

    def demands(self) -> list[list[Demand]]:
        """What is demanded at each place where conditions meet."""
        sites = [*self._crossings(), *self._comparisons(), *self._with_equation()]
        ordered = [[(part, self._orders(part, site)) for part in site] for site in sites]
        value = (0,) * len(self.domain.axes)
        ordered += [[(part, (value,)) for part in site] for site in self._seams()]
        wanted: dict[int, set[MultiIndex]] = {}
        for part, orders in (each for site in ordered for each in site):
            wanted.setdefault(part.number, set()).update(orders)
        rows = {
            number: TangentialRows(self.problem, self.conditions[number], orders)
            for number, orders in wanted.items()
        }
        return [[_demand(p, orders, rows[p.number]) for p, orders in site] for site in ordered]

    def _orders(self, part: _Part, site: _Site) -> tuple[MultiIndex, ...]:
        """Derivatives along the stratum that occur in the other conditions.

        With them no row contains higher derivatives than the conditions themselves.
        """
        others = {k for other in site if other is not part for k in other.indices}
        most = max(map(sum, others), default=0) - max(map(sum, part.indices))
        free = [axis in part.stratum.tangential for axis in self.domain.axes]
        along = {tuple(n * f for n, f in zip(k, free, strict=True)) for k in others}
        value = (0,) * len(self.domain.axes)
        return tuple({value, *(k for k in along if sum(k) <= most)})

    def _crossings(self) -> Iterator[_Site]:
        """Conditions on one stratum, and on two strata that meet."""
        groups = list(self._groups.values())
        for chosen in [*((g,) for g in groups), *combinations(groups, 2)]:
            together = [each for group in chosen for each in group]
            points = meeting(self.points, [stratum for _, stratum in together])
            if points is not None:
                yield [self._part(number, stratum, points) for number, stratum in together]

    def _comparisons(self) -> Iterator[_Site]:
        """Conditions that compare both ends of an axis, with the others there."""
        for number, axis in self._paired:
            ends = self._ends(axis)
            for group in [[], *self._groups.values()]:
                at_ends = self._at_ends(axis, group)
                if at_ends is None:
                    continue
                pair = self._part(number, ends[0], at_ends[0], (0, 1))
                if group:
                    yield [pair, *self._on_both(group, at_ends, (0, 1))]
                    continue
                on_faces = [
                    self._part(n, stratum, at_ends[place], (place,))
                    for own in self._groups.values()
                    for n, stratum in own
                    for place, end in enumerate(ends)
                    if stratum.fixed == end.fixed
                ]
                yield [pair, *on_faces]

    def _seams(self) -> Iterator[_Site]:
        """Conditions at both ends of periodic axes, which are one place."""
        for axis in self.domain.periodic:
            for group in self._groups.values():
                at_ends = self._at_ends(axis, group)
                if at_ends is not None:
                    yield self._on_both(group, at_ends, (0, 0))

    def _with_equation(self) -> Iterator[_Site]:
        """Conditions with those equations that contain no derivatives but given ones.

        Across the stratum, as in time at the start, the others have a derivative that is free.
        """
        for number, condition in enumerate(self.conditions):
            if not isinstance(condition.region, Interior) or not self._groups:
                continue
            by_row = occurring(self.problem, condition, self.points)
            for group in self._groups.values():
                across = [self.domain.axes.index(axis) for axis in group[0][1].fixed]
                points = meeting(self.points, [stratum for _, stratum in group])
                if points is None or not across:
                    continue
                given = {(u, k[across[0]]) for n, _ in group for u, k in self._names[n]}
                kinds = [
                    kind
                    for kind, names in enumerate(by_row)
                    if all((unknown, index[across[0]]) in given for unknown, index in names)
                ]
                if kinds:
                    names = frozenset(name for kind in kinds for name in by_row[kind])
                    inside = Stratum(self.domain.axes)
                    equation = _Part(number, inside, points, names, kinds=tuple(kinds))
                    yield [*(self._part(n, stratum, points) for n, stratum in group), equation]

    def _part(
        self, number: int, stratum: Stratum, points: Columns, places: tuple[int, ...] = (0,)
    ) -> _Part:
        return _Part(number, stratum, points, self._names[number], places)

    def _ends(self, axis: str) -> list[Stratum]:
        return [Stratum(self.domain.axes, {axis: end}) for end in self.domain.interval(axis)]

    def _at_ends(self, axis: str, group: _Group) -> list[Columns] | None:
        """The points of a group at both ends of an axis; None if it is not there."""
        strata = [stratum for _, stratum in group]
        if any(axis not in stratum.tangential for stratum in strata):
            return None
        found = [meeting(self.points, [*strata, end]) for end in self._ends(axis)]
        at_ends = [points for points in found if points is not None]
        return at_ends if len(at_ends) == 2 else None

    def _on_both(self, group: _Group, ends: list[Columns], places: tuple[int, int]) -> _Site:
        return [
            self._part(number, stratum, points, (place,))
            for number, stratum in group
            for points, place in zip(ends, places, strict=True)
        ]


def _demand(part: _Part, orders: Sequence[MultiIndex], rows: TangentialRows) -> Demand:
    chosen = np.zeros((len(rows.orders), rows.kinds), bool)
    kinds = range(rows.kinds) if part.kinds is None else part.kinds
    chosen[np.ix_([rows.orders.index(k) for k in orders], list(kinds))] = True
    return Demand(rows, part.points, part.stratum.normals_at(part.points), part.places, chosen)
