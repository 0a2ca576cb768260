"""How rows lie in memory: in chunks, on one device or dealt out to several."""

from dataclasses import dataclass
from typing import Any

import jax

ROWS = "rows"  # the mesh axis over which data are dealt out


@dataclass(frozen=True)
class Layout:
    """The Jacobian of at most `chunk` rows is held at once, on each of `shards` devices.

    With several shards everything runs inside `jax.shard_map` over the axis `ROWS`: data are a
    device's own share, ψ is everybody's, and `total` adds up what each share contributes.
    """

    chunk: int = 16384
    shards: int = 1

    def total(self, sums: Any) -> Any:
        """Sums over a device's own data, added up over all devices."""
        return jax.lax.psum(sums, ROWS) if self.shards > 1 else sums

    def count(self, data: Any) -> int:
        """The number of data on all devices together."""
        return self.shards * count_of(data)


def count_of(data: Any) -> int:
    """The number of data in a tree of columns."""
    return jax.tree.leaves(data)[0].shape[0]
