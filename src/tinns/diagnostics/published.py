"""The paper's own figures for the diagnostics, as data."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def published() -> dict[str, dict[str, float]]:
    """By diagnostic, then by row of its table; the file cites where each stands."""
    return tomllib.loads(files("tinns.diagnostics").joinpath("paper.toml").read_text("utf-8"))
