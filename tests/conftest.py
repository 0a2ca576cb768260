"""Fixtures shared by all tests: the float64 scope, and one small problem with a known solution."""

import os
from importlib.metadata import version
from math import pi

import jax
import jax.numpy as jnp
import pytest

import tinns

# Kernels that are quicker to make, where JAX knows the flag; it is read before the first program.
if version("jax").startswith("0.10."):
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")


def pytest_collection_modifyitems(items):
    """Begin with the long tests, so that no worker is left with them at the end."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="module")
def quick_compilation():
    """The programs of most tests are small and run a few times: compile them quickly, not well."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture(scope="module")
def float64(quick_compilation):
    """Double precision for the tests of a module; tests without it see the user's default."""
    with jax.enable_x64(True):
        yield


class Heat(tinns.Problem):
    """u_t = D u_xx with u = sin(πx) exp(-D π² t)."""

    D: float = 0.1
    domain = tinns.Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.D * u.xx

    def conditions(self):
        return [tinns.initial(lambda x: jnp.sin(pi * x)), tinns.dirichlet(0.0)]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.sin(pi * x) * jnp.exp(-self.D * pi**2 * t))


@pytest.fixture(scope="session")
def heat():
    return Heat()


@pytest.fixture(scope="session")
def small_field():
    return tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear())


@pytest.fixture(scope="session")
def few_points():
    return tinns.Counts(30, 11, 6)
