"""A verdict on a solution: whether to trust it, and why."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["trusted", "doubtful", "failed"]
STATUSES: tuple[Status, ...] = ("trusted", "doubtful", "failed")  # from the best to the worst


@dataclass(frozen=True)
class Finding:
    """What one check found: the best status it allows, why, and what would help."""

    status: Status
    sentence: str
    suggestion: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether a solution can be trusted, the reasons, and what would help if it cannot."""

    status: Status
    reasons: tuple[str, ...]
    suggestions: tuple[str, ...] = ()

    @property
    def is_trusted(self) -> bool:
        return self.status == "trusted"

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> "Verdict":
        """The worst status of all findings; their sentences, the gravest first."""
        grave = sorted(findings, key=lambda finding: -STATUSES.index(finding.status))
        status = grave[0].status if grave else "doubtful"
        reasons = tuple(dict.fromkeys(f.sentence for f in grave))
        suggestions = tuple(dict.fromkeys(f.suggestion for f in grave if f.suggestion))
        return cls(status, reasons or ("nothing was checked",), suggestions)

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives it back."""
        return {
            "status": self.status,
            "reasons": list(self.reasons),
            "suggestions": list(self.suggestions),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Verdict":
        return cls(data["status"], tuple(data["reasons"]), tuple(data.get("suggestions", ())))
