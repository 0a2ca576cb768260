"""The state at the initial time, from the initial conditions at each point of a grid."""

import numpy as np

from tinns.geometry import TIME
from tinns.verification.posed import Posed
from tinns.verification.refusals import NotApplicable
from tinns.verification.rows import coordinates_of, in_chunks


def initial_state(given: Posed, points: np.ndarray) -> np.ndarray:
    """y at the initial time at some points, (levels, points), by Newton iterations at each."""
    names = given.names
    own = given.state_names
    if not given.initial:
        raise NotApplicable(
            "initial", f"the initial value of {given.problem.unknowns[0]} is not given"
        )
    where = coordinates_of(given.box, points, np.array([given.box.start]))[0]
    jets = np.zeros((len(points), len(names)))
    for _ in range(12):
        values, slopes = in_chunks(given.start, jets, where)
        if not np.isfinite(values).all():
            raise NotApplicable("initial", f"the initial value is not finite at all {TIME} = start")
        _check(given, slopes, own)
        change = np.linalg.solve(slopes[:, :, own], -values[..., None])[..., 0]
        jets[:, own] += change
        if np.abs(change).max() <= 1e-13 * max(np.abs(jets).max(), 1e-300):
            break
    else:
        raise NotApplicable(
            "initial", "the initial conditions cannot be solved for the initial values"
        )
    return jets[:, own].T.copy()


def _check(given: Posed, slopes: np.ndarray, own: list[int]) -> None:
    """The rows determine the state, and nothing but the state occurs in them."""
    occurs = np.abs(slopes).max(axis=(0, 1)) > 0
    others = [n for n in np.flatnonzero(occurs) if n not in own]
    if others:
        raise NotApplicable(
            "form", "the initial conditions contain derivatives of the initial values"
        )
    for place, (unknown, order) in zip(own, given.levels, strict=True):
        if not occurs[place]:
            name = given.problem.unknowns[unknown]
            what = {0: "value", 1: "velocity"}.get(order, f"time derivative of order {order}")
            raise NotApplicable("initial", f"the initial {what} of {name} is not given")
    if slopes.shape[1] != len(own):
        raise NotApplicable(
            "initial",
            f"there are {slopes.shape[1]} initial conditions for {len(own)} initial values",
        )
