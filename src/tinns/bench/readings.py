"""What a table says, in a sentence whose every number is computed from the cells."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tinns.bench.cells import Profile
from tinns.bench.sheets import sheet_of
from tinns.bench.summary import UNKNOWN_FUNCTION, Group, Spread, rows_run
from tinns.bench.tables import ACCELERATED, ALGORITHM_1, Kind, Table

FAR = 2.0  # times the paper's error, or half of it, is worth saying
NONE = "none"


def reading(table: Table, groups: Sequence[Group], profile: Profile) -> str:
    """The table's sentence with its blanks filled in."""
    return table.reading.format(**FACTS[table.kind](table, groups, profile))


def _errors(table: Table, groups: Sequence[Group], profile: Profile) -> dict[str, str]:
    ours: dict[str, dict[str, float]] = {}
    papers: dict[str, dict[str, float]] = {}
    worse: dict[str, list[str]] = {}
    better: dict[str, list[str]] = {}
    incomplete: dict[str, str] = {}
    counts = rows_run(groups)
    for group in groups:
        for quantity in group.quantities:
            where = (
                group.problem if quantity == UNKNOWN_FUNCTION else f"{group.problem}, {quantity}"
            )
            error, stated = group.errors().get(quantity), group.printed_error(quantity)
            if stated and group.row.printed:
                papers.setdefault(where, {})[group.row.printed] = stated.mean
            if not error:
                continue
            ours.setdefault(where, {})[group.row.label] = error.mean
            run, rows = counts[group.problem]
            incomplete[where] = f" [{run} of {rows} run]" if run < rows else ""
            if stated and error.mean >= FAR * stated.mean:
                worse.setdefault(group.row.label, []).append(
                    f"{where} ×{_ratio(error.mean, stated.mean)}"
                )
            if stated and error.mean <= stated.mean / FAR:
                better.setdefault(group.row.label, []).append(
                    f"{where} ÷{_ratio(stated.mean, error.mean)}"
                )
    known = {where: errors for where, errors in papers.items() if where in ours}
    return {
        "lowest": _winners(ours, incomplete),
        "papers": _winners(known),
        "worse": _listed(worse),
        "better": _listed(better),
    }


def _winners(errors: dict[str, dict[str, float]], remarks: Mapping[str, str] = {}) -> str:
    """Who has the lowest error, where more than one has one, with a remark on the place."""
    places: dict[str, list[str]] = {}
    for where, found in errors.items():
        if len(found) > 1:
            told = where + remarks.get(where, "")
            places.setdefault(min(found, key=lambda label: found[label]), []).append(told)
    return _listed(places)


def _listed(places: dict[str, list[str]]) -> str:
    return "; ".join(f"{label} ({', '.join(at)})" for label, at in places.items()) or NONE


def _ratio(larger: float, smaller: float) -> str:
    """In two digits: 3.5, 140 or 2.1e+05."""
    ratio = float(f"{larger / max(smaller, np.finfo(float).tiny):.2g}")
    return f"{ratio:.1e}" if ratio >= 1e4 else f"{ratio:g}"


def _convergence(table: Table, groups: Sequence[Group], profile: Profile) -> dict[str, str]:
    rows = sheet_of(table, groups, profile).rows
    asked = [row for row in rows if isinstance(row[3], float)]
    told = []
    for label, number in ((ALGORITHM_1, 5), (ACCELERATED, 7)):
        reached = [row for row in asked if row[number] is not None]
        slowest = max((float(str(row[number])) for row in reached), default=None)
        within = "" if slowest is None else f", the last of them after {slowest:.3g} s"
        told.append(f"{label}: {len(reached)} of {len(asked)}{within}")
    return {"reached": "; ".join(told)}


def _speed(table: Table, groups: Sequence[Group], profile: Profile) -> dict[str, str]:
    told, papers = [], []
    for problem, _, whose, _, _, first, _, second, *_, factor in sheet_of(
        table, groups, profile
    ).rows:
        if whose == "paper":
            papers.append(f"{factor:g} on {problem}")
            continue
        for label, times in ((ALGORITHM_1, first), (ACCELERATED, second)):
            stated = "not reached or not run" if times is None else f"{times:.3g} times"
            told.append(f"{label} on {problem}: {stated}")
    return {"factors": "; ".join(told), "papers": ", ".join(papers)}


def _shares(table: Table, groups: Sequence[Group], profile: Profile) -> dict[str, str]:
    rows = sheet_of(table, groups, profile).rows

    def distance(number: int) -> str:
        pairs = [(row[number], row[5]) for row in rows]
        apart = [
            100 * abs(ours.mean - papers)
            for ours, papers in pairs
            if isinstance(ours, Spread) and isinstance(papers, float)
        ]
        return f"{np.mean(apart):.1f}" if apart else "an unknown number of"

    return {"whole": distance(2), "centred": distance(3)}


FACTS: dict[Kind, Callable[[Table, Sequence[Group], Profile], dict[str, str]]] = {
    "errors": _errors,
    "convergence": _convergence,
    "speed": _speed,
    "shares": _shares,
}
