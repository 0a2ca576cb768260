"""Timings that the benchmarks write as JSON, and their tables."""

import json
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from tinns.paper.pages.checkout import digits
from tinns.paper.sheet import Sheet, sheet_of

ALL_FLOORS = " / all floors"  # a whole step compared with the sum of all floors


class Machine(TypedDict):
    """Where, when and with which versions something was timed."""

    device: str
    cores: int | None
    load: NotRequired[float | None]  # of all programs on the machine
    versions: dict[str, str]
    finished: NotRequired[str]


class Parts(Machine):
    """Milliseconds of the parts of an iteration, and of the floors that they are compared with."""

    rows: int
    parameters: int
    repeat: int
    parts: dict[str, float]
    floors: dict[str, float]
    floors_are: str
    ratios: dict[str, float]
    target: dict[str, float]


class GrowthPoint(TypedDict):
    """The time of one iteration at one size; `exponent` compares it with the size before."""

    rows: int
    width: int
    parameters: int
    ms: float
    exponent: NotRequired[float]


class Growth(Machine):
    """The time of one iteration against the number of rows, and against the width."""

    repeat: int
    rows: list[GrowthPoint]
    widths: list[GrowthPoint]


class Memory(Machine):
    """The peak memory of JᵀJ and Jᵀr in chunks."""

    rows: int
    parameters: int
    chunk: int
    seconds: float
    peak_gb: float
    whole_jacobian_gb: float
    ceiling_gb: float
    free_gb: float


def read_timings(folder: Path, name: str) -> list[Any]:
    """What one benchmark wrote, device by device."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob(f"{name}-*.json"))]


def parts_sheet(timed: Parts) -> Sheet:
    """The parts of an iteration with their floors."""
    floors, ratios = timed["floors"], timed["ratios"]
    rows = [
        (name, digits(ms), *(digits(f[name]) if name in f else "" for f in (floors, ratios)))
        for name, ms in timed["parts"].items()
    ]
    title = f"{timed['device']}: {timed['rows']} rows, {timed['parameters']} parameters"
    return sheet_of(["part", "ms", "floor, ms", "ratio"], rows, title)


def steps_sheet(timed: Parts) -> Sheet:
    """Whole steps compared with the sum of all floors."""
    target = timed["target"]
    rows = [
        (
            name.removesuffix(ALL_FLOORS),
            f"{ratio:.2f}",
            f"at most {target[name]:g}" if name in target else "",
        )
        for name, ratio in timed["ratios"].items()
        if name.endswith(ALL_FLOORS)
    ]
    title = "Whole steps compared with the sum of all floors"
    return sheet_of([f"whole step{ALL_FLOORS}", "ratio", "target"], rows, title)


def growth_sheets(timed: Growth) -> tuple[Sheet, Sheet]:
    """The time of an iteration against rows, and against parameters."""
    return (
        _growth(timed["rows"], "rows", timed["device"]),
        _growth(timed["widths"], "parameters", timed["device"]),
    )


def _growth(points: list[GrowthPoint], by: str, device: str) -> Sheet:
    rows = [
        (
            str(point["rows"]),
            str(point["width"]),
            str(point["parameters"]),
            digits(point["ms"]),
            f"{point['exponent']:.2f}" if "exponent" in point else "",
        )
        for point in points
    ]
    header = ["rows", "hidden width", "parameters", "ms", f"exponent in {by}"]
    return sheet_of(header, rows, f"{device}: one accelerated iteration against {by}")


def memory_sheet(timed: Memory) -> Sheet:
    """Sizes, peak memory and seconds."""
    rows = [
        ("rows", str(timed["rows"])),
        ("parameters", str(timed["parameters"])),
        ("rows in a chunk", str(timed["chunk"])),
        ("size of the whole Jacobian", f"{timed['whole_jacobian_gb']:.2f} GB"),
        ("peak of the process", f"{timed['peak_gb']:.2f} GB"),
        ("target", f"under {timed['ceiling_gb']:g} GB"),
        ("seconds", f"{timed['seconds']:.1f}"),
    ]
    return sheet_of(["JᵀJ in chunks", ""], rows, f"{timed['device']}: JᵀJ and Jᵀr in chunks")
