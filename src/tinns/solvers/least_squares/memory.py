"""What a run will need of memory, and the layout of its rows that fits.

Sizes of arrays are exact, from their shapes. The factors on them, such as COPIES and TAPES, are at
least what XLA reports for programs compiled on a CPU.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import jax
from jaxtyping import PyTree

from tinns._runtime.errors import UserError
from tinns.objective import Layout

COPIES = 3.5  # of the Jacobian held: itself, its pieces before they are joined, its whitened form
SQUARES = 8  # matrices of the size of JᵀJ
SHARE = 0.6  # of the free memory that a run may take
CHUNK_BYTES = 512 * 2**20  # of one chunk's Jacobian: larger chunks are no faster
SMALLEST_CHUNK = 256
STATES = 3  # of the optimiser's state: given to a program, returned by it, and inside it
POINTS = 3  # of the points, likewise
POOLS = 4  # of candidates: themselves, their rows, a random number for each, and their order
TAPES = 1.8  # of what reverse mode keeps of the rows: itself, and what is computed from it
MENTIONED = 0.01  # of the whole need: smaller parts are left out of a message


class Device(Protocol):
    """The part of `jax.Device` that matters here."""

    @property
    def platform(self) -> str: ...

    def memory_stats(self) -> dict[str, int] | None: ...


def forecast(rows: int, parameters: int, itemsize: int, layout: Layout) -> float:
    """Bytes that forming JᵀJ and solving with it takes on each device."""
    row = itemsize * parameters
    held = min(-(-rows // layout.shards), layout.chunk)
    return (COPIES * held + SQUARES * parameters) * row


def fitting_layout(
    rows: int, parameters: int, itemsize: int, shards: int, free: float
) -> tuple[Layout, str | None]:
    """The layout for `free` bytes on each device, and a message for the user if one is needed."""
    whole = Layout(max(rows, 1), shards)
    need, may = forecast(rows, parameters, itemsize, whole), SHARE * free
    if need <= may:
        return whole, None
    squares = SQUARES * parameters**2 * itemsize
    room = min((may - squares) / COPIES, CHUNK_BYTES)
    chunk = int(room // (itemsize * parameters))
    if chunk < SMALLEST_CHUNK:
        raise UserError(
            f"{parameters} parameters need {_gigabytes(squares)} for JᵀJ and its factors, and "
            f"{_gigabytes(free)} are free on each device; use a smaller network, or Adam, SOAP or "
            "LBFGS, which need no JᵀJ"
        )
    layout = Layout(chunk, shards)
    then = forecast(rows, parameters, itemsize, layout)
    return layout, (
        f"memory: {rows} rows x {parameters} parameters at once would need {_gigabytes(need)}, "
        f"{_gigabytes(free)} are free: taken in chunks of {chunk} rows, {_gigabytes(then)}"
    )


class Part(NamedTuple):
    """A part of what a run holds in memory, and how to make it smaller."""

    name: str
    size: float
    remedy: str


def check_fits(parts: Sequence[Part], free: float) -> float:
    """The bytes that all parts take together; an error if there are fewer free on each device."""
    need = sum(part.size for part in parts)
    if need > free:
        large = sorted(parts, key=lambda part: -part.size)
        named = [f"{_gigabytes(p.size)} {p.name}" for p in large if p.size > MENTIONED * need]
        raise UserError(
            f"memory: this run needs {_gigabytes(need)} on each device ({', '.join(named)}), and "
            f"{_gigabytes(free)} are free; {large[0].remedy}"
        )
    return need


class Tape(NamedTuple):
    """What reverse mode keeps of all rows of a block, on one device."""

    size: float
    rows: int
    divisible: bool  # whether the rows can be taken in chunks


def gradient_forecast(tapes: Sequence[Tape], chunk: int) -> float:
    """Bytes that a gradient takes on each device, block by block in chunks of rows."""
    shares = [min(1.0, chunk / tape.rows) if tape.divisible else 1.0 for tape in tapes]
    return TAPES * max(share * tape.size for share, tape in zip(shares, tapes, strict=True))


def gradient_layout(tapes: Sequence[Tape], shards: int, free: float) -> tuple[Layout, str | None]:
    """As `fitting_layout`, for optimisers that form no Jacobian."""
    standard = Layout(shards=shards)
    need, may = gradient_forecast(tapes, standard.chunk), SHARE * free
    if need <= may:
        return standard, None
    densest = max((tape.size / tape.rows for tape in tapes if tape.divisible), default=0.0)
    fitting = int(may / (TAPES * densest)) if densest else standard.chunk
    layout = Layout(min(max(fitting, SMALLEST_CHUNK), standard.chunk), shards)
    then = gradient_forecast(tapes, layout.chunk)
    if then > free:
        undivided = [tape for tape in tapes if not tape.divisible]
        remedy = "use a smaller network"
        if undivided and gradient_forecast(undivided, layout.chunk) > free:
            remedy = (
                "use fewer points, which on tensor grids and with an emphasis cannot be taken in "
                "chunks, or a smaller network"
            )
        raise UserError(
            f"memory: the gradient needs {_gigabytes(then)}, and {_gigabytes(free)} are free on "
            f"each device; {remedy}"
        )
    if layout.chunk == standard.chunk:
        return layout, None
    rows = sum(tape.rows for tape in tapes)
    return layout, (
        f"memory: the gradient of {rows} rows would need {_gigabytes(need)}, {_gigabytes(free)} "
        f"are free: taken in chunks of {layout.chunk} rows, {_gigabytes(then)}"
    )


def size_of(tree: PyTree) -> int:
    """The bytes of all arrays in a tree, or of what only has their shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree))


def free_bytes(devices: Sequence[Device]) -> float:
    """Memory that is free on each of the devices; those of the CPU share the system's."""
    stats = devices[0].memory_stats() or {}
    if "bytes_limit" in stats:
        return float(stats["bytes_limit"] - stats.get("bytes_in_use", 0))
    return _available() / len(devices)


def _available() -> float:
    """What the system says is available, or a guess where it does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except OSError:
        pass
    if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return 0.5 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 4.0 * 2**30


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB"
