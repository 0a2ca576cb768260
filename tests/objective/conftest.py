"""A small least-squares problem, and its residual vector and Jacobian written out."""

import jax
import jax.numpy as jnp
import pytest
from jax.flatten_util import ravel_pytree

from tinns import Uniform
from tinns.objective import Objective, assemble


@pytest.fixture(scope="module")
def posed(float64, heat, small_field, few_points):
    system = assemble(heat, small_field, {"initial": 2.0})
    psi = system.init(jax.random.key(0))
    return system.blocks, psi, system.draw(jax.random.key(1), few_points, Uniform())


@pytest.fixture(scope="module")
def explicit(posed):
    """The flat ψ, the residual vector as a function of it, and its value and Jacobian."""
    blocks, psi, data = posed
    flat, unravel = ravel_pytree(psi)

    @jax.jit
    def vector(p):
        rows = Objective(blocks, data).residuals(unravel(p))
        return jnp.concatenate([r.reshape(-1) for r in rows])

    return flat, vector, vector(flat), jax.jit(jax.jacfwd(vector))(flat)
