"""References computed once for all tests here, in a cache folder of their own."""

import jax
import numpy as np
import pytest

from tinns.problems.references import allen_cahn, korteweg_de_vries


@pytest.fixture(autouse=True, scope="session")
def temporary_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINNS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def allen_cahn_reference():
    return allen_cahn()


@pytest.fixture(scope="session")
def kdv_reference():
    return korteweg_de_vries()


@pytest.fixture(scope="session")
def derivative():
    """derivative(reference, "xx", x, t): nested forward-mode derivatives at paired points."""

    def nested(formula, axes):
        if not axes:
            return formula
        inner = nested(formula, axes[:-1])
        if axes[-1] == "x":
            return lambda x, t: jax.jvp(lambda x: inner(x, t), (x,), (1.0,))[1]
        return lambda x, t: jax.jvp(lambda t: inner(x, t), (t,), (1.0,))[1]

    def evaluate(reference, axes, x, t):
        function = nested(lambda x, t: reference.formula(x=x, t=t), axes)
        with jax.enable_x64(True):
            x, t = np.broadcast_arrays(np.asarray(x, float), np.asarray(t, float))
            return np.asarray(jax.jit(jax.vmap(function))(x.ravel(), t.ravel())).reshape(x.shape)

    return evaluate


@pytest.fixture(scope="session")
def interior_points():
    """Random (x, t) inside [-1, 1] x [0, 1]."""
    random = np.random.default_rng(7)
    return random.uniform(-1, 1, 400), random.uniform(0, 1, 400)
