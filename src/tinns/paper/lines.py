"""Lines of a table: a row on one problem, the group of its runs, and the paper's figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from tinns.paper.cells import cell_of
from tinns.paper.grouping import UNKNOWN_FUNCTION, Group, Spread, absolute, with_latest_settings
from tinns.paper.profiles import Profile
from tinns.paper.published import Figures, printed
from tinns.paper.store import Store, is_current
from tinns.paper.tables import Row, Table


@dataclass(frozen=True)
class Line:
    """One row of a table on one problem."""

    problem: str
    row: Row
    group: Group = Group()
    printed: Figures = Figures()

    @property
    def quantities(self) -> list[str]:
        """The quantities whose errors are known, here or in the paper."""
        return list(self.group.errors()) or list(self._stated()) or [UNKNOWN_FUNCTION]

    def printed_error(self, quantity: str) -> Spread | None:
        """The paper's error; if it does not name the quantity, of the first one."""
        if self.printed.error is not None and quantity == self.quantities[0]:
            return Spread(self.printed.error, self.printed.deviation)
        stated = self._stated()
        return Spread(stated[quantity]) if quantity in stated else None

    def _stated(self) -> dict[str, float]:
        return {absolute(name): e for name, e in self.printed.coefficient_errors.items()}


def lines_of(table: Table, profile: Profile, store: Store, only_current: bool = True) -> list[Line]:
    """The lines of a table, from records with the current settings, or else with the latest."""
    lines = []
    for problem in table.problems:
        for row in table.rows_of(problem):
            cell = cell_of(row, problem, 0, profile)
            records = store.seeds(cell)
            if only_current:
                records = [record for record in records if is_current(record, cell, profile)]
            # Tables of other kinds are computed from the cells of the main table.
            source = table.name if table.kind == "errors" else "main"
            figures = printed(source, problem, row.printed)
            lines.append(Line(problem, row, Group(with_latest_settings(records)), figures))
    return lines


def rows_run(lines: Sequence[Line]) -> dict[str, tuple[int, int]]:
    """For every problem, how many rows have records, and how many rows there are."""
    by_problem: dict[str, list[bool]] = {}
    for line in lines:
        by_problem.setdefault(line.problem, []).append(bool(line.group.records))
    return {problem: (sum(run), len(run)) for problem, run in by_problem.items()}
