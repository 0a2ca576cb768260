"""Words for sentences about a problem."""

from collections.abc import Sequence

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")
_ORDINALS = {2: "second", 3: "third"}


def counted(number: int, what: str) -> str:
    """`two equations`."""
    word = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{word} {what}{'s' * (number != 1)}"


def listed(names: Sequence[str]) -> str:
    """`u, v and w`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def derivative(zeroth: str, first: str, order: int) -> str:
    """What a derivative of some order is called, such as `value`, `slope`, `second derivative`."""
    if order < 2:
        return (zeroth, first)[order]
    return f"{_ORDINALS.get(order, f'{order}th')} derivative"
