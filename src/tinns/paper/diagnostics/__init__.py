"""The paper's diagnostics: each makes a table, numbers and a picture."""

from collections.abc import Callable

from tinns._runtime.errors import unknown_name
from tinns.paper.diagnostics.findings import Findings, Request
from tinns.paper.diagnostics.rank_one import rank_one_shares
from tinns.paper.diagnostics.spatial_derivative import slope_errors
from tinns.paper.diagnostics.training_stability import compare_training

DIAGNOSTICS: dict[str, tuple[str, Callable[[Request], Findings]]] = {
    "spatial-derivative": (
        "error of u_x(0, t) on Burgers, MLP against TINN",
        slope_errors,
    ),
    "training-stability": (
        "losses and updates over the iterations of Algorithm 1 on Burgers, MLP against TINN",
        compare_training,
    ),
    "rank-one": (
        "share of the leading direction in the trajectory of weights fitted to KdV",
        rank_one_shares,
    ),
}


def diagnostic_named(name: str) -> Callable[[Request], Findings]:
    """The diagnostic called `name`."""
    if name not in DIAGNOSTICS:
        raise unknown_name("diagnostic", name, DIAGNOSTICS)
    return DIAGNOSTICS[name][1]


__all__ = ["DIAGNOSTICS", "Findings", "Request", "diagnostic_named"]
