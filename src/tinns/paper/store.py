"""Cells on disk: one record each, written as soon as it ends, shared by all tables."""

from collections.abc import Iterable
from pathlib import Path

from tinns.paper.cells import Cell, current_settings
from tinns.paper.profiles import Profile
from tinns.paper.records import Record, Status, read_folder, read_record, write_record


class Store:
    """A folder of cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        """The file of a cell."""
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> Record | None:
        """The record of a cell; None if there is none."""
        path = self.path(cell)
        return read_record(path) if path.exists() else None

    def write(self, cell: Cell, record: Record) -> Path:
        """Write the record of a cell."""
        return write_record(self.path(cell), record)

    def status(self, cell: Cell, profile: Profile) -> Status:
        """Whether a cell is recorded, with the settings that it has now."""
        record = self.read(cell)
        if record is None:
            return Status.MISSING
        return record.status if is_current(record, cell, profile) else Status.STALE

    def statuses(self, cells: Iterable[Cell], profile: Profile) -> dict[Cell, Status]:
        """The status of many cells, in their order and without duplicates."""
        return {cell: self.status(cell, profile) for cell in dict.fromkeys(cells)}

    def seeds(self, cell: Cell) -> list[Record]:
        """The records of all seeds of a cell, in the order of the seeds."""
        records = [read_record(path) for path in self.folder.glob(f"{cell.group}_seed*.json")]
        return sorted(records, key=lambda record: record.seed)

    def profiles(self) -> list[Profile]:
        """The profiles of all records, except smoke runs, whose numbers mean nothing."""
        found = {
            record.profile.budget: record.profile
            for record in read_folder(self.folder)
            if record.profile is not None and not record.profile.small
        }
        return [found[budget] for budget in sorted(found, reverse=True)]  # `paper` first


def is_current(record: Record, cell: Cell, profile: Profile) -> bool:
    """Whether a record was made with the settings that the cell has now."""
    return record.comparable_settings == current_settings(cell, profile)
