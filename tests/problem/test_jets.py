"""Derivatives of every kind of field, and the jets an equation is written with."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import (
    MLP,
    Box,
    Hypernetwork,
    Layerwise,
    Linear,
    OneNeuron,
    Problem,
    SpaceTime,
    TimeInduced,
    UserError,
    initial,
)
from tinns.geometry import Batch
from tinns.nn import Formula
from tinns.objective import assemble
from tinns.problem.jets import Recorder, jets_of, multi_index

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(-1, 1), t=(0, 2))
CIRCLE = Box(x=(-1, 1), t=(0, 2), periodic="x")
CYLINDER = Box(x=(-1, 1), y=(0, 3), t=(0, 2), periodic="x")

FIELDS = {
    "layerwise": (TimeInduced(MLP((5, 4)), Layerwise(MLP((3,)))), LINE, 1),
    "layerwise periodic scaled sin": (
        TimeInduced(MLP((4,), "sin"), Layerwise(MLP((3,), "sin")), scaled=True),
        CIRCLE,
        2,
    ),
    "layerwise gelu": (TimeInduced(MLP((4,), "gelu"), Layerwise(MLP((3,)))), CYLINDER, 1),
    "linear scaled": (TimeInduced(MLP((5, 4)), Linear(), scaled=True), LINE, 1),
    "one neuron periodic": (TimeInduced(MLP((4,)), OneNeuron()), CIRCLE, 2),
    "hypernetwork": (TimeInduced(MLP((4,)), Hypernetwork(MLP((3, 2)))), LINE, 1),
    "space-time with bias": (SpaceTime(MLP((5, 4), output_bias=True)), LINE, 1),
    "space-time periodic scaled": (SpaceTime(MLP((4,), "sin"), scaled=True), CIRCLE, 3),
}


def up_to_order(order, axes):
    return [k for k in product(range(order + 1), repeat=axes) if sum(k) <= order]


def of_even_order(order, axes):
    """Some of them, for nested differentiation takes long to compile; all kinds of mixing occur."""
    return [k for k in up_to_order(order, axes) if sum(k) % 2 == 0]


@pytest.mark.parametrize("name", FIELDS)
def test_all_derivatives_to_order_four_agree_with_nested_forward_mode(name):
    field, domain, outputs = FIELDS[name]
    chosen = up_to_order if name == "layerwise" else of_even_order
    indices = chosen(4 if len(domain.axes) == 2 else 2, len(domain.axes))
    # Parameters of size one, so that no part of ψ is switched off as it is at the start.
    random = np.random.default_rng(1)
    shapes = jax.eval_shape(lambda: field.init(jax.random.key(0), domain, outputs))
    psi = jax.tree.map(lambda leaf: jnp.asarray(random.normal(0, 0.7, leaf.shape)), shapes)
    point = dict(zip("xyt", (0.37, 1.3, 0.81), strict=True))
    point = {axis: point[axis] for axis in domain.axes}
    plain = Formula(lambda **coordinates: field(psi, domain, outputs, coordinates))

    swept = jax.jit(lambda p: field.derivatives(psi, domain, outputs, p, indices))(point)
    nested = jax.jit(lambda p: plain.derivatives((), domain, outputs, p, indices))(point)

    assert set(swept) == set(indices)
    size = max(float(jnp.abs(value).max()) for value in nested.values())
    for k in indices:
        assert swept[k].shape == (outputs,)
        np.testing.assert_allclose(swept[k], nested[k], rtol=1e-11, atol=1e-13 * size, err_msg=k)


def test_a_formula_has_its_closed_form_derivatives():
    wave = Formula(lambda x, t: jnp.sin(2 * x) * jnp.exp(-3 * t))
    indices = up_to_order(4, 2)
    values = wave.derivatives((), LINE, 1, {"x": 0.4, "t": 0.2}, indices)
    for i, j in indices:
        closed = 2**i * np.sin(0.8 + i * np.pi / 2) * (-3) ** j * np.exp(-0.6)
        np.testing.assert_allclose(values[i, j], [closed], rtol=1e-13)


def test_derivative_names():
    assert multi_index("xxt", LINE) == (2, 1)
    assert multi_index("xt", LINE) == multi_index("tx", LINE)
    assert multi_index("", LINE) == (0, 0)


def test_an_equation_records_exactly_the_derivatives_it_names():
    recorder = Recorder(LINE, ("u", "v"))
    u, v = recorder.jets()
    u.t + u * v.x - v.xxx
    assert recorder.indices == {(0, 0), (0, 1), (1, 0), (3, 0)}


class Spy:
    """A field that notes which derivatives it is asked for."""

    def __init__(self):
        self.asked = []

    def init(self, key, domain, outputs):
        return ()

    def derivatives(self, psi, domain, outputs, point, indices):
        self.asked.append(set(indices))
        return {k: jnp.zeros(outputs) for k in indices}


class Dispersive(Problem):
    domain = LINE

    def equation(self, u, x, t):
        return u.t + u * u.xxx

    def conditions(self):
        return [initial(0.0)]


def test_a_region_asks_the_field_for_its_own_derivatives_only():
    spy = Spy()
    system = assemble(Dispersive(), spy)
    point = Batch({"x": jnp.asarray(0.1), "t": jnp.asarray(0.2)})
    psi = {"field": (), "coefficients": {}}
    for block in system.blocks:
        block.rows(psi, point)
    assert spy.asked == [{(0, 0), (0, 1), (3, 0)}, {(0, 0)}]


@pytest.fixture(scope="module")
def jet(float64):
    values = {(0, 0): -0.5, (1, 0): 2.0, (1, 1): 7.0}
    (u,) = jets_of({k: jnp.asarray([v]) for k, v in values.items()}, LINE, ("u",))
    return u


def test_a_jet_gives_derivatives_by_name(jet):
    assert jet.value == -0.5
    assert jet.x == 2.0
    assert jet.xt == jet.tx == 7.0


def test_a_jet_behaves_like_its_value(jet):
    assert 1 - jet == 1.5
    assert jet - 1 == -1.5
    assert 2 / jet == -4.0
    assert jet / 2 == -0.25
    assert jet**2 == 0.25
    assert 2**jet == 2**-0.5
    assert -jet == 0.5
    assert abs(jet) == 0.5
    assert jet * jet == 0.25
    assert jet < 0
    assert jet <= 0
    assert not jet > jnp.asarray(0.0)
    assert jnp.asarray(2.0) * jet == -1.0
    assert np.float64(2.0) * jet == -1.0
    assert jnp.sin(jet) == jnp.sin(-0.5)
    assert jnp.where(jet > 0, 1.0, jet) == -0.5
    assert jax.nn.relu(jet) == 0.0


def test_an_axis_that_the_domain_lacks_is_named(jet):
    with pytest.raises(UserError, match=r"u.xy.*'y'.*x, t"):
        jet.xy  # noqa: B018
    assert not hasattr(jet, "yy")
