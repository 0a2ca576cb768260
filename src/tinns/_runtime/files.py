"""Atomic writes, output folders and the user's cache folder."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import platformdirs

from tinns._runtime.errors import UserError


def write_whole(path: str | Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file next to `path`, then rename it to `path`."""
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
    """Write named arrays to a .npz file without pickling."""

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)  # pyright: ignore[reportArgumentType]

    return write_whole(path, write)


def prepared_folder(folder: Path) -> Path:
    """Create the folder if needed and check that it is writable, before any work is done."""
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
    """The user's cache folder: TINNS_CACHE if set, else the platform's, such as ~/.cache/tinns.

    On Linux, XDG_CACHE_HOME moves the platform's folder. Where there is no home directory, it is a
    path that nothing can be written to: caches are only used where they can be.
    """
    try:
        if chosen := os.environ.get("TINNS_CACHE"):
            return Path(chosen).expanduser()
        return platformdirs.user_cache_path("tinns", appauthor=False)
    except RuntimeError:
        return Path(os.devnull) / "tinns"
