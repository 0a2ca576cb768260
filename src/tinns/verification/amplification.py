"""The largest change of a solution that its rows notice so little.

Where training rests far from the solution, its residual is nearly orthogonal to all changes at
hand, and none of them explains it. How far the solution may be is then known from the changes that
are noticed least.
"""

import numpy as np
import scipy.linalg

ROUND_OFF = 1e-12  # of the largest eigenvalue: changes noticed less are not told from nothing


def least_noticed(noticed: np.ndarray, values: np.ndarray) -> np.ndarray:
    """c with ‖noticed @ c‖ = 1 and the largest ‖values @ c‖.

    The columns of both are those of the functions that c combines.
    """
    sizes = np.sqrt((noticed**2).sum(axis=0))
    sizes[sizes == 0] = 1.0
    rows, seen = noticed / sizes, values / sizes
    gram = rows.T @ rows
    gram[np.diag_indices_from(gram)] += ROUND_OFF * np.trace(gram)
    last = len(gram) - 1
    _, vectors = scipy.linalg.eigh(seen.T @ seen, gram, subset_by_index=[last, last])
    change = vectors[:, 0] / sizes
    return change / max(float(np.linalg.norm(noticed @ change)), 1e-300)
