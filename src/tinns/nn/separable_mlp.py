"""A backbone that is a sum of products of networks of one space coordinate each."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import jax
from jax import Array

from tinns._runtime.errors import UserError
from tinns.nn.backbones import MLP, Backbone, Theta, check_counts, linear_end
from tinns.nn.series import Series


@dataclass(frozen=True)
class SeparableMLP:
    """u_o(x, y, ...) = Σ_{j <= rank} f_oj(x) g_oj(y) ..., one network for each coordinate.

    With time-induced weights and rank 1 this is U_θ1(t)(x)·U_θ2(t)(y) [TINN, Appendix]. `parts`
    says how many entries of the input belong to each coordinate; a field sets it, two for a
    periodic axis (its cosine and sine) and one for any other.
    """

    network: Backbone = MLP((20, 20))
    rank: int = 1
    parts: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_counts("SeparableMLP", rank=self.rank)

    def over(self, parts: tuple[int, ...]) -> "SeparableMLP":
        """The same backbone for coordinates with these numbers of entries."""
        return replace(self, parts=parts)

    def init(self, key: Array, inputs: int, outputs: int) -> Theta:
        parts = self._parts(inputs)
        keys = jax.random.split(key, len(parts))
        return tuple(
            self.network.init(each, part, outputs * self.rank)
            for each, part in zip(keys, parts, strict=True)
        )

    def __call__(self, theta: Theta, z: Array | Series) -> Array | Series:
        inputs = (z.value if isinstance(z, Series) else z).shape[-1]
        ends = (0, *accumulate(self._parts(inputs)))
        product, *others = [
            self.network(each, z[start:end])
            for each, (start, end) in zip(theta, pairwise(ends), strict=True)
        ]
        for other in others:
            product = product * other
        return summed_over_rank(product, self.rank)

    def last_weight(self, theta: Theta) -> Array:
        """The last weight of the last coordinate's network: u is linear in one factor at a time."""
        return linear_end(self.network).last_weight(theta[-1])

    def with_last_weight(self, theta: Theta, weight: Array) -> Theta:
        *earlier, last = theta
        return (*earlier, linear_end(self.network).with_last_weight(last, weight))

    def _parts(self, inputs: int) -> tuple[int, ...]:
        parts = self.parts or (1,) * inputs
        if len(parts) < 2:
            raise UserError(
                "SeparableMLP: there is one space coordinate, and nothing to separate; use the "
                f"network itself, {self.network!r}"
            )
        if sum(parts) != inputs:
            raise UserError(
                f"SeparableMLP: parts={parts} for an input of {inputs} entries; give as many "
                "entries, or leave parts out"
            )
        return tuple(parts)


def summed_over_rank(product: Array | Series, rank: int) -> Array | Series:
    """Σ_j of products of shape (outputs * rank,), to shape (outputs,)."""
    if isinstance(product, Series):
        return product.map_linear(lambda c: c.reshape(-1, rank).sum(-1))
    return product.reshape(-1, rank).sum(-1)
