"""The accepted steps of an ODE solver as polynomials on few panels."""

import numpy as np
from numpy.polynomial import chebyshev

from tinns.nn.random_features import DEGREE

FEWEST = DEGREE + 2  # steps on a panel: fewer do not determine a polynomial of this degree


def fit_panels(
    times: np.ndarray, states: np.ndarray, tolerance: float, rates: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Edges, and Chebyshev coefficients of shape (degree + 1, panels, size), by bisection.

    An interval is halved until the least-squares polynomial meets the states to the tolerance. The
    derivative of the polynomial meets the `rates`, where they are given, as well as it can.
    """
    pieces: list[tuple[int, int, np.ndarray]] = []
    waiting = [(0, len(times) - 1)]
    while waiting:
        first, last = waiting.pop()
        part = slice(first, last + 1)
        coefficients, error = _fit(
            times[part], states[part], None if rates is None else rates[part]
        )
        middle = _middle(times, first, last)
        if error > tolerance and middle is not None:
            waiting += [(middle, last), (first, middle)]
        else:
            pieces.append((first, last, coefficients))
    pieces.sort(key=lambda piece: piece[0])
    edges = times[[piece[0] for piece in pieces] + [len(times) - 1]]
    return edges, np.stack([piece[2] for piece in pieces], axis=1)


def _middle(times: np.ndarray, first: int, last: int) -> int | None:
    """The step nearest to the middle of the interval that leaves enough steps on both sides."""
    if last - first < 2 * FEWEST:
        return None
    middle = int(np.searchsorted(times, (times[first] + times[last]) / 2))
    return int(np.clip(middle, first + FEWEST, last - FEWEST))


def _fit(
    times: np.ndarray, states: np.ndarray, rates: np.ndarray | None
) -> tuple[np.ndarray, float]:
    """The coefficients of one panel, and the largest distance from the states."""
    degree = min(DEGREE, len(times) - 1)
    half = (times[-1] - times[0]) / 2
    basis = chebyshev.chebvander((times - times[0]) / half - 1, degree)
    weights = np.ones((len(times), 1))
    weights[[0, -1]] = 1e4  # the ends are met almost exactly, so that the path has no jumps
    left, right = [weights * basis], [weights * states]
    if rates is not None:
        slopes = [chebyshev.chebder(unit, axis=0) for unit in np.eye(degree + 1)]
        values = [chebyshev.chebval((times - times[0]) / half - 1, s) for s in slopes]
        left.append(weights * np.stack(values, axis=1) / degree)
        right.append(weights * rates * half / degree)
    found = np.linalg.lstsq(np.concatenate(left), np.concatenate(right), rcond=None)[0]
    error = float(np.abs(basis @ found - states).max())
    return np.concatenate([found, np.zeros((DEGREE - degree, states.shape[1]))]), error
