"""A wrong reference is refused before training, with its problem, its fault and what to do."""

import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Box, Problem, Trainable, UserError, exact, initial, observed
from tinns.problem import Reference
from tinns.problem.checked_reference import POINTS, check_reference
from tinns.problems import PROBLEMS

pytestmark = pytest.mark.usefixtures("quick_compilation")


def posed(reference, unknowns=1, grid=None):
    """A problem with u, or with u and v, and the given reference."""

    class Posed(Problem):
        domain = Box(x=(0, 1), t=(0, 2))

        def conditions(self):
            return [initial(0.0)]

        def reference(self):
            return reference

        def test_grid(self):
            return grid or super().test_grid()

    class System(Posed):
        name = "posed"

        def equation(self, u, v, x, t):
            return u.t, v.t

    class Single(Posed):
        name = "posed"

        def equation(self, u, x, t):
            return u.t

    return System() if unknowns == 2 else Single()


def refusal(*arguments, **named):
    with pytest.raises(UserError) as caught:
        check_reference(posed(*arguments, **named))
    message = str(caught.value)
    assert message.startswith("posed: ")
    assert "expected" in message or "must" in message
    return message


@pytest.mark.parametrize(
    "name", ["burgers", "wave", "flow-mixing", "navier-stokes-3d", "transport", "inverse-burgers"]
)
def test_references_of_the_package_pass(name):
    check_reference(PROBLEMS[name]())


@pytest.mark.parametrize(
    ("formula", "unknowns"),
    [
        (lambda x, t: x * t, 1),
        (lambda x, t: jnp.stack([x * t]), 1),
        (lambda x, t: jnp.stack([x, t]), 2),
        (lambda x, t: x * t, 2),  # the first unknown alone
        (lambda t, x: 0.0, 1),
    ],
)
def test_all_unknowns_or_the_first_alone_are_accepted(formula, unknowns):
    check_reference(posed(exact(formula), unknowns))


def test_no_reference_is_no_mistake():
    check_reference(posed(None))


@pytest.mark.parametrize(
    ("formula", "unknowns", "fault"),
    [
        (lambda x, t: jnp.stack([x, t]), 1, r"shape (2,) at one point; expected one number for u"),
        (lambda x, t: jnp.stack([x, t, t]), 2, "shape (3,) at one point; expected shape (2,)"),
        (lambda x, t: jnp.stack([x]), 2, "shape (1,) at one point; expected shape (2,)"),
        (lambda x, t: jnp.ones((2, 2)) * x, 2, "shape (2, 2) at one point"),
        (lambda x, t: (x, t), 2, "returns a tuple; expected an array, shape (2,) at one point"),
        (lambda x, t: None, 1, "returns a NoneType; expected an array"),
        (lambda x, t: jnp.exp(1j * x), 1, "is complex; expected real numbers"),
        (lambda x, t: np.sin(x), 1, "cannot be evaluated"),
        (lambda x, y: x, 1, "takes (x, y); expected the axes of the domain, (x, t)"),
        (lambda x: x, 1, "takes (x); expected the axes of the domain, (x, t)"),
    ],
)
def test_a_wrong_shape_is_refused(formula, unknowns, fault):
    assert fault in refusal(exact(formula), unknowns)


def test_something_else_than_a_reference_is_refused():
    assert "expected tinns.exact(" in refusal(lambda x, t: x)


def test_a_grid_function_of_the_wrong_shape_is_refused():
    wrong = Reference(lambda x, t: x, 1e-9, "test", grid=lambda x, t: np.zeros((len(t), len(x), 3)))
    message = refusal(wrong, grid={"x": np.linspace(0, 1, 5), "t": np.linspace(0, 2, 4)})
    assert (
        "shape (4, 5, 3) on a grid of 5 x 4 points (x, t); expected (5, 4) or (5, 4, 1)" in message
    )


@pytest.mark.parametrize(
    ("formula", "place"),
    [
        (lambda x, t: jnp.log(x + t), "-inf at x = 0, t = 0 (not finite at 1 of 289"),
        (lambda x, t: 1 / (2 - t + 1 - x), "inf at x = 1, t = 2 (not finite at 1 of 289"),
        (lambda x, t: jnp.sqrt(x - 0.5), "nan at x = 0, t = 0"),
    ],
)
def test_a_value_that_is_not_finite_is_refused(formula, place):
    message = refusal(exact(formula))
    assert place in message
    assert "the reference of u is" in message


def test_the_unknown_at_fault_is_named():
    formula = exact(lambda x, t: jnp.stack([x, jnp.log(t)]))
    assert "the reference of v is -inf at x = 0, t = 0" in refusal(formula, 2)


def test_points_that_the_test_grid_leaves_out_do_not_count():
    grid = {"x": np.linspace(0, 1, 201)[1:], "t": np.linspace(0, 2, 201)}
    check_reference(posed(exact(lambda x, t: jnp.log(x)), grid=grid))


def test_points_outside_of_the_domain_do_not_count():
    grid = {"x": np.linspace(-1, 1, 201), "t": np.linspace(0, 2, 201)}
    check_reference(posed(exact(lambda x, t: jnp.sqrt(x)), grid=grid))


def test_few_points_are_looked_at():
    asked = []

    def grid(**axes):
        asked.append([len(points) for points in axes.values()])
        return np.zeros(asked[-1])

    check_reference(posed(Reference(lambda x, t: x, 1e-9, "test", grid=grid)))
    (sizes,) = asked
    assert np.prod(sizes) <= 1.2 * POINTS


def test_a_reference_that_depends_on_an_estimated_coefficient_is_not_looked_at():
    class Decay(Problem):
        rate: float = 1.0
        domain = Box(x=(0, 1), t=(0, 1))

        def equation(self, u, x, t):
            return u.t + self.rate * u

        def conditions(self):
            return [observed(x=[0.5], t=[0.5], u=[0.6])]

        def reference(self):
            return exact(lambda x, t: jnp.exp(-self.rate * t))

    check_reference(Decay(rate=Trainable(2.0)))
    check_reference(Decay(rate=2.0))
