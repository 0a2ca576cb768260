"""The request to a diagnostic, and its findings: a table, numbers and a picture."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tinns._runtime.files import prepared_folder, write_whole
from tinns.paper import formats
from tinns.paper.sheet import Sheet, sheet_of
from tinns.recipes.recipe import Stop, check_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Request:
    """The limits and the seed of a diagnostic; without limits its usual ones apply."""

    seconds: float | None = None
    iterations: int | None = None
    seed: int = 0
    progress: bool = True

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.seconds is not None or self.iterations is not None:
            Stop(iterations=self.iterations, seconds=self.seconds)  # checks the limits

    def stop(self, usual: Stop) -> Stop:
        """The requested limits, or else the usual ones."""
        if self.seconds is None and self.iterations is None:
            return usual
        return Stop(iterations=self.iterations, seconds=self.seconds)


@dataclass(frozen=True)
class Findings:
    """A table of numbers as text, all numbers behind it as plain data, and a picture."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...]  # how the numbers were obtained, one sentence each
    data: Mapping[str, object]
    picture: "Figure"

    @property
    def sheet(self) -> Sheet:
        """The table with its title and remarks."""
        return replace(sheet_of(self.header, self.rows, self.title), notes=self.remarks)

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write NAME.png, NAME.md and NAME.json."""
        prepared_folder(folder)
        text = json.dumps({"title": self.title, **self.data}, indent=1, allow_nan=False)
        writers: dict[str, Callable[[Path], object]] = {
            "png": lambda path: self.picture.savefig(path, dpi=150),
            "md": lambda path: path.write_text(formats.markdown(self.sheet)),
            "json": lambda path: path.write_text(text + "\n"),
        }
        return [write_whole(folder / f"{name}.{end}", write) for end, write in writers.items()]
