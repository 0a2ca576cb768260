"""A table of values that can be written in every format."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tinns.paper.grouping import Spread

Value = str | int | float | Spread | None
NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """A heading and the format of the numbers below it; `spread` if they have deviations.

    If a terminal is too narrow, the columns of highest `rank` are left out first.
    """

    heading: str
    form: str = ""
    spread: bool = False
    rank: int = 0

    def text(self, value: Value) -> str:
        """A value as it is shown."""
        if value is None:
            return NOTHING
        if isinstance(value, Spread):
            mean = format(value.mean, self.form)
            return mean if value.deviation is None else f"{mean} ± {value.deviation:{self.form}}"
        return value if isinstance(value, str) else format(value, self.form)


@dataclass(frozen=True)
class Sheet:
    """A table of values; `best` holds the places (row, column) that are emphasised."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    title: str = ""
    best: frozenset[tuple[int, int]] = frozenset()
    notes: tuple[str, ...] = ()  # on these numbers
    remarks: tuple[str, ...] = ()  # on the table, whatever its numbers

    def texts(self) -> list[list[str]]:
        """All cells as they are shown, row by row."""
        return [
            [column.text(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]


def sheet_of(
    columns: Iterable[str | Column], rows: Iterable[Sequence[Value]], title: str = ""
) -> Sheet:
    """A sheet of values, or of texts under plain headings."""
    known = (Column(column) if isinstance(column, str) else column for column in columns)
    return Sheet(tuple(known), tuple(tuple(row) for row in rows), title)
