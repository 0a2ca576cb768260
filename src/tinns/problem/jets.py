"""The jet of an unknown: `u` with its derivatives as attributes, `u.t`, `u.xx`, `u.xt`.

Inside an equation a jet behaves like the number u (also inside jnp functions). To find which
derivatives an equation uses, it is run once on jets that record them.
"""

import operator
from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from tinns._runtime.errors import UnknownAxisError, UserError
from tinns.geometry import Domain, MultiIndex


def multi_index(name: str, domain: Domain, unknown: str = "u") -> MultiIndex:
    """`xxt` -> (2, 1) on a box with the axes x, t."""
    for letter in name:
        if letter not in domain.axes:
            raise UnknownAxisError(
                f"{unknown}.{name}: the domain has no axis '{letter}'; "
                f"its axes are {', '.join(domain.axes)}"
            )
    return tuple(name.count(axis) for axis in domain.axes)


@jax.tree_util.register_pytree_node_class
class Jet:
    """One unknown at one point: its value, and its derivatives by name."""

    __array_priority__ = 1000

    def __init__(self, value: Array, lookup: Callable[[str], Array] | None = None) -> None:
        self._value = value
        self._lookup = lookup

    # As a tree a jet is its value: that is how jnp functions, which are compiled, receive it.
    def tree_flatten(self) -> tuple[tuple[Array], None]:
        return (self._value,), None

    @classmethod
    def tree_unflatten(cls, _: None, children: tuple[Array]) -> "Jet":
        return cls(children[0])

    def __jax_array__(self) -> Array:
        return self._value

    @property
    def value(self) -> Array:
        return self._value

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or not name.isalpha():
            raise AttributeError(f"{name!r} names no derivative; write u.x, u.tt, u.xxt, ...")
        if self._lookup is None:
            raise UserError(
                f"derivative '{name}' of a bare value: take it before applying jnp functions"
            )
        return self._lookup(name)

    def __repr__(self) -> str:
        return f"Jet({self._value})"


Numbers = Jet | ArrayLike | Sequence[Jet | ArrayLike]  # one or several, at one point


def _plain(value: Jet | ArrayLike) -> ArrayLike:
    return value._value if isinstance(value, Jet) else value


def _behaves_like_its_value(name: str, arity: int, reflected: bool = False) -> None:
    """Give Jet the operator `name`, acting on the value."""
    function = getattr(operator, name)
    if arity == 1:
        setattr(Jet, f"__{name}__", lambda self: function(self._value))
        return
    setattr(Jet, f"__{name}__", lambda self, other: function(self._value, _plain(other)))
    if reflected:
        setattr(Jet, f"__r{name}__", lambda self, other: function(_plain(other), self._value))


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _behaves_like_its_value(_name, 2, reflected=True)
for _name in ("lt", "le", "gt", "ge"):
    _behaves_like_its_value(_name, 2)
for _name in ("neg", "pos", "abs"):
    _behaves_like_its_value(_name, 1)


def jets_of(
    derivatives: Mapping[MultiIndex, Array], domain: Domain, unknowns: tuple[str, ...]
) -> list[Jet]:
    """One jet per unknown from a field's derivatives, each of shape (outputs,)."""
    zero = (0,) * len(domain.axes)

    def lookup(number: int, unknown: str) -> Callable[[str], Array]:
        return lambda name: derivatives[multi_index(name, domain, unknown)][number]

    return [
        Jet(derivatives[zero][number], lookup(number, unknown))
        for number, unknown in enumerate(unknowns)
    ]


class Recorder:
    """Stands in for a field while an equation is traced: records every derivative it uses."""

    def __init__(self, domain: Domain, unknowns: tuple[str, ...]) -> None:
        self.domain = domain
        self.unknowns = unknowns
        self.indices: set[MultiIndex] = {(0,) * len(domain.axes)}

    def jets(self) -> list[Jet]:
        return [Jet(jnp.zeros(()), self._note(unknown)) for unknown in self.unknowns]

    def _note(self, unknown: str) -> Callable[[str], Array]:
        def note(name: str) -> Array:
            self.indices.add(multi_index(name, self.domain, unknown))
            return jnp.zeros(())

        return note
