"""The accepted steps of an ODE solver as polynomials on few panels."""

import numpy as np
from numpy.polynomial import chebyshev

from tinns.fields.random_features import DEGREE

FEWEST = DEGREE + 2  # steps on a panel: fewer do not tell a polynomial of this degree


def fit_panels(
    times: np.ndarray, states: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """Edges, and Chebyshev coefficients of shape (degree + 1, panels, size), by bisection.

    An interval is halved until the least-squares polynomial meets the states to the tolerance.
    """
    pieces: list[tuple[int, int, np.ndarray]] = []
    waiting = [(0, len(times) - 1)]
    while waiting:
        first, last = waiting.pop()
        middle = _middle(times, first, last)
        coefficients, error = _fit(times[first : last + 1], states[first : last + 1])
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


def _fit(times: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, float]:
    degree = min(DEGREE, len(times) - 1)
    tau = 2 * (times - times[0]) / (times[-1] - times[0]) - 1
    basis = chebyshev.chebvander(tau, degree)
    # The ends are met exactly, so that the path has no jumps.
    found = np.linalg.lstsq(_weighted(basis), _weighted(states), rcond=None)[0]
    error = float(np.abs(basis @ found - states).max())
    return np.concatenate([found, np.zeros((DEGREE - degree, states.shape[1]))]), error


def _weighted(rows: np.ndarray) -> np.ndarray:
    weights = np.ones(len(rows))
    weights[[0, -1]] = 1e4
    return rows * weights[:, None]
