"""A sentence about each table, with every number computed from the records."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tinns.paper.grouping import UNKNOWN_FUNCTION, Spread
from tinns.paper.lines import Line, rows_run
from tinns.paper.profiles import Profile
from tinns.paper.table_sheets import table_sheet
from tinns.paper.tables import ACCELERATED, ALGORITHM_1, Kind, Table

FAR = 2.0  # times the paper's error, or half of it, is mentioned
NONE = "none"


def summary_of(table: Table, lines: Sequence[Line], profile: Profile) -> str:
    """The table's sentence with its placeholders filled in."""
    return table.summary.format(**FACTS[table.kind](table, lines, profile))


def _errors(table: Table, lines: Sequence[Line], profile: Profile) -> dict[str, str]:
    ours: dict[str, dict[str, float]] = {}
    papers: dict[str, dict[str, float]] = {}
    worse: dict[str, list[str]] = {}
    better: dict[str, list[str]] = {}
    incomplete: dict[str, str] = {}
    counts = rows_run(lines)
    for line in lines:
        label = line.row.label
        for quantity in line.quantities:
            where = line.problem if quantity == UNKNOWN_FUNCTION else f"{line.problem}, {quantity}"
            error, stated = line.group.errors().get(quantity), line.printed_error(quantity)
            if stated and line.row.printed:
                papers.setdefault(where, {})[line.row.printed] = stated.mean
            if not error:
                continue
            ours.setdefault(where, {})[label] = error.mean
            run, rows = counts[line.problem]
            incomplete[where] = f" [{run} of {rows} run]" if run < rows else ""
            if stated and error.mean >= FAR * stated.mean:
                ratio = _ratio(error.mean, stated.mean)
                worse.setdefault(label, []).append(f"{where} ×{ratio}")
            if stated and error.mean <= stated.mean / FAR:
                ratio = _ratio(stated.mean, error.mean)
                better.setdefault(label, []).append(f"{where} ÷{ratio}")
    known = {where: errors for where, errors in papers.items() if where in ours}
    return {
        "lowest": _winners(ours, incomplete),
        "papers": _winners(known, {}),
        "worse": _listed(worse),
        "better": _listed(better),
    }


def _winners(errors: Mapping[str, Mapping[str, float]], remarks: Mapping[str, str]) -> str:
    """The methods of lowest error and where they win, if several were run there."""
    places: dict[str, list[str]] = {}
    for where, found in errors.items():
        if len(found) > 1:
            winner = min(found, key=lambda label: found[label])
            places.setdefault(winner, []).append(where + remarks.get(where, ""))
    return _listed(places)


def _listed(places: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{label} ({', '.join(at)})" for label, at in places.items()) or NONE


def _ratio(larger: float, smaller: float) -> str:
    """A ratio to two digits: 3.5, 140 or 2.1e+05."""
    ratio = float(f"{larger / max(smaller, np.finfo(float).tiny):.2g}")
    return f"{ratio:.1e}" if ratio >= 1e4 else f"{ratio:g}"


def _convergence(table: Table, lines: Sequence[Line], profile: Profile) -> dict[str, str]:
    rows = table_sheet(table, lines, profile).rows
    known = [row for row in rows if isinstance(row[3], float)]
    parts = []
    for label, number in ((ALGORITHM_1, 5), (ACCELERATED, 7)):
        reached = [row for row in known if row[number] is not None]
        slowest = max((float(str(row[number])) for row in reached), default=None)
        within = "" if slowest is None else f", the last after {slowest:.3g} s"
        parts.append(f"{label}: {len(reached)} of {len(known)}{within}")
    return {"reached": "; ".join(parts)}


def _speed(table: Table, lines: Sequence[Line], profile: Profile) -> dict[str, str]:
    factors, papers = [], []
    rows = table_sheet(table, lines, profile).rows
    for problem, _, source, _, _, first, _, second, *_, stated in rows:
        if source == "paper":
            papers.append(f"{stated:g} on {problem}")
            continue
        for label, speedup in ((ALGORITHM_1, first), (ACCELERATED, second)):
            shown = "not reached or not run" if speedup is None else f"{speedup:.3g}"
            factors.append(f"{label} on {problem}: {shown}")
    return {"factors": "; ".join(factors), "papers": ", ".join(papers)}


def _shares(table: Table, lines: Sequence[Line], profile: Profile) -> dict[str, str]:
    rows = table_sheet(table, lines, profile).rows

    def distance(number: int) -> str:
        apart = [
            100 * abs(ours.mean - papers)
            for ours, papers in ((row[number], row[5]) for row in rows)
            if isinstance(ours, Spread) and isinstance(papers, float)
        ]
        return f"{np.mean(apart):.1f}" if apart else "an unknown number of"

    return {"whole": distance(2), "centred": distance(3)}


FACTS: dict[Kind, Callable[[Table, Sequence[Line], Profile], dict[str, str]]] = {
    "errors": _errors,
    "convergence": _convergence,
    "speed": _speed,
    "shares": _shares,
}
