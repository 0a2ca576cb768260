"""Curves of error against seconds or iterations: thinning, averaging over seeds, thresholds."""

from collections.abc import Sequence
from typing import Literal, TypedDict

import numpy as np

from tinns.solvers import History

CURVE_POINTS = 60
Along = Literal["seconds", "iteration"]
Statistic = Literal["mean", "median", "min", "max"]


class CurvePoint(TypedDict):
    """One measurement of the error during training."""

    iteration: int
    seconds: float
    loss: float
    relative_l2: float


Curve = Sequence[CurvePoint]


def thinned_curve(history: History) -> list[CurvePoint]:
    """The measurements of the error, about CURVE_POINTS of them; empty if there are none."""
    iterations, errors = history.measured("relative_l2")
    stride = max(1, len(iterations) // CURVE_POINTS)
    return [
        CurvePoint(
            iteration=int(i),
            seconds=float(history["seconds"][int(i) - 1]),
            loss=float(history["loss"][int(i) - 1]),
            relative_l2=float(e),
        )
        for i, e in zip(iterations[::stride], errors[::stride], strict=True)
    ]


def shared_curve(
    curves: Sequence[Curve], along: Along = "seconds", statistic: Statistic = "mean"
) -> tuple[np.ndarray, np.ndarray]:
    """Seconds (or iterations), and a statistic over seeds of the error there.

    The curve covers the range that all seeds share. Between measurements, errors are interpolated
    linearly in logarithms.
    """
    columns = [np.array([(p[along], p["relative_l2"]) for p in curve]) for curve in curves]
    begin = max(column[0, 0] for column in columns)
    end = min(column[-1, 0] for column in columns)
    places = np.unique(np.concatenate([column[:, 0] for column in columns]))
    places = places[(begin <= places) & (places <= end)]
    errors = [np.exp(np.interp(np.log(places), *np.log(column).T)) for column in columns]
    return places, getattr(np, statistic)(errors, axis=0)


def stays_below(places: np.ndarray, errors: np.ndarray, error: float) -> float | None:
    """The place from which a curve stays below an error; None if it ends above it."""
    (above,) = np.nonzero(errors > error)
    last = above[-1] + 1 if above.size else 0
    if last == len(errors):
        return None
    if last == 0:
        return float(places[0])
    part = slice(last - 1, last + 1)  # falling: np.interp expects increasing values
    position = np.interp(np.log(error), np.log(errors[part])[::-1], np.log(places[part])[::-1])
    return float(np.exp(position))
