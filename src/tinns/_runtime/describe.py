"""Descriptions as plain data: what records and solution files hold of a dataclass."""

from dataclasses import fields, is_dataclass
from typing import Any


def settings_of(value: Any) -> Any:
    """A recipe, or any part of one, as plain data for a record.

    Functions, such as a sampler of your own, are recorded by name.
    """
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: settings_of(getattr(value, f.name)) for f in fields(value)}
        return {"class": type(value).__name__, **inner}
    if isinstance(value, tuple | list):
        return [settings_of(v) for v in value]
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    return dict(value) if isinstance(value, dict) else value
