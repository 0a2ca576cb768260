"""Parameters in general position, where no gate is shut and no bias zero."""

import jax
import numpy as np
import pytest


@pytest.fixture(scope="session")
def shaken():
    """A parameter tree with noise on every leaf."""

    def shake(tree, size=0.3, seed=11):
        random = np.random.default_rng(seed)
        return jax.tree.map(
            lambda leaf: np.asarray(leaf) + size * random.normal(size=np.shape(leaf)), tree
        )

    return shake
