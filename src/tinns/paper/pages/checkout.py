"""A checkout of the repository: where pages find records and where documents are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tinns._runtime.errors import UserError
from tinns.paper.records import Record, read_folder
from tinns.paper.sheet import NOTHING
from tinns.paper.store import Store

COMMAND = "python -m tinns.paper.pages"
OURS = ("fast", "accurate")  # recipes of this package, besides the paper's


@dataclass(frozen=True)
class Checkout:
    """The folder of a checkout, with `results/`, `docs/` and the README."""

    root: Path

    def __post_init__(self) -> None:
        if not (self.root / "results").is_dir() or not (self.root / "README.md").is_file():
            raise UserError(
                f"{self.root.resolve()} is not a checkout of the repository: it has no results/ or "
                "no README.md; change to its root folder or give --root"
            )

    @property
    def store(self) -> Store:
        """The cells of tables."""
        return Store(self.root / "results/bench/cells")

    @property
    def measurements(self) -> Path:
        """The folder of timings."""
        return self.root / "results/benchmarks"

    @property
    def images(self) -> Path:
        """The folder of pictures."""
        return self.root / "docs/images"

    @cached_property
    def runs(self) -> list[Record]:
        """Single recorded runs."""
        return read_folder(self.root / "results/runs")

    @cached_property
    def all_runs(self) -> list[Record]:
        """Single recorded runs, and the runs of our own recipes that were made for tables."""
        cells = [
            record
            for record in read_folder(self.store.folder)
            if record.is_done
            and (record.method, record.recipe) in {("tinn", recipe) for recipe in OURS}
            and not (record.profile and record.profile.small)
        ]
        return [*self.runs, *cells]


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 seed, 2 seeds."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def optional(number: float | None, form: str) -> str:
    """A formatted number, or a dash."""
    return NOTHING if number is None else format(number, form)


def digits(number: float) -> str:
    """Three significant digits without an exponent."""
    return f"{float(f'{number:.3g}'):g}"


def joined(parts: Sequence[str]) -> str:
    """Paragraphs of a page, without empty ones."""
    return "\n\n".join(part for part in parts if part)
