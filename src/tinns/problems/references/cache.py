"""Computed references are kept per user, so that each is computed once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from tinns._runtime.errors import UserError
from tinns._runtime.files import cache_folder, write_arrays

Arrays = dict[str, np.ndarray]

# Part of every file name: a change of method or layout must not read old files.
FORMAT_VERSION = 1

log = logging.getLogger("tinns.problems.references")


def cache_path(problem: str, parameters: Mapping[str, float]) -> Path:
    """The file that holds this problem with exactly these parameters."""
    values = "".join(f"-{name}={float(value)!r}" for name, value in parameters.items())
    return cache_folder() / f"{problem}{values}-v{FORMAT_VERSION}.npz"


def load_or_compute(
    problem: str,
    parameters: Mapping[str, float],
    compute: Callable[[], Arrays],
    is_valid: Callable[[Arrays], bool],
) -> Arrays:
    """The stored arrays where a valid file exists, else computed now and stored if possible."""
    path = cache_path(problem, parameters)
    stored = _read(path)
    if stored is not None and is_valid(stored):
        return stored
    log.info("Computing the %s reference; it is kept in %s.", problem, path)
    began = time.perf_counter()
    arrays = compute()
    log.info("Computed the %s reference in %.1f s.", problem, time.perf_counter() - began)
    _write(path, arrays)
    return arrays


def _read(path: Path) -> Arrays | None:
    """The file's arrays; None where it is missing, unreadable or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    # Damage shows in many ways (bad zip, bad header, zlib errors); none is worth more than
    # computing again.
    except Exception as error:
        log.info("Ignoring the unreadable file %s: %s", path, error)
        return None


def _write(path: Path, arrays: Arrays) -> None:
    """Keep the arrays if the folder allows it; readers see the whole file or none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_arrays(path, arrays)
    except (OSError, UserError) as error:
        log.info("The reference is not kept: %s", error)
