"""How far a solution can be trusted: error estimates that need no reference, and verdicts."""

from tinns.verification.classical import Breakdown, NotApplicable, classical_estimate
from tinns.verification.determinacy import Determinacy, Undetermined, check_determinacy
from tinns.verification.error_equation import network_estimate
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.estimating import estimate_error

__all__ = [
    "Breakdown",
    "Determinacy",
    "ErrorEstimate",
    "NotApplicable",
    "Undetermined",
    "check_determinacy",
    "classical_estimate",
    "estimate_error",
    "network_estimate",
]
