"""Error against seconds or iterations: thinned out, averaged over seeds, and when it is passed."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tinns.training import History

CURVE_POINTS = 60
Curve = Sequence[dict[str, Any]]


def thinned_curve(history: History) -> list[dict[str, Any]]:
    """Where the error was measured, with seconds and loss; empty where it was not."""
    iterations, errors = history.measured("relative_l2")
    stride = max(1, len(iterations) // CURVE_POINTS)
    return [
        {
            "iteration": int(i),
            "seconds": float(history["seconds"][int(i) - 1]),
            "loss": float(history["loss"][int(i) - 1]),
            "relative_l2": float(e),
        }
        for i, e in zip(iterations[::stride], errors[::stride], strict=True)
    ]


def shared_curve(
    curves: Sequence[Curve], along: str = "seconds", over: Callable[..., Any] = np.mean
) -> tuple[np.ndarray, np.ndarray]:
    """Seconds (or iterations), and the mean (or another function) over seeds of the error there.

    It spans what all seeds have in common; between its measurements a seed's curve is straight in
    logarithms.
    """
    columns = [np.array([(p[along], p["relative_l2"]) for p in curve]) for curve in curves]
    begin = max(column[0, 0] for column in columns)
    end = min(column[-1, 0] for column in columns)
    places = np.unique(np.concatenate([column[:, 0] for column in columns]))
    places = places[(begin <= places) & (places <= end)]
    errors = [np.exp(np.interp(np.log(places), *np.log(column).T)) for column in columns]
    return places, over(errors, axis=0)


def passes_for_good(places: np.ndarray, errors: np.ndarray, error: float) -> float | None:
    """Where a curve is below an error for the rest of its way; None where it does not end there."""
    (above,) = np.nonzero(errors > error)
    last = above[-1] + 1 if above.size else 0
    if last == len(errors):
        return None
    if last == 0:
        return float(places[0])
    part = slice(last - 1, last + 1)  # falling: np.interp wants it the other way round
    position = np.interp(np.log(error), np.log(errors[part])[::-1], np.log(places[part])[::-1])
    return float(np.exp(position))
