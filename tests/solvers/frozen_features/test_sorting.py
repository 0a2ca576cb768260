"""What space-time separation cannot handle is refused by name."""

import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Box, FrozenFeatures, Problem, Trainable, UserError

pytestmark = pytest.mark.usefixtures("quick_compilation")


def refused(equation, conditions, box=None, **coefficients):
    """The problem's class, with the equation of one unknown."""

    class Strange(Problem):
        D: float = 1.0
        domain = box or Box(x=(0, 1), t=(0, 1))

        def conditions(self):
            return conditions

    def named(self, u, x, t):
        return equation(u, x, t)

    Strange.equation = named
    return Strange(**coefficients)


START = [tinns.initial(lambda x: x)]
SEEN = tinns.observed(x=np.ones(2), t=np.ones(2), u=np.ones(2))


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (refused(lambda u, x, t: u.t**2 - u.x, START), "affine in u.t"),
        (refused(lambda u, x, t: jnp.sin(u.t) - u.x, START), "affine in u.t"),
        (refused(lambda u, x, t: u.ttt - u.x, START), "order 3"),
        (refused(lambda u, x, t: u.x, START), "order 0"),
        (refused(lambda u, x, t: u.t - u.xxt + u.x, START), "u.xxt"),
        (refused(lambda u, x, t: u.t * 0.0 - u.x, START), "does not appear"),
        (refused(lambda u, x, t: u.tt - u.xx, START), "initial velocity of u"),
        (refused(lambda u, x, t: u.t - u.x, [tinns.dirichlet(0.0)]), "initial of u"),
        (refused(lambda u, x, t: u.t - u.x, [*START, SEEN], D=Trainable(1.0)), "D of strange"),
        (refused(lambda u, x, t: u.t - u.x, [*START, SEEN]), "'observed'"),
        (
            refused(
                lambda u, x, t: u.t - u.x,
                [
                    *START,
                    tinns.Condition(
                        "radiation",
                        tinns.dirichlet(0.0).region,
                        lambda _, evaluate, p: evaluate(p)[0].t + evaluate(p)[0].x,
                    ),
                ],
            ),
            "'radiation'",
        ),
        (
            refused(
                lambda u, x, t: u.t - u.xx,
                [
                    *START,
                    tinns.Condition(
                        "hot",
                        tinns.dirichlet(0.0).region,
                        lambda _, evaluate, p: evaluate(p)[0].value ** 4,
                    ),
                ],
            ),
            "'hot'.*is not",
        ),
        (refused(lambda u, x, t: u.t - u.x, [tinns.initial(lambda x: x / 0)]), "not finite"),
    ],
)
def test_a_problem_that_cannot_be_separated_says_why(solve, problem, told):
    with pytest.raises(UserError, match=told):
        solve(problem, 8)


def test_an_ill_posed_equation_breaks_down_and_says_when(solve):
    backwards = refused(
        lambda u, x, t: u.t - u.value**2, [tinns.initial(lambda x: 2.0 + 0 * x)]
    )  # u = 2 / (1 - 2t): no solution beyond t = 1/2
    with pytest.raises(UserError, match=r"broke down at t = 0\.(5|49)"):
        solve(backwards, 8)


@pytest.mark.parametrize(
    "settings",
    [{"solver": "Euler"}, {"rtol": 0.0}, {"focus": 1.0}, {"points": 0}, {"cutoff": -1.0}],
)
def test_settings_that_make_no_sense_are_named(settings):
    (name,) = settings
    with pytest.raises(UserError, match=f"{name}="):
        FrozenFeatures(**settings)


def test_too_few_points_for_the_features(solve, heat):
    with pytest.raises(UserError, match="too few"):
        solve(heat, 50, points=4)
