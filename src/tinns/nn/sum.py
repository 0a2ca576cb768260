"""The sum of two fields: a trained one, and one that is added to it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Domain, MultiIndex
from tinns.nn.backbones import Params
from tinns.nn.fields import Advancing, Derivatives, Field, LinearOutput, Sizable
from tinns.nn.registry import register
from tinns.nn.widening import widened


@register
@dataclass(frozen=True)
class Sum:
    """u = first(x, t) + second(x, t), trained together; the second starts as zero.

    Its parameters are the pair of both fields' parameters.
    """

    first: Field
    second: Field

    def __post_init__(self) -> None:
        if not isinstance(self.second, LinearOutput):
            raise UserError(
                f"Sum: second={self.second!r} cannot start as zero; expected a field with a linear "
                "last layer, such as TimeInduced(...) or SpaceTime(...)"
            )

    def init(self, key: Array, domain: Domain, outputs: int) -> tuple[Params, Params]:
        first_key, second_key = jax.random.split(key)
        second = self.second
        assert isinstance(second, LinearOutput)
        added = second.init(second_key, domain, outputs)
        nothing = jnp.zeros_like(second.output_weights(added))
        return (
            self.first.init(first_key, domain, outputs),
            second.with_output_weights(added, nothing),
        )

    def derivatives(
        self,
        psi: tuple[Params, Params],
        domain: Domain,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        wanted = tuple(indices)
        one, two = (
            field.derivatives(own, domain, outputs, point, wanted)
            for field, own in zip((self.first, self.second), psi, strict=True)
        )
        return {k: one[k] + two[k] for k in wanted}

    def advanced(self, psi: tuple[Params, Params], domain: Domain) -> tuple[Params, Params]:
        first, second = (
            field.advanced(own, domain) if isinstance(field, Advancing) else own
            for field, own in zip((self.first, self.second), psi, strict=True)
        )
        return first, second

    def widened(self, factor: float) -> "Sum":
        """With more neurons in both."""
        return Sum(widened(self.first, factor), widened(self.second, factor))

    def with_sizes(self, sizes: tuple[float, ...]) -> "Sum":
        """The same with the outputs of both multiplied by the sizes of the unknowns."""
        first, second = (
            field.with_sizes(sizes) if isinstance(field, Sizable) else field
            for field in (self.first, self.second)
        )
        return replace(self, first=first, second=second)
