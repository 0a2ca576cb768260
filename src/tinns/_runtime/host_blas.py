"""MᵀM and M W on the CPU by NumPy's BLAS, which is faster than XLA's own float64 product.

Each product is an XLA FFI handler with a fixed name, written against XLA's C interface. A compiled
program stored on disk can therefore find the handler again in the next process, which is not
possible with a Python callback of JAX. Rows are divided among one thread per core, each of which
calls BLAS for its share, because the threads of BLAS itself wait for each other by spinning.

If the handlers cannot be set up, XLA's product is used instead (`is_available`).
"""

import ctypes
import os
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import pairwise

import jax
import numpy as np
from jax import Array
from jaxtyping import Float

SMALLEST_SHARE = 128  # rows per thread below which another thread does not pay off

_METADATA = 1  # XLA_FFI_Extension_Metadata: XLA queries the handler's interface version
_INTERFACE = (0, 1)  # major and minor interface version of the structures below


class _Extension(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.c_void_p)]


class _Version(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
    ]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", _Version)]


class _MetadataExtension(ctypes.Structure):
    _fields_ = [("base", _Extension), ("metadata", ctypes.POINTER(_Metadata))]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int64),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
    ]


class _Buffers(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("types", ctypes.c_void_p),
        ("buffers", ctypes.POINTER(ctypes.POINTER(_Buffer))),
    ]


class _Api(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.c_void_p),
        ("version", _Version),
    ]


class _CallFrame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.POINTER(_Extension)),
        ("api", ctypes.POINTER(_Api)),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
    ]


def host_gram(matrix: Float[Array, "N P"]) -> Float[Array, "P P"]:
    """MᵀM, inside a program compiled for the CPU; float64 only."""
    if not is_available():
        return matrix.T @ matrix
    return _call(symmetric_product, (matrix.shape[1], matrix.shape[1]), matrix)


def host_product(matrix: Float[Array, "N P"], factor: Float[Array, "P Q"]) -> Float[Array, "N Q"]:
    """M W, inside a program compiled for the CPU; float64 only."""
    if not is_available():
        return matrix @ factor
    return _call(product, (matrix.shape[0], factor.shape[1]), matrix, factor)


def is_available() -> bool:
    """Whether the handlers are registered and compute a small product correctly.

    The check runs once per process. If it fails, a warning gives the reason.
    """
    with _LOCK:
        return _set_up()


def single_threaded_blas() -> AbstractContextManager[object]:
    """On the CPU, limit BLAS and LAPACK to one thread each inside the context.

    Products divide their rows among all cores themselves; factorisations are slower on several
    threads as soon as another process uses a core.
    """
    if jax.default_backend() != "cpu":
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


def symmetric_product(out: np.ndarray, matrix: np.ndarray) -> None:
    """Compute out = MᵀM on all cores."""
    first, *others = _shares(len(matrix))
    waiting = [_threads().submit(lambda part: part.T @ part, matrix[part]) for part in others]
    np.matmul(matrix[first].T, matrix[first], out=out)
    for share in waiting:
        out += share.result()


def product(out: np.ndarray, matrix: np.ndarray, factor: np.ndarray) -> None:
    """Compute out = M W on all cores."""
    first, *others = _shares(len(matrix))
    waiting = [_threads().submit(np.matmul, matrix[part], factor, out=out[part]) for part in others]
    np.matmul(matrix[first], factor, out=out[first])
    for share in waiting:
        share.result()


def _shares(rows: int) -> list[slice]:
    count = max(1, min(_cores(), rows // SMALLEST_SHARE))
    edges = [rows * part // count for part in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def _call(function: Callable[..., None], shape: tuple[int, ...], *operands: Array) -> Array:
    result = jax.ShapeDtypeStruct(shape, operands[0].dtype)
    return jax.ffi.ffi_call(_registered(function), result)(*operands)


@cache
def _set_up() -> bool:
    try:
        cpu = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # JAX runs without a CPU backend: no program calls the handlers
        return False
    try:
        # The caller may be tracing a program. Traces and scopes of JAX belong to one thread, so a
        # new thread compiles and runs outside all of them.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(_self_check, cpu).result()
    except Exception as error:  # XLA raises errors of many types
        warnings.warn(
            f"products on the CPU use XLA instead of NumPy's BLAS, which may be slower: {error}",
            RuntimeWarning,
            stacklevel=4,
        )
        return False
    return True


def _self_check(cpu: object) -> None:
    """Raise unless compiled calls of both handlers give the right numbers."""
    matrix, factor = np.arange(6.0).reshape(3, 2), np.arange(8.0).reshape(2, 4)

    def products(m: Array, w: Array) -> tuple[Array, Array]:
        return (
            _call(symmetric_product, (m.shape[1], m.shape[1]), m),
            _call(product, (m.shape[0], w.shape[1]), m, w),
        )

    with jax.enable_x64(True):
        gram, times = jax.jit(products)(*jax.device_put((matrix, factor), cpu))
    if not (np.array_equal(gram, matrix.T @ matrix) and np.array_equal(times, matrix @ factor)):
        raise RuntimeError("a test product computed through XLA's FFI was wrong")


@cache
def _registered(function: Callable[..., None]) -> str:
    """Register function(out, *operands) of NumPy arrays and return its name in XLA."""

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))
    def handler(frame: "ctypes._Pointer[_CallFrame]") -> None:
        call = frame.contents
        if call.extension and call.extension.contents.type == _METADATA:
            query = ctypes.cast(call.extension, ctypes.POINTER(_MetadataExtension)).contents
            version = query.metadata.contents.version
            version.major, version.minor = _INTERFACE
            return
        if call.api.contents.version.major != _INTERFACE[0]:
            return  # other structures: without a result, the self-check fails
        operands = call.arguments
        arrays = [_array(operands.buffers[n].contents) for n in range(operands.count)]
        out = _array(call.results.buffers[0].contents)
        try:
            with np.errstate(all="ignore"):  # the step detects NaN
                function(out, *arrays)
        except Exception:  # must not propagate into XLA; a step with NaN is rejected
            out[...] = np.nan

    _HANDLERS.append(handler)  # XLA stores only its address
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new_capsule(ctypes.cast(handler, ctypes.c_void_p), None, None)
    name = f"tinns_{function.__name__}"
    jax.ffi.register_ffi_target(name, capsule, platform="cpu")
    return name


_HANDLERS: list[object] = []
_LOCK = threading.Lock()


def _array(buffer: _Buffer) -> np.ndarray:
    shape = tuple(buffer.dims[axis] for axis in range(buffer.rank))
    return np.ctypeslib.as_array(ctypes.cast(buffer.data, ctypes.POINTER(ctypes.c_double)), shape)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="tinns-blas")
