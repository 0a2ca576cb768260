"""How far a solution can be trusted: error estimates that need no reference, and verdicts."""

from tinns.verification.classical import Breakdown, NotApplicable, classical_estimate
from tinns.verification.compatibility import Compatibility, Contradiction, check_compatibility
from tinns.verification.determinacy import Determinacy, Undetermined, check_determinacy
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.estimating import estimate_error
from tinns.verification.from_network import network_estimate
from tinns.verification.inspection import Inspection, Misfit, inspect_residuals
from tinns.verification.verdict import Finding, Verdict
from tinns.verification.verification import Check, Verification, verify

__all__ = [
    "Breakdown",
    "Check",
    "Compatibility",
    "Contradiction",
    "Determinacy",
    "ErrorEstimate",
    "Finding",
    "Inspection",
    "Misfit",
    "NotApplicable",
    "Undetermined",
    "Verdict",
    "Verification",
    "check_compatibility",
    "check_determinacy",
    "classical_estimate",
    "estimate_error",
    "inspect_residuals",
    "network_estimate",
    "verify",
]
