"""Classes of your own that solution files may name."""

from dataclasses import is_dataclass
from typing import TypeVar

from tinns._runtime.errors import UserError

Described = TypeVar("Described")

REGISTERED: dict[str, type] = {}


def register(cls: type[Described]) -> type[Described]:
    """Allow solution files to name a field, backbone or trajectory of your own.

    A decorator for a frozen dataclass. A file holds the name and the settings of the class, no
    code: import the module that defines it before you load the file.
    """
    if not (isinstance(cls, type) and is_dataclass(cls)):
        raise UserError(
            f"nn.register: {cls!r} is not a dataclass; put @dataclass(frozen=True) below"
        )
    REGISTERED[cls.__name__] = cls
    return cls
