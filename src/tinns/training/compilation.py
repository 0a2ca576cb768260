"""Compiled programs are kept per user: the second run of a kind need not wait for the compiler."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache

from tinns.files import cache_folder

SHORTEST_SECONDS = 0.1  # compilations quicker than this are not worth a file


def compiled(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """The function compiled for arguments of these shapes, or found on disk."""
    with kept_on_disk():
        return jax.jit(function).lower(*arguments).compile()


@contextmanager
def kept_on_disk() -> Iterator[None]:
    """Compilations inside go through the user's cache folder, unless JAX was given its own."""
    folder = cache_folder() / "compiled"
    if jax.config.jax_compilation_cache_dir is not None or not _writable(folder):
        yield
        return
    settings = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": SHORTEST_SECONDS,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    compilation_cache.reset_cache()
    try:
        for name, value in settings.items():
            jax.config.update(name, value)
        with warnings.catch_warnings():
            # A full disk or a damaged entry costs a compilation, not the run.
            warnings.filterwarnings("ignore", message=".*persistent compilation cache.*")
            yield
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


def _writable(folder: Any) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True
