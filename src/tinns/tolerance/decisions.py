"""What was decided during a search, and when."""

from dataclasses import dataclass
from typing import Any

from tinns.solvers.progress import Reporter


@dataclass(frozen=True)
class Decision:
    """A choice, with its reason, after so many seconds of training."""

    seconds: float
    text: str

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives it back."""
        return {"seconds": self.seconds, "text": self.text}

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Decision":
        return cls(float(data["seconds"]), str(data["text"]))


class Decisions:
    """The decisions of a search, each reported as it is made."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.made: tuple[Decision, ...] = ()

    def add(self, seconds: float, text: str) -> None:
        self.made = (*self.made, Decision(round(seconds, 2), text))
        self.reporter.notice(f"{seconds:.0f} s: {text}")
