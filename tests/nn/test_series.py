"""Series algebra against closed forms."""

from math import factorial

import jax.numpy as jnp
import numpy as np
import pytest

from tinns.nn.activations import ACTIVATIONS, cosine, sine
from tinns.nn.series import Series, closure, concatenate, joined

pytestmark = pytest.mark.usefixtures("float64")

BASIS = closure([(4, 0), (2, 2), (0, 4)])
X, T = 0.7, -0.3


@pytest.fixture(scope="module")
def variables(float64):
    return Series.variable(X, 0, BASIS), Series.variable(T, 1, BASIS)


def test_closure_holds_everything_below_lowest_order_first():
    assert closure([(2, 1)]) == ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1))


def test_a_polynomial_has_its_exact_derivatives(variables):
    x, t = variables
    u = x * x * x * t + 2.0 * (t * t) - 5.0 * x + 1.0
    expected = {
        (0, 0): X**3 * T + 2 * T**2 - 5 * X + 1,
        (1, 0): 3 * X**2 * T - 5,
        (0, 1): X**3 + 4 * T,
        (2, 1): 6 * X,
        (2, 0): 6 * X * T,
        (0, 2): 4.0,
        (4, 0): 0.0,
        (0, 3): 0.0,
    }
    for index, value in expected.items():
        np.testing.assert_allclose(u.derivative(index), value, atol=1e-14)


def test_sin_2x_cos_3t_to_order_four(variables):
    x, t = variables
    u = sine(2.0 * x) * cosine(3.0 * t)
    for i, j in BASIS:
        in_x = 2**i * np.sin(2 * X + i * np.pi / 2)
        in_t = 3**j * np.cos(3 * T + j * np.pi / 2)
        np.testing.assert_allclose(u.derivative((i, j)), in_x * in_t, rtol=1e-13, atol=1e-13)


def test_leibniz_rule(variables):
    x, t = variables
    f, g = sine(x + t), cosine(2.0 * x)
    product = (f * g).derivative((4, 0))
    leibniz = sum(
        factorial(4)
        / (factorial(k) * factorial(4 - k))
        * f.derivative((k, 0))
        * g.derivative((4 - k, 0))
        for k in range(5)
    )
    np.testing.assert_allclose(product, leibniz, rtol=1e-13)


def test_chain_rule_of_tanh(variables):
    x, t = variables
    u = ACTIVATIONS["tanh"](x * t)
    y = np.tanh(X * T)
    slope = 1 - y**2
    np.testing.assert_allclose(u.derivative((1, 0)), T * slope, rtol=1e-14)
    np.testing.assert_allclose(u.derivative((2, 0)), -2 * y * slope * T**2, rtol=1e-14)
    np.testing.assert_allclose(u.derivative((1, 1)), slope - 2 * y * slope * X * T, rtol=1e-14)


def test_a_constant_minus_a_series(variables):
    x, _ = variables
    assert (1.0 - x).derivative((1, 0)) == -1.0
    assert (1.0 - x).value == 1.0 - X


def test_absent_terms_are_zero_and_stay_absent(variables):
    x, t = variables
    assert (1, 1) not in (x + t).terms
    assert (x + t).derivative((1, 1)) == 0
    assert all(j == 0 for _, j in sine(x).terms)


def test_matrix_times_a_vector_of_series(variables):
    matrix = jnp.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    z = matrix @ concatenate(list(variables))
    np.testing.assert_allclose(z.value, matrix @ jnp.asarray([X, T]), rtol=1e-15)
    np.testing.assert_allclose(z.derivative((0, 1)), [2.0, 4.0, 6.0])


def test_numpy_arrays_on_either_side_are_constants(variables):
    matrix, vector = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0])
    z = concatenate(list(variables))
    sums = (matrix @ z + vector, vector + matrix @ z)
    for moved in sums:
        np.testing.assert_allclose(moved.value, matrix @ [X, T] + vector, rtol=1e-15)
        np.testing.assert_allclose(moved.derivative((1, 0)), matrix[:, 0])
    np.testing.assert_allclose((vector * z).derivative((0, 1)), [0.0, 6.0])


def test_vectors_of_series_are_joined_with_vectors_of_numbers(variables):
    x, t = variables
    z = joined([concatenate([x, t]), jnp.asarray([3.0]), concatenate([x * t])])
    np.testing.assert_allclose(z.value, [X, T, 3.0, X * T])
    np.testing.assert_allclose(z.derivative((1, 0)), [1.0, 0.0, 0.0, T])
    np.testing.assert_array_equal(joined([jnp.ones(1), jnp.zeros(2)]), [1.0, 0.0, 0.0])
