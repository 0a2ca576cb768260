"""What a run will need of memory, and the layout of its rows that fits."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tinns._runtime.errors import UserError
from tinns.objective import Layout

COPIES = 3.5  # of the Jacobian held: itself, its pieces before they are joined, its whitened form
SQUARES = 8  # matrices of the size of JᵀJ
SHARE = 0.6  # of the free memory that a run may take
CHUNK_BYTES = 512 * 2**20  # of one chunk's Jacobian: larger chunks are no faster
SMALLEST_CHUNK = 256


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
