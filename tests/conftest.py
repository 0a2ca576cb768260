"""Fixtures shared by all tests: the float64 scope, and one small problem with a known solution."""

import os
from importlib.metadata import version
from math import pi
from pathlib import Path

# Most of the time goes into compiling small programs. Workers and the processes that tests start
# share what they compiled, and kernels are chosen that are quicker to make. JAX reads all of this
# before its first program.
COMPILED = Path(__file__).parents[1] / ".pytest_cache" / "compiled"
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
FLAGS = ["--xla_cpu_parallel_codegen_split_count=1"]
if version("jax").startswith("0.10."):  # later versions do not know the flag
    FLAGS.append("--xla_cpu_use_fusion_emitters=false")
os.environ.setdefault("XLA_FLAGS", " ".join(FLAGS))

import jax
import jax.numpy as jnp
import pytest

import tinns
from tinns._runtime.compilation import thin_out


def pytest_sessionstart(session):
    """Keep the folder of compiled programs from growing."""
    if not hasattr(session.config, "workerinput"):
        COMPILED.mkdir(parents=True, exist_ok=True)
        thin_out(COMPILED)


def pytest_collection_modifyitems(items):
    """Begin with the files that have long tests, so that no worker is left with one at the end."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


@pytest.fixture(scope="module", autouse=True)
def unchecked(request):
    """Errors of short runs are not estimated, unless a test module is marked `checked`."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.get_closest_marker("checked"):
            patch.setattr(tinns.Check, "after_training", lambda seconds: None)
        yield


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
