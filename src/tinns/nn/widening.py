"""More neurons in the hidden layers of networks, trajectories and fields."""

from typing import Protocol, Self, TypeVar, runtime_checkable

from tinns._runtime.errors import UserError

Part = TypeVar("Part")


@runtime_checkable
class Widenable(Protocol):
    """A part of a field that knows itself with more neurons in each hidden layer."""

    def widened(self, factor: float) -> Self: ...


def widened(part: Part, factor: float) -> Part:
    """The same with `factor` times as many neurons in each hidden layer."""
    if isinstance(part, Widenable):
        return part.widened(factor)
    raise UserError(
        f"Wider: {part!r} cannot grow; expected SpaceTime(MLP(...)), or TimeInduced(MLP(...)) "
        "with Layerwise(...) or Linear()"
    )
