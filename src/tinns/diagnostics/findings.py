"""What a diagnostic is asked, what it found, and the files that are written of it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tinns.files import prepared_folder, write_whole
from tinns.recipe import Stop, check_seed


@dataclass(frozen=True)
class Request:
    """How long a diagnostic may take and how it starts; without limits its own ones hold."""

    seconds: float | None = None
    iterations: int | None = None
    seed: int = 0
    progress: bool = True

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.seconds is not None or self.iterations is not None:
            Stop(iterations=self.iterations, seconds=self.seconds)  # complains where one is none

    def stop(self, usual: Stop) -> Stop:
        """The limits that were asked for, or else the usual ones."""
        if self.seconds is None and self.iterations is None:
            return usual
        return Stop(iterations=self.iterations, seconds=self.seconds)


@dataclass(frozen=True)
class Findings:
    """A table of numbers as text, all numbers behind it as plain data, and a picture."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]  # how the numbers came about, a sentence each
    data: dict[str, Any]
    picture: Figure

    def markdown(self) -> str:
        """The table with its title and remarks, as a page."""
        cells = (self.header, ("---",) * len(self.header), *self.rows)
        table = [f"| {' | '.join(row)} |" for row in cells]
        return "\n".join([f"# {self.title}", "", *table, "", *self.remarks]) + "\n"

    def write(self, folder: Path, name: str) -> list[Path]:
        """NAME.png, NAME.md and NAME.json in the folder."""
        prepared_folder(folder)
        text = json.dumps({"title": self.title, **self.data}, indent=1, allow_nan=False)
        writers: dict[str, Callable[[Path], Any]] = {
            "png": lambda path: self.picture.savefig(path, dpi=150),
            "md": lambda path: path.write_text(self.markdown()),
            "json": lambda path: path.write_text(text + "\n"),
        }
        return [write_whole(folder / f"{name}.{end}", write) for end, write in writers.items()]
