"""How programs are compiled, and cached per user: the second run of a kind starts sooner."""

import hashlib
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import jax
from jax.experimental.compilation_cache import compilation_cache

from tinns._runtime.errors import UserError
from tinns._runtime.files import cache_folder, prepared_folder

# On a GPU: tuning Triton kernels for every product takes minutes, and cuBLAS is about as fast. A
# product that reads or writes a slice of an array in place may have an alignment that cuBLAS does
# not support (seen with layers of width 16): slices are copied.
GPU_OPTIONS = {
    "xla_gpu_enable_triton_gemm": False,
    "xla_gpu_autotune_level": 1,
    "xla_gpu_enable_dynamic_slice_fusion": False,
}

# On a CPU where optimisations are switched off: kernels that compile faster.
QUICK_OPTIONS = {"xla_cpu_use_fusion_emitters": False}

MOST_BYTES = 500 * 2**20  # kept on disk; above it the older half is deleted


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Options = dict[str, Any]  # of the compiler


def options_for(platform: str) -> Options:
    """The compiler's options for programs on devices of a platform."""
    quick = bool(jax.config.values.get("jax_disable_most_optimizations"))
    options: Options = QUICK_OPTIONS if quick else {}
    if platform in ("gpu", "cuda"):
        options = GPU_OPTIONS
    return {name: value for name, value in options.items() if _is_known(name, value)}


@cache
def _is_known(name: str, value: int) -> bool:
    """Whether this version of the compiler accepts the option."""
    try:
        jax.jit(lambda x: x, compiler_options={name: value}).lower(0.0).compile()
    except Exception:  # whatever the compiler raises at a name that it does not know
        return False
    return True


def jitted(
    function: Callable[Arguments, Result], static_argnums: int | Sequence[int] | None = None
) -> Callable[Arguments, Result]:
    """jax.jit with the options for the devices at hand, which are looked up at the first call."""

    @cache
    def program(options: tuple[tuple[str, int], ...]) -> Callable[Arguments, Result]:
        return jax.jit(function, static_argnums=static_argnums, compiler_options=dict(options))

    @wraps(function)
    def call(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        options = options_for(jax.default_backend())
        return program(tuple(options.items()))(*arguments, **named)

    return call


def compiled(function: Callable[..., Result], *arguments: object) -> Callable[..., Result]:
    """A program for arguments like these, with the options for the devices at hand."""
    options = options_for(jax.default_backend())
    return jax.jit(function).lower(*arguments).compile(compiler_options=options)


@contextmanager
def kept_on_disk() -> Iterator[None]:
    """Compilations inside go through the user's cache folder, unless JAX was given its own."""
    folder = cache_folder() / "compiled" / _machine()
    if jax.config.values.get("jax_compilation_cache_dir") is not None or not _ready(folder):
        yield
        return
    settings = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: jax.config.values[name] for name in settings}
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


@cache
def _machine() -> str:
    """A name for this kind of processor: programs for another one may not run here."""
    facts = [platform.machine(), platform.processor()]
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        facts += sorted({line for line in lines if line.startswith(("model name", "flags"))})
    except OSError:
        pass
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:16]


def _ready(folder: Path) -> bool:
    """Whether the folder can be written to; old files in it are removed if necessary."""
    try:
        thin_out(prepared_folder(folder))
    except (UserError, OSError):
        return False
    return True


def thin_out(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove the least recently used files until half of `most` bytes are left, if above it."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_atime)
    total = sum(file.stat().st_size for file in files)
    if total <= most:
        return
    for file in files:
        if total <= most / 2:
            break
        total -= file.stat().st_size
        file.unlink(missing_ok=True)
