"""From the lines of a table to columns of numbers, one shape for each kind of table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tinns.bench.cells import Profile
from tinns.bench.display import shortened
from tinns.bench.summary import UNKNOWN_FUNCTION, Group, Spread, devices, spread
from tinns.bench.tables import ACCELERATED, ALGORITHM_1, PIRATENET, Kind, Row, Table
from tinns.published import printed, published
from tinns.training.stopping import TIME_IS_UP

Value = str | int | float | Spread | None


@dataclass(frozen=True)
class Column:
    """A heading, and how numbers under it are written; `spread` where they have deviations.

    Where there is no room for all, those of the highest `rank` go first.
    """

    heading: str
    form: str = ""
    spread: bool = False
    rank: int = 0


@dataclass(frozen=True)
class Sheet:
    """A table of values, with the places (row, column) of the best ones."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    best: frozenset[tuple[int, int]] = frozenset()
    notes: tuple[str, ...] = ()  # on these numbers
    remarks: tuple[str, ...] = ()  # on the table, whatever its numbers


def sheet_of(table: Table, groups: Sequence[Group], profile: Profile) -> Sheet:
    """The table as far as cells are there."""
    columns, rows, best = SHAPES[table.kind](table, groups)
    used = [number for number, column in enumerate(columns) if not _is_idle(column, number, rows)]
    places = frozenset((row, used.index(column)) for row, column in best if column in used)
    return Sheet(
        table.title,
        tuple(columns[n] for n in used),
        tuple(tuple(row[n] for n in used) for row in rows),
        places,
        (*_about(table, groups, profile), *_ended_early(groups, profile), *_failures(groups)),
        table.notes,
    )


QUANTITY, IMPROVEMENT = "quantity", "error / TINN's"


def _is_idle(column: Column, number: int, rows: Sequence[Sequence[Value]]) -> bool:
    """Columns that only some tables have something to say in."""
    values = {row[number] for row in rows}
    if column.heading == QUANTITY:
        return values <= {UNKNOWN_FUNCTION}
    return column.heading == IMPROVEMENT and values <= {None}


Shape = tuple[list[Column], list[tuple[Value, ...]], set[tuple[int, int]]]


def _errors(table: Table, groups: Sequence[Group]) -> Shape:
    columns = [
        Column("problem"),
        Column("method"),
        Column(QUANTITY),
        Column("error", ".2e", spread=True),
        Column("seeds", "d", rank=4),
        Column("seconds", ".4g", rank=2),
        Column("iterations", ".0f", rank=8),
        Column("ms per iteration", ".3g", rank=9),
        Column("parameters", ".0f", rank=6),
        Column("paper's error", ".2e", spread=True, rank=1),
        Column("paper's hours", "g", rank=7),
        Column("paper's error / ours", ".3g", rank=3),
        Column(IMPROVEMENT, ".3g", rank=5),
    ]
    measures = {g.problem: g.error() for g in groups if g.row.label == table.measure}
    rows: list[tuple[Value, ...]] = []
    means: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for group in groups:
        for quantity in group.quantities:
            error, papers = group.errors().get(quantity), group.printed_error(quantity)
            own, measure = group.row.label == table.measure, measures.get(group.problem)
            if error is not None:
                means.setdefault((group.problem, quantity), []).append((error.mean, len(rows)))
            rows.append(
                (
                    group.problem,
                    group.row.label,
                    quantity,
                    error if error or not group.reasons else _failed(group),
                    len(group.done) or None,
                    group.mean("seconds"),
                    group.mean("iterations"),
                    group.pace,
                    group.mean("parameters"),
                    papers,
                    group.printed.get("hours"),
                    papers.mean / error.mean if papers and error and error.mean else None,
                    error.mean / measure if error and measure and not own else None,
                )
            )
    best = {(min(known)[1], 3) for known in means.values() if len(known) > 1}
    return columns, rows, best


def _convergence(table: Table, groups: Sequence[Group]) -> Shape:
    tinns = (ALGORITHM_1, ACCELERATED)
    columns = [Column("problem"), Column("error of"), Column("whose"), Column("error", ".2e")]
    for label in tinns:
        columns += [Column(f"{label}: iterations", ".0f"), Column(f"{label}: seconds", ".4g")]
    columns += [Column("paper's TINN: iterations", "d"), Column("paper's TINN: seconds", "g")]
    rows: list[tuple[Value, ...]] = []
    for group in groups:
        if group.row.label in tinns:
            continue
        papers = printed(table.name, group.problem, group.row.printed)
        for whose, error in (("paper", papers.get("error")), ("ours", group.error())):
            reached = [
                _row(groups, group.problem, label).reaches(error, along)
                for label in tinns
                for along in ("iteration", "seconds")
            ]
            stated = [
                papers.get(n) if whose == "paper" else None for n in ("iterations", "seconds")
            ]
            shown = error if error is not None or not group.reasons else _failed(group)
            rows.append((group.problem, group.row.label, whose, shown, *reached, *stated))
    return columns, rows, set()


def _speed(table: Table, groups: Sequence[Group]) -> Shape:
    columns = [
        Column("problem"),
        Column("PirateNet's error", ".2e"),
        Column("whose"),
        Column("PirateNet: seconds", ".4g"),
        Column(f"{ALGORITHM_1}: seconds", ".4g"),
        Column("times faster", ".3g"),
        Column(f"{ACCELERATED}: seconds", ".4g"),
        Column("times faster", ".3g"),
        Column("paper's PirateNet: hours", "g"),
        Column("paper's TINN: hours", "g"),
        Column("paper's times faster", "g"),
    ]
    rows: list[tuple[Value, ...]] = []
    for problem in dict.fromkeys(group.problem for group in groups):
        pirate = _row(groups, problem, PIRATENET.label)
        papers = {n: printed(table.name, problem, n) for n in (PIRATENET.printed, "TINN")}
        threshold = papers[PIRATENET.printed].get("error")
        # To its own error PirateNet needs all its time, to the paper's what its curve tells.
        cases = (
            ("paper", threshold, pirate.reaches(threshold, "seconds")),
            ("ours", pirate.error(), pirate.mean("seconds")),
        )
        for whose, error, seconds in cases:
            cells: list[Value] = []
            for label in (ALGORITHM_1, ACCELERATED):
                needed = _row(groups, problem, label).reaches(error, "seconds")
                cells += [needed, seconds / needed if seconds and needed else None]
            stated: list[Value] = [None] * 3
            if whose == "paper":
                hours = [papers[n].get("hours") for n in (PIRATENET.printed, "TINN")]
                stated = [*hours, papers["TINN"].get("factor")]
            shown = error if error is not None or not pirate.reasons else _failed(pirate)
            rows.append((problem, shown, whose, seconds, *cells, *stated))
    return columns, rows, set()


def _shares(table: Table, groups: Sequence[Group]) -> Shape:
    columns = [
        Column("problem"),
        Column("matrix"),
        Column("share, whole", ".3f", spread=True),
        Column("share about the mean in time", ".3f", spread=True),
        Column("seeds", "d"),
        Column("paper's share", ".2f"),
    ]
    rows: list[tuple[Value, ...]] = []
    for group in groups:
        papers = published()[table.name][group.problem]
        for matrix, entry in papers.items():
            shares = [record["result"]["shares"][matrix] for record in group.done]
            both: list[Value] = [None, None]
            if shares:
                both = [spread([s[kind] for s in shares]) for kind in ("whole", "centred")]
            elif group.reasons:
                both = [_failed(group), None]
            seeds = len(shares) or None
            rows.append((group.problem, f"{matrix}(t)", *both, seeds, entry["share"]))
    return columns, rows, set()


SHAPES: dict[Kind, Callable[[Table, Sequence[Group]], Shape]] = {
    "errors": _errors,
    "convergence": _convergence,
    "speed": _speed,
    "shares": _shares,
}


def _row(groups: Sequence[Group], problem: str, label: str) -> Group:
    """The line of a problem with that label; an empty one where the table is restricted."""
    for group in groups:
        if (group.problem, group.row.label) == (problem, label):
            return group
    return Group(problem, Row(label, ""), (), {})


def _failed(group: Group) -> str:
    return f"failed: {shortened(group.reasons[0])}"


def _about(table: Table, groups: Sequence[Group], profile: Profile) -> list[str]:
    """How long methods were trained and on what."""
    found = devices(groups)
    if not found:
        return []
    length = {
        "paper": "as long as its recipe says",
        "smoke": "for two iterations with few layers and points, which shows that it runs",
    }.get(profile.name, f"for {profile.seconds or 0:g} seconds")
    where = published().get(table.name, {}).get("where")
    papers = f" The paper's figures: {where}; hours on one NVIDIA A6000." if where else ""
    counts = {len(group.done) for group in groups if group.done}
    seeds = " Lines differ in how many seeds were run." if len(counts) > 1 else ""
    mixed = " Devices differ: their seconds cannot be compared." if len(found) > 1 else ""
    return [
        f"Every method was trained {length}, on {' and '.join(found)}.{mixed} Seconds are training "
        f"without compilation; ± is the standard deviation over seeds.{seeds}{papers}"
    ]


def _ended_early(groups: Sequence[Group], profile: Profile) -> list[str]:
    """Runs that ended before the seconds of the profile were up, and why."""
    if profile.seconds is None:
        return []
    found = []
    for group in groups:
        stops = [record["result"].get("stop_reason", TIME_IS_UP) for record in group.done]
        early = [stop for stop in stops if stop != TIME_IS_UP]
        if early:
            told = f"{len(early)} of {len(stops)}: {', '.join(sorted(set(early)))}"
            found.append(f"{group.row.label} on {group.problem} ({told})")
    return [f"Ended by themselves before that: {'; '.join(found)}."] if found else []


def _failures(groups: Sequence[Group]) -> list[str]:
    """Seeds that failed beside others that did not."""
    return [
        f"{g.problem}, {g.row.label}: {len(g.reasons)} of {len(g.records)} seeds failed "
        f"({shortened(g.reasons[0])})."
        for g in groups
        if g.reasons and g.done
    ]
