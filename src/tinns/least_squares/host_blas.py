"""MᵀM and M W on the CPU by the BLAS that NumPy carries: XLA's own float64 product is slower.

Each product is an XLA FFI handler with a fixed name, written against XLA's C interface, so that a
compiled program can be kept on disk and find the handler again in the next process; a Python
callback of JAX's own could not. Rows are dealt out to one thread per core, each of which calls
BLAS for its share, because the threads of BLAS itself wait for each other by spinning.
"""

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import pairwise
from typing import Any

import jax
import numpy as np
from jax import Array
from jaxtyping import Float

SMALLEST_SHARE = 128  # rows for which another thread pays

_METADATA = 1  # XLA_FFI_Extension_Metadata: XLA asks which interface the handler speaks
_INTERFACE = (0, 1)  # major and minor version of the interface the structures below belong to


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


class _CallFrame(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("extension", ctypes.POINTER(_Extension)),
        ("api", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
        ("stage", ctypes.c_int),
        ("arguments", _Buffers),
        ("results", _Buffers),
    ]


def host_gram(matrix: Float[Array, "N P"]) -> Float[Array, "P P"]:
    """MᵀM, inside a program compiled for the CPU; float64 only."""
    return _call(symmetric_product, (matrix.shape[1], matrix.shape[1]), matrix)


def host_product(matrix: Float[Array, "N P"], factor: Float[Array, "P Q"]) -> Float[Array, "N Q"]:
    """M W, inside a program compiled for the CPU; float64 only."""
    return _call(product, (matrix.shape[0], factor.shape[1]), matrix, factor)


def single_threaded_blas() -> AbstractContextManager[Any]:
    """On the CPU, BLAS and LAPACK on one thread each for the length of a run.

    Products deal out their rows to all cores themselves; factorisations are slower on several
    threads as soon as anything else uses a core.
    """
    if jax.default_backend() != "cpu":
        return nullcontext()
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


def symmetric_product(out: np.ndarray, matrix: np.ndarray) -> None:
    """out = MᵀM by all cores."""
    first, *others = _shares(len(matrix))
    waiting = [_threads().submit(lambda part: part.T @ part, matrix[part]) for part in others]
    np.matmul(matrix[first].T, matrix[first], out=out)
    for share in waiting:
        out += share.result()


def product(out: np.ndarray, matrix: np.ndarray, factor: np.ndarray) -> None:
    """out = M W by all cores."""
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
def _registered(function: Callable[..., None]) -> str:
    """The name under which XLA finds a function(out, *operands) of NumPy arrays."""

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_CallFrame))
    def handler(frame: Any) -> None:
        call = frame.contents
        if call.extension and call.extension.contents.type == _METADATA:
            asked = ctypes.cast(call.extension, ctypes.POINTER(_MetadataExtension)).contents
            version = asked.metadata.contents.version
            version.major, version.minor = _INTERFACE
            return
        operands = call.arguments
        arrays = [_array(operands.buffers[n].contents) for n in range(operands.count)]
        out = _array(call.results.buffers[0].contents)
        try:
            with np.errstate(all="ignore"):  # what is no number is found out by the step
                function(out, *arrays)
        except Exception:  # nothing may be raised into XLA; a step made of NaN is refused
            out[...] = np.nan

    _HANDLERS.append(handler)  # XLA keeps only its address
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype = ctypes.py_object
    new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new_capsule(ctypes.cast(handler, ctypes.c_void_p), None, None)
    name = f"tinns_{function.__name__}"
    jax.ffi.register_ffi_target(name, capsule, platform="cpu")
    return name


_HANDLERS: list[Any] = []


def _array(buffer: _Buffer) -> np.ndarray:
    shape = tuple(buffer.dims[axis] for axis in range(buffer.rank))
    return np.ctypeslib.as_array(ctypes.cast(buffer.data, ctypes.POINTER(ctypes.c_double)), shape)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores(), thread_name_prefix="tinns-blas")
