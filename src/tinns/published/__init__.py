"""The paper's own figures, as data: what is printed in its tables and in its text."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published() -> dict[str, Any]:
    """By table, then by problem and row of the table; each table says where it stands.

    An entry holds what is printed of: error, deviation (over seeds), hours, parameters, iterations.
    """
    return tomllib.loads(files("tinns.published").joinpath("paper.toml").read_text("utf-8"))


def printed(table: str, problem: str, row: str | None) -> dict[str, Any]:
    """What the paper prints of one row; nothing where it has none."""
    return published().get(table, {}).get(problem, {}).get(row, {}) if row else {}


__all__ = ["printed", "published"]
