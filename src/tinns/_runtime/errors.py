"""What a user did wrong, said in one line: the value, what was expected, what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(ValueError):
    """A mistake in what was asked for, as opposed to a fault of the program."""


class UnknownAxisError(UserError, AttributeError):
    """A derivative names an axis that the domain does not have."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UserError:
    """The error for a name that is not in `known`, with the nearest one suggested."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean '{near[0]}'? " if near else ""
    known_names = f"known are {', '.join(names)}" if names else "there are none"
    return UserError(f"unknown {kind} '{name}': {hint}{known_names}")
