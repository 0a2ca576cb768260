"""States of runs as named arrays and back, which is what a checkpoint on disk holds."""

from collections.abc import Mapping
from enum import Enum
from typing import TypeGuard, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.solvers.history import History

Arrays = Mapping[str, np.ndarray]
Tree = TypeVar("Tree")


def pack(state: object) -> dict[str, np.ndarray]:
    """The leaves of a state by their path in it: numbers, keys and short strings."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {_name(path): _stored(leaf) for path, leaf in leaves}


def unpack(arrays: Arrays, like: Tree, prefix: str = "") -> Tree:
    """The state that was packed, in the structure of `like`.

    The shapes of arrays and the columns of histories are those that were stored. `prefix` is the
    path of `like` within what was packed.
    """

    def restored(path: tuple[jax.tree_util.KeyEntry, ...], node: object) -> object:
        name = "/".join(part for part in (prefix, _name(path)) if part)
        if not isinstance(node, History):
            return _restored(node, arrays[name])
        columns = f"{name}/columns/"
        stored = {n.removeprefix(columns): a for n, a in arrays.items() if n.startswith(columns)}
        return History(stored)

    return jax.tree_util.tree_map_with_path(
        restored, like, is_leaf=lambda node: isinstance(node, History)
    )


def _name(path: tuple[jax.tree_util.KeyEntry, ...]) -> str:
    return jax.tree_util.keystr(path, simple=True, separator="/")


def _stored(leaf: object) -> np.ndarray:
    if isinstance(leaf, Enum):
        return np.asarray(leaf.value)
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _restored(leaf: object, stored: np.ndarray) -> object:
    if isinstance(leaf, str | int | float):  # enums are strings too
        return type(leaf)(stored[()])
    if _is_key(leaf):
        return jax.random.wrap_key_data(jnp.asarray(stored))
    return np.asarray(stored) if isinstance(leaf, np.ndarray) else jnp.asarray(stored)


def _is_key(leaf: object) -> TypeGuard[Array]:
    return isinstance(leaf, Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
