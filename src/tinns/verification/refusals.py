"""Why a classical check gives no estimate, in a form that a verdict can use."""

from typing import Literal

Lack = Literal[
    "form",  # the check does not treat problems of this kind
    "dimension",  # it was asked not to treat as many space dimensions
    "initial",  # the initial conditions do not determine the initial state
    "boundary-missing",  # too few boundary conditions to determine a solution
    "boundary-excess",  # more boundary conditions than the equation allows
    "resolution",  # the solution is not resolved by as many points as allowed
    "time",  # the budget was not enough
]
Failure = Literal["blow-up", "ill-posed"]


class NotApplicable(Exception):
    """The classical check does not apply to this problem; the message is a sentence that says why.

    It begins with a lower-case letter and has no full stop. `kind` tells what a verdict may
    conclude: "boundary-missing", "boundary-excess" and "initial" are about the problem, the others
    about the check alone.
    """

    def __init__(self, kind: Lack, sentence: str) -> None:
        super().__init__(sentence)
        self.kind: Lack = kind


class Breakdown(Exception):
    """The problem itself has no solution to compare with, from `time` on."""

    def __init__(self, kind: Failure, sentence: str, time: float) -> None:
        super().__init__(sentence)
        self.kind: Failure = kind
        self.time = time
