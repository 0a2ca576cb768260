"""Descriptions as plain data: how records and solution files store dataclasses."""

from dataclasses import fields, is_dataclass
from typing import Any


def settings_of(value: object) -> Any:
    """A recipe, or any part of one, as plain data for a record."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: settings_of(getattr(value, f.name)) for f in fields(value)}
        return {"class": type(value).__name__, **inner}
    if isinstance(value, tuple | list):
        return [settings_of(v) for v in value]
    return dict(value) if isinstance(value, dict) else value
