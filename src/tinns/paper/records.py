"""Records: what is kept of one run, as one JSON file."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from tinns._runtime.errors import UserError
from tinns._runtime.files import write_whole
from tinns.paper.curves import CurvePoint, thinned_curve
from tinns.paper.former_records import in_present_form
from tinns.paper.profiles import Profile
from tinns.solution.core import Solution

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
Settings = Mapping[str, JSON]


class Status(StrEnum):
    """How a run ended, or why a run that a table needs cannot be used."""

    DONE = "done"
    FAILED = "failed"
    STALE = "stale"  # recorded with other settings
    MISSING = "missing"  # not recorded


class EstimateData(TypedDict, total=False):
    """An estimated coefficient."""

    value: float
    standard_error: float | None
    interval: list[float] | None
    remaining_step: float | None
    true: float
    error: float


# One time window; `jump` is the discontinuity at its start.
WindowData = TypedDict(
    "WindowData", {"from": float, "to": float, "jump": float, "relative_l2": float | None}
)


class Shares(TypedDict):
    """The share of the leading singular value, of a matrix and about its mean in time."""

    whole: float
    centred: float


@dataclass(frozen=True)
class Record:
    """One run of one method on one problem with one seed: its settings and its outcome.

    `profile` is None for a run that was not made for a table. `recipe` is the name of the recipe,
    or of the method if the method has its own settings. Facts that no table or page reads, such as
    the counters of an optimiser, are in `extra`.
    """

    problem: str
    method: str
    recipe: str
    seed: int
    status: Status = Status.DONE
    reason: str | None = None  # of a failure
    profile: Profile | None = None
    settings: Settings | None = None
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""
    precision: str | None = None
    parameters: int | None = None
    iterations: int | None = None
    seconds: float | None = None
    compile_seconds: float | None = None
    stop_reason: str | None = None
    loss: float | None = None
    validation_loss: float | None = None
    relative_l2: float | None = None
    errors: Mapping[str, float] = field(default_factory=dict)  # of named quantities
    coefficient_errors: Mapping[str, float] = field(default_factory=dict)
    estimates: Mapping[str, EstimateData] = field(default_factory=dict)
    windows: tuple[WindowData, ...] = ()
    shares: Mapping[str, Shares] = field(default_factory=dict)  # by matrix
    curve: tuple[CurvePoint, ...] = ()
    extra: Mapping[str, JSON] = field(default_factory=dict)
    name: str = field(default="", compare=False)  # of its file, without the ending

    @property
    def is_done(self) -> bool:
        """Whether the run ended with a usable result."""
        return self.status == Status.DONE

    @property
    def comparable_settings(self) -> Settings | None:
        """All settings except when to stop: runs that agree in them can be averaged."""
        return None if self.settings is None else comparable(self.settings)


def comparable(settings: Settings) -> Settings:
    """Settings without the stopping criteria."""
    return {name: value for name, value in settings.items() if name != "stop"}


def record_of(solution: Solution, **changes: object) -> Record:
    """The record of a solution; `changes` replace facts of its result."""
    curve = thinned_curve(solution.history)
    return record_from({**solution.result, "curve": curve, **changes})


def record_from(data: Mapping[str, Any]) -> Record:
    """A record from plain data: the contents of a file, of this or an earlier version."""
    flat = plain(in_present_form(data))
    known = {f.name for f in fields(Record)} - {"extra", "name"}
    facts = {name: value for name, value in flat.items() if name in known and value is not None}
    others = {name: value for name, value in flat.items() if name not in {*known, "extra"}}
    facts["status"] = Status(facts.get("status", Status.DONE))
    if "profile" in facts:
        facts["profile"] = Profile(**facts["profile"])
    for name in ("curve", "windows"):
        facts[name] = tuple(facts.get(name, ()))
    return Record(**facts, extra=flat.get("extra", {}) | others)


def read_record(path: Path) -> Record:
    """The record in a file."""
    try:
        record = record_from(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, json.JSONDecodeError) as error:
        raise UserError(f"cannot read {path} ({error}); delete it to run it again") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise UserError(f"{path} is not a record of a run; delete it to run it again") from None
    return replace(record, name=path.stem)


def read_folder(folder: Path) -> list[Record]:
    """All records in a folder, sorted by file name."""
    return [read_record(path) for path in sorted(folder.glob("*.json"))]


def write_record(path: Path, record: Record) -> Path:
    """Write a record as JSON."""
    data = plain({name: value for name, value in asdict(record).items() if name != "name"})
    text = json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    return write_whole(path, lambda file: file.write_text(text, encoding="utf-8"))


def plain(value: Any) -> Any:
    """Data that JSON can hold; numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray | np.generic) or hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return getattr(value, "__name__", None) or repr(value)
