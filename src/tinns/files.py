"""Files are written whole or not at all; what can be computed again is kept per user."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinns.errors import UserError


def write_whole(path: str | Path, write: Callable[[Path], Any]) -> Path:
    """Let `write` fill a temporary file beside `path`, then put it in place in one move."""
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror or error}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def write_arrays(path: str | Path, arrays: Mapping[str, np.ndarray]) -> Path:
    """Named arrays as a .npz file, numbers only."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)  # pyright: ignore[reportArgumentType]

    return write_whole(path, write)


def prepared_folder(folder: Path) -> Path:
    """The folder, made and found writable before any work is spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except FileExistsError:
        raise UserError(f"cannot write into {folder}: it is a file; give a folder") from None
    except OSError as error:
        raise UserError(f"cannot write into {folder}: {error.strerror or error}") from None
    return folder


def cache_folder() -> Path:
    """The user's cache: TINNS_CACHE, else XDG_CACHE_HOME/tinns, else ~/.cache/tinns."""
    if chosen := os.environ.get("TINNS_CACHE"):
        return Path(chosen).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser() / "tinns"
    return Path("~/.cache/tinns").expanduser()
