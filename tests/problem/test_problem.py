"""Problems and conditions: an exact solution makes every row vanish; mistakes are named."""

from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import (
    MLP,
    Box,
    Condition,
    Counts,
    Linear,
    Problem,
    TimeInduced,
    Trainable,
    Uniform,
    UserError,
    at_start,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    observed,
    on_boundary,
    periodic,
)
from tinns.geometry import Interior
from tinns.nn import Formula
from tinns.objective import assemble

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(0, 1), t=(0, 1))
COUNTS = Counts(20, 10, 8)


def rows_of(problem, formula, coefficients=None):
    """All rows by name, at random points, with `formula` put in for the unknowns."""
    system = assemble(problem, Formula(formula))
    data = system.draw(jax.random.key(3), COUNTS, Uniform())
    psi = {"field": (), "coefficients": coefficients or {}}
    values = {}
    for block, points in zip(system.blocks, data, strict=True):
        rows = jax.vmap(block.rows, in_axes=(None, 0))(psi, points)
        values |= {f"{block.name}: {name}": rows[:, n] for n, name in enumerate(block.row_names)}
    return values


def posed(*conditions, equation=lambda u, x, t: u.t, domain=LINE):
    """A problem with the given conditions, or with a simple one."""

    class Posed(Problem):
        def conditions(self):
            return list(conditions) or [initial(0.0)]

    Posed.domain = domain
    Posed.equation = staticmethod(equation)
    return Posed()


def ripple(x, t):
    return jnp.exp(-t) * (2 + jnp.sin(2 * pi * x))


MEASURED = np.linspace(0.1, 0.9, 7)
TRUE_OF_RIPPLE = {
    "initial": initial(lambda x: 2 + jnp.sin(2 * pi * x)),
    "initial_velocity": initial_velocity(lambda x: -2 - jnp.sin(2 * pi * x)),
    "dirichlet on all faces": dirichlet(lambda t: 2 * jnp.exp(-t)),
    "dirichlet on a face": dirichlet(lambda x, t: 2 * jnp.exp(-t) + 0 * x, on="x+"),
    "neumann below": neumann(lambda t: -2 * pi * jnp.exp(-t), on="x-"),
    "neumann above": neumann(lambda t: 2 * pi * jnp.exp(-t), on="x+"),
    "at the start": at_start(lambda u, x, t: (u.t + u, u.xx + 4 * pi**2 * (u - 2))),
    "on the boundary": on_boundary(lambda u, x, t: u.x - pi * u),
    "on a part of the boundary": on_boundary(lambda u, x, t: u.xx, on="x+"),
    "periodic": periodic("x", derivatives=2),
    "observed": observed(
        x=MEASURED, t=MEASURED, u=np.exp(-MEASURED) * (2 + np.sin(2 * pi * MEASURED))
    ),
}


@pytest.mark.parametrize("kind", TRUE_OF_RIPPLE)
def test_the_exact_solution_satisfies_every_kind_of_condition(kind):
    problem = posed(TRUE_OF_RIPPLE[kind], equation=lambda u, x, t: u.t + u)
    for name, rows in rows_of(problem, ripple).items():
        np.testing.assert_allclose(rows, 0, atol=1e-13, err_msg=name)
    wrong = rows_of(problem, lambda x, t: ripple(x, t) + (1 + t) * (x + x**3))
    assert all(np.abs(rows).max() > 0.1 for rows in wrong.values())


def test_functions_of_jets_see_their_region_and_carry_their_weight():
    conditions = [
        at_start(lambda u, x, t: (u - x, t + 1), weight=3.0, name="start"),
        on_boundary(lambda u, x, t, end=1.0: x - end, on="x+", name="right"),
        on_boundary(lambda u, x, t: x * (1 - x)),
    ]
    rows = rows_of(posed(*conditions), lambda x, t: x + 2)
    np.testing.assert_allclose(rows["initial: start_1"], 6)
    np.testing.assert_allclose(rows["initial: start_2"], 3)
    np.testing.assert_allclose(rows["boundary x+: right"], 0)
    np.testing.assert_allclose(rows["boundary: on_boundary"], 0)
    assert rows["boundary: on_boundary"].shape == (8,)


def test_neumann_takes_the_outward_normal():
    rows = rows_of(posed(neumann(0.0)), lambda x, t: 3 * x)["boundary: neumann"]
    np.testing.assert_allclose(rows, [-3] * 4 + [3] * 4)


def test_neumann_in_the_plane():
    box = Box(x=(0, 1), y=(0, 1), t=(0, 1))
    problem = posed(neumann(0.0), equation=lambda u, x, y, t: u.t, domain=box)
    rows = rows_of(problem, lambda x, y, t: 3 * x + 5 * y)["boundary: neumann"]
    np.testing.assert_allclose(rows, np.repeat([-3, 3, -5, 5], 2))


def test_a_soft_periodic_condition_compares_both_ends():
    rows = rows_of(posed(periodic("x")), lambda x, t: x**2)
    np.testing.assert_allclose(rows["ends of x: periodic_1"], -1)
    np.testing.assert_allclose(rows["ends of x: periodic_2"], -2)


class Rotation(Problem):
    """u_t = -ω v, v_t = ω u: a turning vector."""

    omega: float = 3.0
    domain = LINE

    def equation(self, u, v, x, t):
        return u.t + self.omega * v, v.t - self.omega * u

    def conditions(self):
        return [initial(lambda x: (x, 0.0 * x)), dirichlet(0.0, on="x-"), initial(0.0, of="v")]


def turning(x, t):
    return x * jnp.cos(3 * t), x * jnp.sin(3 * t)


def test_a_system_of_two_unknowns():
    assert Rotation().unknowns == ("u", "v")
    rows = rows_of(Rotation(), turning)
    assert set(rows) == {
        "interior: equation_1",
        "interior: equation_2",
        "initial: initial_1",
        "initial: initial_2",
        "initial: initial",
        "boundary x-: boundary_1",
        "boundary x-: boundary_2",
    }
    for name, values in rows.items():
        np.testing.assert_allclose(values, 0, atol=1e-13, err_msg=name)


def test_changed_coefficients_change_the_equation():
    rows = rows_of(Rotation(omega=4.0), turning)
    assert np.abs(rows["interior: equation_1"]).max() > 0.1


def test_unknown_coefficients_join_what_is_solved_for():
    problem = Rotation(omega=Trainable(2.5))
    assert problem.trainable == {"omega": 2.5}
    known, sought = (
        jax.tree.leaves(assemble(p, TimeInduced(MLP((3,)), Linear())).init(jax.random.key(0)))
        for p in (Rotation(), problem)
    )
    assert sum(leaf.size for leaf in sought) == sum(leaf.size for leaf in known) + 1
    for omega, vanishes in ((3.0, True), (2.0, False)):
        rows = rows_of(problem, turning, {"omega": jnp.asarray(omega)})
        assert (np.abs(rows["interior: equation_1"]).max() < 1e-12) == vanishes


def test_the_inverse_burgers_problem_has_two_parameters_more():
    class Inverse(Problem):
        speed: float = Trainable(0.5)
        viscosity: float = Trainable(0.1)
        domain = LINE

        def equation(self, u, x, t):
            return u.t + self.speed * u * u.x - self.viscosity * u.xx

        def conditions(self):
            return [initial(0.0)]

    shapes = jax.eval_shape(lambda: assemble(Inverse(), TimeInduced()).init(jax.random.key(0)))
    assert sum(leaf.size for leaf in jax.tree.leaves(shapes)) == 1147


def test_a_custom_condition():
    def mean_slope(problem, evaluate, point):
        (u,) = evaluate(point)
        return u.x - 3.0

    rows = rows_of(posed(Condition("slope", Interior(), mean_slope)), lambda x, t: 3 * x)
    np.testing.assert_allclose(rows["interior: slope"], 0, atol=1e-15)


def test_names_of_problems():
    class AllenCahn(Rotation):
        pass

    class Wave2d(Rotation):
        pass

    assert AllenCahn().name == "allen-cahn"
    assert Wave2d().name == "wave2d"


NAN = np.array([0.1, np.nan, 0.3])


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"x": [1.0, 2.0], "t": [1.0], "u": [1.0]}, r"\(2,\).*\(1,\)"),
        ({"x": [[1.0]], "t": [[1.0]], "u": [[1.0]]}, r"\(1, 1\)"),
        ({"x": NAN, "t": NAN, "u": NAN}, "column x holds nan in row 1"),
        ({}, "expected columns"),
    ],
)
def test_bad_observations_are_refused_at_once(columns, named):
    with pytest.raises(UserError, match=named):
        observed(**columns)


ONES = np.ones(3)


@pytest.mark.parametrize(
    ("problem", "named"),
    [
        (posed(observed(x=ONES, u=ONES)), "got columns x, u; expected x, t"),
        (posed(observed(x=ONES, t=ONES)), "one or more of u"),
        (posed(observed(x=ONES, t=ONES, u=ONES, w=ONES)), "w"),
        (posed(initial(lambda y: y)), "initial.*'y'.*x, t"),
        (posed(initial(lambda x: (x, x))), "2 values for 1 unknown"),
        (posed(initial(0.0, of="w")), "'w'.*u"),
        (posed(dirichlet(0.0, on="y+")), r"y\+.*x-, x\+"),
        (posed(dirichlet(0.0), domain=Box(x=(0, 1), t=(0, 1), periodic="x")), "periodic"),
        (posed(3), "returned 3"),
        (posed(at_start(lambda u, x: u)), r"at_start: .* takes \(u, x\); .*\(u, x, t\)"),
        (posed(at_start(lambda x, u, t: u)), r"at_start: .* takes \(x, u, t\)"),
        (posed(on_boundary(lambda v, x, t: v)), r"on_boundary: .* takes \(v, x, t\)"),
        (posed(on_boundary(lambda u, x, t, n: u, name="wall")), r"wall: .* takes \(u, x, t, n\)"),
        (posed(on_boundary(lambda u, x, t: u, on="z-")), "no face 'z-'"),
        (posed(at_start(lambda u, x, t: None, name="calm")), "'calm' returned None"),
        (posed(at_start(lambda u, x, t: np.sin(u))), "'at_start' cannot be evaluated"),
        (posed(on_boundary(lambda u, x, t: u.y)), r"u.y.*'y'"),
        (posed(equation=lambda u, t, x: u.t), r"equation takes \(u, t, x\)"),
        (posed(equation=lambda u, x: u.t), r"equation takes \(u, x\)"),
        (posed(equation=lambda x, t: x), r"equation takes \(x, t\)"),
        (posed(equation=lambda u, x, t: jnp.stack([u.t, u.x])), r"shape \(2,\)"),
        (posed(equation=lambda u, x, t: u.y), r"u.y.*'y'"),
        (posed(periodic("y")), "'y'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "problem",
)
def test_a_badly_posed_problem_is_an_error_that_says_what_is_wrong(problem, named):
    with pytest.raises(UserError, match=named):
        assemble(problem, Formula(ripple))


def test_a_function_with_positional_arguments_only_serves_as_a_value():
    rows = rows_of(posed(initial(jnp.sin)), lambda x, t: jnp.sin(x))
    np.testing.assert_allclose(rows["initial: initial"], 0, atol=1e-15)


def test_a_function_keeps_its_own_defaults():
    rows = rows_of(posed(initial(lambda x, scale=3.0: scale * x)), lambda x, t: 3 * x)
    np.testing.assert_allclose(rows["initial: initial"], 0, atol=1e-15)


@pytest.mark.parametrize(
    "nonsense", [None, [], initial(0.0), 7], ids=["none", "empty", "condition", "number"]
)
def test_conditions_that_are_no_list_are_an_error(nonsense):
    problem = posed()
    type(problem).conditions = lambda self: nonsense
    with pytest.raises(UserError, match="conditions"):
        assemble(problem, Formula(ripple))


@pytest.mark.parametrize(
    "equation",
    [
        lambda u, x, t: "text",
        lambda u, x, t: {"a": u.t},
        lambda u, x, t: u.t - tinns.Trainable(0.5) * u.xx,
        lambda u, x, t: np.sin(u),
        lambda u, x, t: u.t if u > 0 else 0.0,
    ],
    ids=["text", "dict", "unannotated unknown", "numpy", "if"],
)
def test_a_fault_inside_an_equation_is_told_in_one_line(equation):
    with pytest.raises(UserError, match="'equation' cannot be evaluated") as caught:
        assemble(posed(equation=equation), Formula(ripple))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("weight", [-1.0, "a", np.inf])
def test_an_impossible_weight_is_an_error(weight):
    with pytest.raises(UserError, match="weight"):
        initial(0.0, weight=weight)


@pytest.mark.parametrize("maker", [at_start, on_boundary])
def test_a_number_is_no_function_of_jets(maker):
    with pytest.raises(UserError, match=rf"{maker.__name__}: 0.0 is not a function"):
        maker(0.0)


def test_observations_outside_the_domain_are_an_error():
    with pytest.raises(UserError, match=r"x = 5 is outside the domain \[0, 1\]"):
        assemble(posed(observed(x=[5.0], t=[0.5], u=[1.0])), Formula(ripple))


def test_an_equation_that_returns_nothing_is_an_error():
    with pytest.raises(UserError, match="equation"):
        assemble(posed(equation=lambda u, x, t: None), Formula(ripple))


def test_a_problem_without_a_domain_is_an_error():
    class Nowhere(Problem):
        def equation(self, u, x, t):
            return u.t

        def conditions(self):
            return []

    with pytest.raises(UserError, match="domain"):
        assemble(Nowhere(), Formula(ripple))


@pytest.mark.parametrize("weights", [{"inital": 2.0}, {"initial": -1.0}, {"initial": float("nan")}])
def test_bad_weights_are_refused(weights):
    (name,) = weights
    with pytest.raises(UserError, match=name):
        assemble(posed(initial(0.0)), Formula(ripple), weights)


def test_missing_parts_are_named():
    class Bare(Problem):
        domain = LINE

    with pytest.raises(UserError, match="equation"):
        Bare().equation(1, 2, 3)
    with pytest.raises(UserError, match="conditions"):
        Bare().conditions()


def test_a_problem_is_posed_again_on_another_box_and_with_other_conditions():
    class Decay(Problem):
        rate: float = 2.0
        domain = LINE

        def equation(self, u, x, t):
            return u.t + self.rate * u

        def conditions(self):
            return [initial(1.0)]

    later = Decay(rate=3.0).with_domain(Box(x=(0, 1), t=(1, 2)))
    later = later.with_conditions([initial(np.exp(-3.0))])
    rows = rows_of(later, lambda x, t: jnp.exp(-3 * t) + 0 * x)
    assert set(rows) == {"interior: equation", "initial: initial"}
    assert max(np.abs(r).max() for r in rows.values()) < 1e-14
    assert (later.name, later.rate) == ("decay", 3.0)
    assert later.with_coefficients({"rate": 1.0}).domain.start == 1.0


def test_an_initial_value_may_be_demanded_on_a_part_of_space():
    condition = initial(lambda x: 1 / x, within={"x": (0.25, 0.5)})
    points = condition.region.draw(jax.random.key(0), LINE, Counts(1, 40), Uniform())
    assert 0.25 <= points["x"].min() < 0.27
    assert 0.48 < points["x"].max() <= 0.5
    assert set(points["t"].tolist()) == {0.0}
    with pytest.raises(UserError, match=r"within: x = \(0.5, 2\) is not inside"):
        assemble(posed(initial(0.0, within={"x": (0.5, 2)})), Formula(ripple))
    for strange in ("x", {"t": (0.0, 0.5)}):
        with pytest.raises(UserError, match="expected intervals of axes of space"):
            initial(0.0, within=strange)
