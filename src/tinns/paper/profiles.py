"""Profiles: how long the runs of a table are."""

import math
from dataclasses import dataclass

from tinns._runtime.errors import UserError


@dataclass(frozen=True)
class Profile:
    """How long cells run; `small` also reduces networks and points, to check that all cells run."""

    name: str
    seconds: float | None = None
    iterations: int | None = None
    small: bool = False

    @property
    def budget(self) -> str:
        """The profile's name in files: cells of different budgets are different cells."""
        return self.name if self.seconds is None else f"{self.name}-{self.seconds:g}s"


def profile_named(name: str, seconds: float | None = None) -> Profile:
    """paper: as long as each recipe says; equal-time: `seconds` each; smoke: two iterations."""
    if name not in ("paper", "equal-time", "smoke"):
        raise UserError(f"profile '{name}': expected paper, equal-time (with --seconds) or smoke")
    if name == "equal-time":
        if seconds is None:
            raise UserError(
                "profile equal-time: give the training time of each method, as in --seconds 60"
            )
        if not 0 < seconds < math.inf:
            raise UserError(f"--seconds {seconds:g}: expected a number above 0")
        return Profile(name, seconds=seconds)
    if seconds is not None:
        raise UserError(
            f"--seconds {seconds:g}: only profile equal-time takes it; leave it out for {name}"
        )
    return Profile(name, iterations=2, small=True) if name == "smoke" else Profile(name)
