"""The paper's diagnostics, each a function from a request to a table, numbers and a picture."""

from collections.abc import Callable

from tinns.diagnostics.findings import Findings, Request
from tinns.diagnostics.rank_one import rank_one_shares
from tinns.diagnostics.spatial_derivative import slope_errors
from tinns.diagnostics.training_stability import compare_training
from tinns.errors import unknown_name

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
        "share of one direction in the path of weights fitted to KdV time by time",
        rank_one_shares,
    ),
}


def diagnostic_named(name: str) -> Callable[[Request], Findings]:
    """The diagnostic called `name`."""
    if name not in DIAGNOSTICS:
        raise unknown_name("diagnostic", name, DIAGNOSTICS)
    return DIAGNOSTICS[name][1]


__all__ = ["DIAGNOSTICS", "Findings", "Request", "diagnostic_named"]
