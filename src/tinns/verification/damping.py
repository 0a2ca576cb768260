"""Linear least squares with a damping that is chosen on other rows."""

import numpy as np

DAMPINGS = tuple(10.0**power for power in range(-14, 1, 2))  # squared, relative to the columns


def damped_solution(
    matrix: np.ndarray, residual: np.ndarray, other: np.ndarray, other_residual: np.ndarray
) -> tuple[np.ndarray, float]:
    """c that makes r + A c small, damped so that it does so for other rows too.

    With it comes the share of the other residual that is left.
    """
    sizes = np.sqrt((matrix**2).sum(axis=0))
    sizes[sizes == 0] = 1.0
    scaled = matrix / sizes
    gram, right = scaled.T @ scaled, -scaled.T @ residual
    best, least = np.zeros(len(sizes)), 1.0
    norm = max(float(np.linalg.norm(other_residual)), 1e-300)
    for damping in DAMPINGS:
        try:
            found = np.linalg.solve(gram + damping * np.eye(len(sizes)), right) / sizes
        except np.linalg.LinAlgError:
            continue
        left = float(np.linalg.norm(other_residual + other @ found)) / norm
        if left < least:
            best, least = found, left
    return best, least
