"""Problems with exact solutions, and what solves them by space-time separation."""

from functools import cache
from math import pi

import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Box, FrozenFeatures, Problem, RandomFeatures, Recipe


class Transport(Problem):
    """u_t = u_x with u = ln(x + t): singular where the box begins."""

    domain = Box(x=(0, 2), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.x

    def conditions(self):
        inflow = tinns.dirichlet(lambda t: jnp.log(2 + t), on="x+")
        return [tinns.initial(lambda x: jnp.log(x)), inflow]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.log(x + t))

    def test_grid(self):
        return {"x": np.linspace(0, 2, 257)[1:], "t": np.linspace(0, 1, 101)[1:]}


class Advection(Problem):
    """u_t + u_x = 0 round a circle."""

    domain = Box(x=(0, 1), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t + u.x

    def conditions(self):
        return [tinns.initial(lambda x: jnp.exp(jnp.sin(2 * pi * x)))]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.exp(jnp.sin(2 * pi * (x - t))))


class String(Problem):
    """u_tt = u_xx with a moving end: u = sin(x + t) + x."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.tt - u.xx

    def conditions(self):
        return [
            tinns.initial(lambda x: jnp.sin(x) + x),
            tinns.initial_velocity(lambda x: jnp.cos(x)),
            tinns.dirichlet(lambda t: jnp.sin(t), on="x-"),
            tinns.neumann(lambda t: jnp.cos(1 + t) + 1, on="x+"),
        ]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.sin(x + t) + x)


class Acoustics(Problem):
    """u_t + v_x = 0, v_t + u_x = 0: two unknowns, and a boundary condition for one of them."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t + v.x, v.t + u.x

    def conditions(self):
        return [
            tinns.initial(lambda x: (jnp.sin(pi * x), 0.0)),
            tinns.dirichlet(0.0, of="u"),
        ]

    def reference(self):
        def standing(x, t):
            u = jnp.sin(pi * x) * jnp.cos(pi * t)
            return jnp.stack([u, -jnp.cos(pi * x) * jnp.sin(pi * t)], axis=-1)

        return tinns.exact(standing)


@cache
def separated(problem, width=40, seed=0, kind="swim", scale=1.0, stop=None, **settings):
    """The problem solved with few features."""
    recipe = Recipe(
        field=RandomFeatures(width, kind, scale),
        solver=FrozenFeatures(**settings),
        points=tinns.Counts(200, 50, 20),
        validation=tinns.Counts(200, 50, 20),
    )
    recipe = recipe.replace(stop=stop) if stop else recipe
    return tinns.solve(problem, recipe, seed=seed, progress=False)


@pytest.fixture(scope="session")
def solve():
    """Solves each problem with the same settings once; `solve.__wrapped__` solves it again."""
    return separated


@pytest.fixture(scope="session")
def transport():
    return Transport()


@pytest.fixture(scope="session")
def advection():
    return Advection()


@pytest.fixture(scope="session")
def string():
    return String()


@pytest.fixture(scope="session")
def acoustics():
    return Acoustics()
