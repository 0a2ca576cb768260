"""Frozen features: derivatives of every order against formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Box, RandomFeatures, UserError
from tinns.nn import Formula
from tinns.nn.embeddings import embed_space
from tinns.nn.random_features import DEGREE, constant_path

pytestmark = pytest.mark.usefixtures("float64")

BOX = Box(x=(-1, 2), y=(0, 3), t=(1, 3), periodic="y")
INDICES = [(0, 0, 0), (2, 0, 0), (1, 1, 0), (0, 3, 1), (0, 0, 2), (1, 0, 3)]


def drawn(field, outputs=2):
    psi = field.init(jax.random.key(3), BOX, outputs)
    path = jax.random.normal(jax.random.key(4), psi["path"].shape)
    return psi | {"path": path / 2.0 ** jnp.arange(DEGREE + 1)[:, None, None, None]}


def formula(psi, panel):
    """The same function written down: cosines for Chebyshev polynomials, on one panel."""
    lower, upper = psi["edges"][panel], psi["edges"][panel + 1]

    def u(**point):
        x = embed_space(BOX, point, scaled=True)
        features = jnp.append(jnp.tanh(psi["weights"] @ x + psi["biases"]), 1.0)
        angle = jnp.arccos(2 * (point["t"] - lower) / (upper - lower) - 1)
        polynomials = jnp.cos(jnp.arange(DEGREE + 1) * angle)
        return jnp.einsum("d,dwo,w->o", polynomials, psi["path"][:, panel], features)

    return Formula(u)


@pytest.mark.parametrize(("t", "panel"), [(1.3, 0), (1.9, 1), (2.8, 2)])
def test_derivatives_agree_with_the_formula_on_every_panel(t, panel):
    field = RandomFeatures(6, panels=3)
    psi = drawn(field)
    point = {"x": jnp.asarray(0.7), "y": jnp.asarray(1.1), "t": jnp.asarray(t)}
    found = field.derivatives(psi, BOX, 2, point, INDICES)
    known = formula(psi, panel).derivatives((), BOX, 2, point, INDICES)
    for k in INDICES:
        np.testing.assert_allclose(found[k], known[k], rtol=1e-9, atol=1e-9)


def test_a_resting_path_has_the_coefficients_at_all_times():
    field = RandomFeatures(5)
    psi = drawn(field, 1)
    c = jnp.arange(6.0)[:, None]
    resting = constant_path(psi, c)
    for t in (1.0, 2.2, 3.0):
        point = {"x": jnp.asarray(0.1), "y": jnp.asarray(2.0), "t": jnp.asarray(t)}
        features = field.features(psi, BOX, point, [(0, 0, 0)])[0, 0, 0]
        found = field.derivatives(resting, BOX, 1, point, [(0, 0, 0), (0, 0, 1)])
        np.testing.assert_allclose(found[0, 0, 0], features @ c, rtol=1e-13)
        np.testing.assert_allclose(found[0, 0, 1], 0.0)


def test_a_periodic_axis_closes():
    field = RandomFeatures(5, panels=2)
    psi = drawn(field)
    ends = [
        field.derivatives(
            psi, BOX, 2, {"x": jnp.ones(()), "y": jnp.asarray(y), "t": jnp.asarray(2.5)}, INDICES
        )
        for y in (0.0, 3.0)
    ]
    for k in INDICES:
        np.testing.assert_allclose(ends[0][k], ends[1][k], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("settings", [{"width": 0}, {"kind": "rbf"}, {"scale": -1.0}])
def test_settings_that_make_no_sense_are_named(settings):
    (name,) = settings
    with pytest.raises(UserError, match=f"{name}="):
        RandomFeatures(**settings)
