"""How many points resolve given functions on an axis, and where they should be dense."""

from collections.abc import Callable

import numpy as np

from tinns.verification.collocation import Axis, Layer

Sample = Callable[[Axis], np.ndarray]  # values at the points of an axis, the last dimension

TOLERANCE = 1e-3  # what may be left out, relative to the largest function
SMOOTH = 96  # functions that need fewer points get no map
STRENGTHS = (3.0, 6.0, 12.0, 25.0, 50.0, 100.0, 200.0)  # of maps that are tried


def resolving(
    interval: tuple[float, float], periodic: bool, sample: Sample
) -> tuple[Layer | None, int]:
    """The map with which functions need the fewest points, and their number.

    A map has to save a good part of the points, because it makes round-off larger.
    """
    plain = Axis(interval, 512, periodic)
    values = sample(plain)
    best: tuple[Layer | None, int] = (None, plain.wanted(values, TOLERANCE))
    if periodic or best[1] <= SMOOTH:
        return best
    for centre in _centres(plain, values):
        for strength in STRENGTHS:
            layer = Layer(centre, strength)
            axis = Axis(interval, 256, False, layer)
            wanted = axis.wanted(sample(axis), TOLERANCE)
            if wanted < 0.7 * best[1]:
                best = (layer, wanted)
    return best


def _centres(axis: Axis, values: np.ndarray) -> list[float]:
    """Where functions are steepest and where they are largest, on [-1, 1]."""
    rows = values.reshape(-1, axis.count)
    slopes = np.abs(np.diff(rows, axis=1) / np.diff(axis.points))
    places = {int(np.argmax(slopes.max(axis=0))), int(np.argmax(np.abs(rows).max(axis=0)))}
    units = [2 * (axis.points[n] - axis.interval[0]) / axis.length - 1 for n in places]
    return [float(np.clip(unit, -0.98, 0.98)) for unit in units]
