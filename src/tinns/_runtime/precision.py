"""The precision of numbers: whatever is computed with a solution's parameters, it is in this."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import jax

Precision = Literal["float64", "float32"]


@contextmanager
def computing_in(precision: str) -> Iterator[None]:
    """JAX computes in this precision, with all its digits.

    By default a GPU multiplies matrices of single precision with three digits.
    """
    with jax.enable_x64(precision == "float64"), jax.default_matmul_precision("highest"):
        yield
