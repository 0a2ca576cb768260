"""How rows lie in memory: in chunks, on one device or on several."""

from dataclasses import dataclass

import jax
from jaxtyping import PyTree

ROWS = "rows"  # the mesh axis over which rows are distributed


@dataclass(frozen=True)
class Layout:
    """The Jacobian of at most `chunk` rows is held at once, on each of `shards` devices.

    With several shards everything runs inside `jax.shard_map` over the axis `ROWS`: each device has
    its own points, ψ is replicated, and `total` adds up what the devices contribute.
    """

    chunk: int = 16384
    shards: int = 1

    def total(self, sums: PyTree) -> PyTree:
        """Sums over one device's own points, added up over all devices."""
        return jax.lax.psum(sums, ROWS) if self.shards > 1 else sums
