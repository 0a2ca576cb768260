"""A reference solution: a formula u*(x, t), its accuracy, and its source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import jax
import numpy as np
from numpy.typing import ArrayLike

from tinns._runtime.errors import UserError

# Points evaluated by one compiled call; padding to it means one compilation for all calls. It
# bounds memory: a spectral reference needs about 100 kB per point, a formula almost nothing.
CHUNK = 512
FORMULA_CHUNK = 65536


@dataclass(frozen=True)
class Reference:
    """The solution u* with which approximations are compared, evaluated anywhere by name.

    `formula` takes scalar coordinates by keyword and may be traced and differentiated by JAX.
    `accuracy` is the relative L2 accuracy the tests demonstrate. `grid`, where given, takes 1-D
    axes by keyword and returns the values on their tensor grid, axes in keyword order.
    """

    formula: Callable[..., jax.Array]
    accuracy: float
    source: str
    grid: Callable[..., np.ndarray] | None = None
    chunk: int = CHUNK

    def __call__(self, **coordinates: ArrayLike) -> np.ndarray:
        """u* in float64 at coordinates that broadcast together, e.g. `u(x=xs, t=0.5)`.

        The result has the broadcast shape; a system of m unknowns adds a last axis of length m.
        """
        self._check_names(coordinates)
        arrays = np.broadcast_arrays(*(_real(name, c) for name, c in coordinates.items()))
        shape = arrays[0].shape
        points = np.stack([array.ravel() for array in arrays], axis=-1)
        names = tuple(coordinates)
        chunks = []
        with jax.enable_x64(True):
            # An empty request still runs one padded chunk, which gives the shape of one value.
            for start in range(0, max(len(points), 1), self.chunk):
                chunk = points[start : start + self.chunk]
                padding = np.ones((self.chunk - len(chunk), len(names)))
                padded = np.concatenate([chunk, padding])
                columns = dict(zip(names, padded.T, strict=True))
                chunks.append(np.asarray(self._compiled(columns))[: len(chunk)])
        values = np.concatenate(chunks)
        return values.reshape(shape + values.shape[1:])

    def on_grid(self, **axes: ArrayLike) -> np.ndarray:
        """u* on the tensor grid of 1-D axes; the result's axes follow the keywords' order."""
        self._check_names(axes)
        arrays = {name: _real(name, axis) for name, axis in axes.items()}
        for name, array in arrays.items():
            if array.ndim != 1:
                raise UserError(
                    f"on_grid needs a 1-D array for every axis, but {name} has shape "
                    f"{array.shape}. For scattered points call the reference itself."
                )
        if self.grid is not None:
            return self.grid(**arrays)
        mesh = np.meshgrid(*arrays.values(), indexing="ij")
        return self(**dict(zip(arrays, mesh, strict=True)))

    @cached_property
    def _compiled(self) -> Callable[[dict[str, np.ndarray]], jax.Array]:
        return jax.jit(jax.vmap(lambda point: self.formula(**point)))

    def _check_names(self, coordinates: Mapping[str, ArrayLike]) -> None:
        signature = inspect.signature(self.formula)
        try:
            signature.bind(**coordinates)
        except TypeError as error:
            raise UserError(
                f"This reference takes the coordinates {', '.join(signature.parameters)} by "
                f"name, but was given {', '.join(coordinates) or 'none'}: {error}."
            ) from None
        if not coordinates:
            raise UserError("A reference needs at least one coordinate by name, e.g. x=0.5.")


def exact(
    formula: Callable[..., jax.Array], source: str = "closed form", accuracy: float = 1e-15
) -> Reference:
    """A reference given by a closed formula, such as `lambda x, t: jnp.sin(x - t)`."""
    return Reference(formula, accuracy, source, chunk=FORMULA_CHUNK)


def _real(name: str, values: ArrayLike) -> np.ndarray:
    """The coordinate as a float64 array; an error that names it if that is impossible."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"The coordinate {name} must be a real number or an array of them, but got {values!r}."
        ) from error
