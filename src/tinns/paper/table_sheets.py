"""From the lines of a table of the paper to a sheet of numbers, one layout for each kind."""

from collections.abc import Callable, Sequence

from tinns.paper.grouping import UNKNOWN_FUNCTION, Group, spread
from tinns.paper.lines import Line
from tinns.paper.profiles import Profile
from tinns.paper.published import printed, published
from tinns.paper.sheet import Column, Sheet, Value
from tinns.paper.tables import ACCELERATED, ALGORITHM_1, PIRATENET, Kind, Row, Table
from tinns.solvers import StopReason

QUANTITY, IMPROVEMENT = "quantity", "error / TINN's"
SHORTENED = 60  # characters of a reason
Layout = tuple[list[Column], list[tuple[Value, ...]], set[tuple[int, int]]]


def table_sheet(table: Table, lines: Sequence[Line], profile: Profile) -> Sheet:
    """The table, as far as its cells are recorded."""
    columns, rows, best = LAYOUTS[table.kind](table, lines)
    used = [number for number, column in enumerate(columns) if not _is_unused(column, number, rows)]
    return Sheet(
        tuple(columns[n] for n in used),
        tuple(tuple(row[n] for n in used) for row in rows),
        table.title,
        frozenset((row, used.index(column)) for row, column in best if column in used),
        (*_conditions(table, lines, profile), *_stopped_early(lines, profile), *_failures(lines)),
        table.notes,
    )


def _is_unused(column: Column, number: int, rows: Sequence[Sequence[Value]]) -> bool:
    """Whether an optional column is empty in this table."""
    values = {row[number] for row in rows}
    if column.heading == QUANTITY:
        return values <= {UNKNOWN_FUNCTION}
    return column.heading == IMPROVEMENT and values <= {None}


def _errors(table: Table, lines: Sequence[Line]) -> Layout:
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
    measures = {a.problem: a.group.error for a in lines if a.row.label == table.measure}
    rows: list[tuple[Value, ...]] = []
    means: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for line in lines:
        group, own = line.group, line.row.label == table.measure
        for quantity in line.quantities:
            error, papers = group.errors().get(quantity), line.printed_error(quantity)
            measure = measures.get(line.problem)
            if error is not None:
                means.setdefault((line.problem, quantity), []).append((error.mean, len(rows)))
            rows.append(
                (
                    line.problem,
                    line.row.label,
                    quantity,
                    error or _failed(group),
                    group.seeds or None,
                    group.seconds,
                    group.iterations,
                    group.pace,
                    group.parameters,
                    papers,
                    line.printed.hours,
                    papers.mean / error.mean if papers and error and error.mean else None,
                    error.mean / measure if error and measure and not own else None,
                )
            )
    best = {(min(known)[1], 3) for known in means.values() if len(known) > 1}
    return columns, rows, best


def _convergence(table: Table, lines: Sequence[Line]) -> Layout:
    tinns = (ALGORITHM_1, ACCELERATED)
    columns = [Column("problem"), Column("error of"), Column("source"), Column("error", ".2e")]
    for label in tinns:
        columns += [Column(f"{label}: iterations", ".0f"), Column(f"{label}: seconds", ".4g")]
    columns += [Column("paper's TINN: iterations", "d"), Column("paper's TINN: seconds", "g")]
    rows: list[tuple[Value, ...]] = []
    for line in lines:
        if line.row.label in tinns:
            continue
        papers = printed(table.name, line.problem, line.row.printed)
        stated = ((papers.iterations, papers.seconds), (None, None))
        errors = (("paper", papers.error), ("ours", line.group.error))
        for (source, error), paper_reached in zip(errors, stated, strict=True):
            reached = [
                _group(lines, line.problem, label).reaches(error, along)
                for label in tinns
                for along in ("iteration", "seconds")
            ]
            shown = error if error is not None else _failed(line.group)
            rows.append((line.problem, line.row.label, source, shown, *reached, *paper_reached))
    return columns, rows, set()


def _speed(table: Table, lines: Sequence[Line]) -> Layout:
    columns = [
        Column("problem"),
        Column("PirateNet's error", ".2e"),
        Column("source"),
        Column("PirateNet: seconds", ".4g"),
        Column(f"{ALGORITHM_1}: seconds", ".4g"),
        Column("speedup", ".3g"),
        Column(f"{ACCELERATED}: seconds", ".4g"),
        Column("speedup", ".3g"),
        Column("paper's PirateNet: hours", "g"),
        Column("paper's TINN: hours", "g"),
        Column("paper's speedup", "g"),
    ]
    rows: list[tuple[Value, ...]] = []
    for problem in dict.fromkeys(line.problem for line in lines):
        pirate = _group(lines, problem, PIRATENET.label)
        theirs, tinn = (printed(table.name, problem, n) for n in (PIRATENET.printed, "TINN"))
        # PirateNet needs all its time for its own final error; the curve gives that for another.
        cases = (
            ("paper", theirs.error, pirate.reaches(theirs.error)),
            ("ours", pirate.error, pirate.seconds),
        )
        for source, error, seconds in cases:
            cells: list[Value] = []
            for label in (ALGORITHM_1, ACCELERATED):
                needed = _group(lines, problem, label).reaches(error)
                cells += [needed, seconds / needed if seconds and needed else None]
            stated = (theirs.hours, tinn.hours, tinn.factor) if source == "paper" else (None,) * 3
            shown = error if error is not None else _failed(pirate)
            rows.append((problem, shown, source, seconds, *cells, *stated))
    return columns, rows, set()


def _shares(table: Table, lines: Sequence[Line]) -> Layout:
    columns = [
        Column("problem"),
        Column("matrix"),
        Column("share, whole", ".3f", spread=True),
        Column("share about the mean in time", ".3f", spread=True),
        Column("seeds", "d"),
        Column("paper's share", ".2f"),
    ]
    rows: list[tuple[Value, ...]] = []
    for line in lines:
        for matrix, figures in published()[table.name].problems[line.problem].items():
            shares = line.group.shares(matrix)
            both: list[Value] = [_failed(line.group), None]
            if shares:
                both = [
                    spread([s["whole"] for s in shares]),
                    spread([s["centred"] for s in shares]),
                ]
            rows.append((line.problem, f"{matrix}(t)", *both, len(shares) or None, figures.share))
    return columns, rows, set()


LAYOUTS: dict[Kind, Callable[[Table, Sequence[Line]], Layout]] = {
    "errors": _errors,
    "convergence": _convergence,
    "speed": _speed,
    "shares": _shares,
}


def _group(lines: Sequence[Line], problem: str, label: str) -> Group:
    """The runs of a row on a problem; an empty group if the table was restricted."""
    for line in lines:
        if (line.problem, line.row.label) == (problem, label):
            return line.group
    return Line(problem, Row(label, "")).group


def shortened(reason: str | None, limit: int = SHORTENED) -> str:
    """A reason on one line, short enough for a table."""
    text = " ".join((reason or "reason unknown").split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _failed(group: Group) -> str | None:
    return f"failed: {shortened(group.reasons[0])}" if group.reasons else None


def _conditions(table: Table, lines: Sequence[Line], profile: Profile) -> list[str]:
    """How long the methods were trained, and on which device."""
    devices = sorted({record.device for line in lines for record in line.group.done})
    if not devices:
        return []
    length = {
        "paper": "for as long as its recipe says",
        "smoke": "for two iterations with few layers and points, to check that it runs",
    }.get(profile.name, f"for {profile.seconds or 0:g} seconds")
    notes = [f"Each method was trained {length} on {' and '.join(devices)}."]
    if len(devices) > 1:
        notes.append("Seconds on different devices are not comparable.")
    notes.append("Seconds exclude compilation; ± is the standard deviation over seeds.")
    if len({line.group.seeds for line in lines if line.group.done}) > 1:
        notes.append("The number of seeds differs between rows.")
    if table.name in published():
        where = published()[table.name].where
        notes.append(f"The paper's figures are from {where}; hours on one NVIDIA A6000.")
    return [" ".join(notes)]


def _stopped_early(lines: Sequence[Line], profile: Profile) -> list[str]:
    """Runs that stopped before the profile's time limit, and why."""
    if profile.seconds is None:
        return []
    found = []
    for line in lines:
        stops = [record.stop_reason or StopReason.SECONDS for record in line.group.done]
        early = [stop for stop in stops if stop != StopReason.SECONDS]
        if early:
            reasons = f"{len(early)} of {len(stops)}: {', '.join(sorted(set(early)))}"
            found.append(f"{line.row.label} on {line.problem} ({reasons})")
    return [f"Runs that stopped before the time limit: {'; '.join(found)}."] if found else []


def _failures(lines: Sequence[Line]) -> list[str]:
    """Seeds that failed while others of the same line did not."""
    return [
        f"{a.problem}, {a.row.label}: {len(a.group.reasons)} of {len(a.group.records)} seeds "
        f"failed ({shortened(a.group.reasons[0])})."
        for a in lines
        if a.group.reasons and a.group.done
    ]
