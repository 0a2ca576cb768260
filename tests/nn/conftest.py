"""Parameters in general position, where no gate is shut and no bias zero."""

import jax
import numpy as np
import pytest


@pytest.fixture(scope="session")
def drawn():
    """`drawn(field.init, domain, outputs)`: a tree as `init` makes it, of random numbers."""

    def draw(init, *arguments):
        random = np.random.default_rng(11)
        shapes = jax.eval_shape(lambda: init(jax.random.key(0), *arguments))
        return jax.tree.map(lambda leaf: 0.6 * random.normal(size=leaf.shape), shapes)

    return draw
