"""What the conditions of a problem leave undetermined is found and named; nothing else is."""

from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from ill_posed import UNDETERMINED

from tinns import MLP, Box, Problem, TimeInduced, Trainable, dirichlet, initial, observed
from tinns.nn import Formula
from tinns.paper.untuned_problems import Beam, CoolingPlate, FisherKPP, Reaction, TwoSolitons
from tinns.problems import PROBLEMS
from tinns.verification import Determinacy, check_determinacy
from tinns.verification.changes import smallest_ratios
from tinns.verification.polynomials import polynomials_up_to

pytestmark = pytest.mark.usefixtures("quick_compilation")

FIELD = TimeInduced(MLP((10, 10)))
FOUND = {
    "one-equation-for-two": (("u", "v"), "function", "there is one equation for two unknowns"),
    "heat-without-boundary": (("u",), "function", "the value of u at x- and x+ may be missing"),
    "heat-without-one-end": (("u",), "function", "the value of u at x+ may be missing"),
    "heat-without-start": (("u",), "function", "the initial value of u may be missing"),
    "pressure-up-to-time": (("p",), "function of time", "a constant added to p at each time"),
    "neumann-potential": (("v",), "function of time", "a constant added to v at each time"),
    "constant-only": (("u",), "constant", "a constant added to u"),
    "wave-without-velocity": (("u",), "function", "the initial velocity of u may be missing"),
    "function-of-place-only": (("u",), "function of space", "a function of x added to u"),
    "advection-without-inflow": (("u",), "function", "the value of u at x- may be missing"),
    "solitons-without-slope": (("u",), "function", "needs two conditions at x+"),
    "schroedinger-half": (("u", "v"), "function", "the initial value of v and the value of v at"),
    "product-of-coefficients": (("a", "b"), "coefficients", "a is 1 % larger and b is 1 % smaller"),
    "beam-without-moment": (("u",), "function", "the slope of u at x- and x+ may be missing"),
}
CLASSES = [*PROBLEMS.values(), FisherKPP, TwoSolitons, Beam, CoolingPlate, Reaction]


def determinacy(problem, field=FIELD):
    with jax.enable_x64(True):
        psi = field.init(jax.random.key(0), problem.domain, len(problem.unknowns))
    return check_determinacy(problem, field, {"field": psi, "coefficients": problem.trainable})


def test_all_examples_are_tested():
    assert FOUND.keys() == UNDETERMINED.keys()


@pytest.mark.long
@pytest.mark.parametrize("name", FOUND)
def test_what_is_not_determined_is_named(name):
    names, kind, words = FOUND[name]
    found = determinacy(UNDETERMINED[name]())
    assert not found.determined
    (change,) = found.undetermined
    assert change.names == names
    assert change.kind == kind
    assert words in change.sentence
    assert Determinacy.from_data(found.as_data()) == found


@pytest.mark.long
@pytest.mark.parametrize("problem", CLASSES, ids=lambda cls: cls.name)
def test_problems_with_one_solution_are_determined(problem):
    found = determinacy(problem())
    assert found.determined, found.sentence
    assert found.weakest > 1e-5


class DiffusivityAtStart(Problem):
    """u_t = a u_xx with observations at the initial time alone."""

    a: float | Trainable = Trainable(0.1)
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.a * u.xx

    def conditions(self):
        x = jnp.linspace(0, 1, 20)
        data = observed(x=x, t=0 * x, u=jnp.sin(pi * x))
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0), data]


def test_a_coefficient_that_no_observation_sees():
    """Any diffusivity has its own solution with the same initial value."""
    solution = Formula(lambda x, t: jnp.sin(pi * x) * jnp.exp(-0.1 * pi**2 * t))
    (change,) = determinacy(DiffusivityAtStart(), solution).undetermined
    assert change.names == ("a",)
    assert change.kind == "coefficients"
    assert "goes unnoticed if the solution changes with it" in change.sentence


@pytest.mark.parametrize("periodic", [(), ("x",)])
def test_polynomials_are_orthonormal_and_have_their_derivatives(periodic):
    box, span = Box(x=(-1, 3), t=(0, 2), periodic=periodic), (0.5, 1.5)
    functions = polynomials_up_to(box, 40, span, 20)
    # Gauss points along each axis; a wave needs many more of them than a polynomial
    nodes, weights = np.polynomial.legendre.leggauss(40)
    x, t = np.meshgrid(1 + 2 * nodes, 1 + nodes / 2, indexing="ij")
    points = {"x": x.ravel(), "t": t.ravel()}
    values = functions.derivatives(box, points, [(0, 0), (2, 1)])
    weight = np.outer(weights, weights).ravel() / 4
    gram = (values[0, 0] * weight[:, None]).T @ values[0, 0]
    np.testing.assert_allclose(gram, np.eye(functions.count), atol=1e-12)
    h = 1e-4
    moved = [
        functions.derivatives(box, points | {"t": points["t"] + s * h}, [(2, 0)])[2, 0]
        for s in (1, -1)
    ]
    difference = (moved[0] - moved[1]) / (2 * h)
    np.testing.assert_allclose(values[2, 1], difference, atol=1e-4 * np.abs(difference).max())


def test_smallest_ratios_are_accurate_for_columns_of_very_different_size():
    """A = Q diag(s) with orthonormal Q has ‖A c‖ / ‖c‖ from min s to max s."""
    random = np.random.default_rng(0)
    sizes = 10.0 ** np.linspace(-8, 9, 12)
    matrix = np.linalg.qr(random.standard_normal((40, 12)))[0] * sizes
    ratios, vectors = smallest_ratios(matrix)
    np.testing.assert_allclose(ratios[:6], sizes[:6], rtol=1e-6)
    np.testing.assert_allclose(np.abs(vectors[:, 0]), np.eye(12)[0], atol=1e-6)
