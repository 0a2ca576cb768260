"""Cells on disk: one JSON file each, written as soon as it ends, shared by all tables."""

import json
from collections.abc import Iterable
from pathlib import Path

from tinns.bench.cells import DONE, Cell, Profile, Record, settings
from tinns.errors import UserError
from tinns.files import write_whole

STALE, MISSING = "stale", "missing"
Standing = str  # "done", "failed", "stale" or "missing"


class Store:
    """The folder of cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> Record | None:
        """What was stored of a cell; None where nothing was."""
        path = self.path(cell)
        return _parsed(path) if path.exists() else None

    def write(self, cell: Cell, record: Record) -> Path:
        text = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
        return write_whole(self.path(cell), lambda file: file.write_text(text, encoding="utf-8"))

    def standing(self, cell: Cell, profile: Profile) -> Standing:
        """Whether a cell is there, and made by the settings of today."""
        record = self.read(cell)
        if record is None:
            return MISSING
        return record["status"] if is_current(record, cell, profile) else STALE

    def standings(self, cells: Iterable[Cell], profile: Profile) -> dict[Cell, Standing]:
        """The same of many cells, in their order; those that tables share, once."""
        return {cell: self.standing(cell, profile) for cell in dict.fromkeys(cells)}

    def seeds(self, cell: Cell) -> list[Record]:
        """What was stored of all seeds of a cell, in their order."""
        records = [_parsed(path) for path in self.folder.glob(f"{cell.group}_seed*.json")]
        return sorted(records, key=lambda record: record["cell"]["seed"])


def is_current(record: Record, cell: Cell, profile: Profile) -> bool:
    """Whether a record was made by the settings of today."""
    return record["settings"] == settings(cell, profile)


def latest_alone(records: list[Record]) -> list[Record]:
    """Records whose settings are those of the one that ended last."""
    done = [record for record in records if record["status"] == DONE]
    if not done:
        return records
    latest = max(done, key=lambda record: record["result"]["finished"])
    return [record for record in records if record["settings"] == latest["settings"]]


def _parsed(path: Path) -> Record:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"cannot read {path} ({error}): delete it, and it is run again") from None
    if not isinstance(record, dict) or not {"cell", "status", "settings", "result"} <= set(record):
        raise UserError(f"{path} is no cell of a table: delete it, and it is run again")
    return record
