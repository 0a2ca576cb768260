"""Whether the conditions of a problem determine its solution.

The problem is linearised at a solution. A change e of the unknowns goes unnoticed if all rows A e
are far smaller than e. The smallest ‖A e‖ / ‖e‖ is sought among polynomials e of space and time,
which can only be too few: a problem that determines its solution has a positive lower bound for all
functions. Where solutions grow quickly that bound is small as well; what the solution is at the
initial time and on the boundary then does not raise it, while it excludes other changes.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import jax

from tinns._runtime.host_blas import single_threaded_blas
from tinns._runtime.precision import computing_in
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.scales import Scales
from tinns.problem.base import Problem
from tinns.verification.changes import Changes
from tinns.verification.unnoticed import Undetermined, weakest_and_unnoticed

COORDINATES = 560  # of a change, at most


@dataclass(frozen=True)
class Determinacy:
    """Whether a solution is determined; `weakest` is the smallest ‖A e‖ / ‖e‖ of any change e."""

    weakest: float
    undetermined: tuple[Undetermined, ...] = ()
    seconds: float = 0.0

    @property
    def determined(self) -> bool:
        return not self.undetermined

    @property
    def sentence(self) -> str:
        found = [each.sentence for each in self.undetermined]
        return "; ".join(found) or "the conditions determine the solution"

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives the result back."""
        return asdict(self)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Determinacy":
        found = [
            Undetermined(tuple(u["names"]), u["kind"], tuple(u["missing"]), u["sentence"])
            for u in data["undetermined"]
        ]
        return cls(data["weakest"], tuple(found), data["seconds"])


def check_determinacy(
    problem: Problem,
    field: Field,
    psi: Psi,
    *,
    scales: Scales | None = None,
    budget: float = 3.0,
    seed: int = 0,
) -> Determinacy:
    """Whether the conditions determine the solution, a field with parameters ψ.

    It takes a few seconds, most of them for compilation; with a `budget` of less than two seconds
    it looks among fewer changes.
    """
    started = time.monotonic()
    count = COORDINATES if budget >= 2 else COORDINATES // 2
    on_host = jax.default_device(jax.devices("cpu")[0])
    with single_threaded_blas(), computing_in("float64"), on_host:
        weakest, found = weakest_and_unnoticed(Changes(problem, field, psi, scales, seed, count))
    return Determinacy(weakest, found, time.monotonic() - started)
