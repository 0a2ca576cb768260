"""Conditions of a problem built into its field: exact, no longer rows; contradictions are named."""

from dataclasses import replace
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import (
    Box,
    Counts,
    Problem,
    Trainable,
    Uniform,
    UserError,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    observed,
    periodic,
)
from tinns.nn import Constrained, SpaceTime
from tinns.objective import assemble
from tinns.problems import PROBLEMS, AllenCahn, KleinGordon, Wave

pytestmark = pytest.mark.usefixtures("float64")

LINE = Box(x=(0, 1), t=(0, 1))
SQUARE = Box(x=(0, 1), y=(0, 1), t=(0, 1))


def posed(*conditions, equation=lambda u, x, t: u.tt - u.xx, domain=LINE):
    class Posed(Problem):
        def conditions(self):
            return list(conditions)

    Posed.domain = domain
    Posed.equation = staticmethod(equation)
    return Posed()


def condition_rows(problem, field, hard):
    """The rows of the hard conditions, at points of their regions, on the constrained field."""
    system = assemble(problem, field, hard=hard)
    soft = assemble(problem, system.field)
    psi = jax.tree.map(lambda leaf: leaf + 0.3, system.init(jax.random.key(1)))
    data = soft.draw(jax.random.key(3), Counts(1, 20, 24), Uniform())
    rows = {}
    for block, points in list(zip(soft.blocks, data, strict=True))[1:]:  # but for the equation
        values = jax.jit(jax.vmap(block.rows, in_axes=(None, 0)))(psi, points)
        rows |= {f"{block.name}: {n}": v for n, v in zip(block.row_names, values.T, strict=True)}
    return rows


@pytest.mark.parametrize(
    ("problem", "hard"),
    [
        (Wave(), ("initial", "initial_velocity", "boundary")),
        (KleinGordon(), ("initial", "initial_velocity", "boundary")),
        (AllenCahn(), ("initial",)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_rows_of_hard_conditions_vanish_for_any_parameters(problem, hard, small_field):
    rows = condition_rows(problem, small_field, hard)
    assert {name.split(": ")[1] for name in rows} == set(hard)
    for values in rows.values():
        np.testing.assert_allclose(values, 0, rtol=0, atol=1e-13)


def test_several_unknowns_with_conditions_of_their_own():
    problem = posed(
        initial(lambda x: (jnp.sin(pi * x), jnp.cos(pi * x), 0.5)),
        initial_velocity(lambda x: 3 * x, of="w"),
        dirichlet(0, of="u"),
        dirichlet(lambda t: 1 + t, on="x-", of="v"),
        dirichlet(lambda t: 0.5 + 3 * t, on="x+", of="w"),
        equation=lambda u, v, w, x, t: (u.t, v.t, w.tt),
    )
    rows = condition_rows(problem, SpaceTime(), ("initial", "initial_velocity", "boundary"))
    assert len(rows) == 3 + 1 + 3
    for values in rows.values():
        np.testing.assert_allclose(values, 0, rtol=0, atol=1e-13)


def test_hard_conditions_are_not_rows(heat, small_field):
    weights = {"initial": 2.0, "boundary": 3.0}  # those of hard conditions are void
    for hard, left in {
        (): ("equation", "initial", "boundary"),
        ("initial",): ("equation", "boundary"),
        ("boundary",): ("equation", "initial"),
        ("initial", "boundary"): ("equation",),
    }.items():
        system = assemble(heat, small_field, weights, hard)
        assert system.row_names == left
        assert len(system.draw(jax.random.key(0), Counts(3, 3, 4), Uniform())) == len(left)
        assert isinstance(system.field, Constrained) == bool(hard)


def test_a_velocity_may_stay_a_row(small_field):
    assert assemble(Wave(), small_field, hard=("initial",)).row_names == (
        "equation",
        "initial_velocity",
        "boundary",
    )


def test_a_condition_under_another_name_can_be_built_in(small_field):
    inflow = replace(dirichlet(0.0, on="x-"), name="inflow")
    problem = posed(initial(1.0), inflow, neumann(0.0, on="x+"))
    system = assemble(problem, small_field, hard=("inflow",))
    assert system.row_names == ("equation", "initial", "neumann")


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_data_of_every_problem_agree(name, small_field):
    problem = PROBLEMS[name]()
    whole = [c for c in problem.conditions() if c.region.name != "initial" or not c.region.within]
    hard = tuple({c.name: None for c in whole if c.prescribes})
    field = assemble(problem, small_field, hard=hard).field
    assert field.names == hard if hard else field == small_field  # observations prescribe nothing


def test_the_same_said_twice_is_no_contradiction(small_field):
    problem = posed(initial(0.0), dirichlet(0.0), dirichlet(lambda t: 0 * t, on="x+"))
    assert assemble(problem, small_field, hard=("initial", "boundary")).row_names == ("equation",)


CONTRADICTIONS = {
    "start and face": (
        posed(initial(lambda x: 1 + x), dirichlet(1.0)),
        r"'initial' prescribes u = 2 at x = 1, t = 0, but 'boundary' u = 1 at x = 1, t = 0",
    ),
    "just beyond round-off": (
        posed(initial(lambda x: 1e-6 * jnp.cos(pi * x)), dirichlet(1.00000001e-6, on="x-")),
        r"u = 1e-06 at x = 0, t = 0, but 'boundary' u = 1.00000001e-06 at x = 0",
    ),
    "velocity and face": (
        posed(initial(0.0), initial_velocity(2.0), dirichlet(lambda t: 3 * t, on="x+")),
        r"'initial_velocity' prescribes u_t = 2 at x = 1, t = 0, but 'boundary' u_t = 3",
    ),
    "two faces at their edge": (
        posed(
            dirichlet(lambda x, y, t: 5.0 + 0 * x, on="x+"),
            dirichlet(7.0, on=("y-", "y+")),
            equation=lambda u, x, y, t: u.t,
            domain=SQUARE,
        ),
        r"'boundary' prescribes u = 5 at x = 1, y = 0, t = .*, but 'boundary' u = 7 at x = 1, y",
    ),
    "twice on one face": (
        posed(dirichlet(0.0), dirichlet(1.0, on="x+")),
        r"u = 0 at x = 1, .* but 'boundary' u = 1 at x = 1",
    ),
    "the second of two unknowns": (
        posed(
            initial((0.0, 1.0)),
            dirichlet(0.0),
            equation=lambda u, v, x, t: (u.t, v.t),
        ),
        r"'initial' prescribes v = 1",
    ),
    "the ends of a periodic axis": (
        posed(initial(lambda x: x), domain=Box(x=(0, 1), t=(0, 1), periodic="x")),
        r"u = 0 at x = 0, t = 0, but 'initial' u = 1 at x = 1, t = 0",
    ),
}


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_contradictions_are_named_with_place_and_values(kind, small_field):
    problem, told = CONTRADICTIONS[kind]
    hard = tuple({c.name: None for c in problem.conditions()})
    with pytest.raises(UserError, match=told):
        assemble(problem, small_field, hard=hard)


def test_agreement_is_judged_in_double_precision(small_field):
    with jax.enable_x64(False):
        assemble(Wave(), small_field, hard=("initial", "initial_velocity", "boundary"))


@pytest.mark.parametrize(
    ("hard", "named"),
    [
        (("inital",), "'inital': did you mean 'initial'"),
        (("equation",), "'equation' cannot be built in; .*initial, initial_velocity can"),
        (("initial", "neumann"), "'neumann' cannot be built in"),
        (("periodic",), "'periodic' cannot be built in"),
        (("observed",), "'observed' cannot be built in"),
        (("boundary",), "'boundary'.*known are initial, initial_velocity"),
        (("initial_velocity",), "'initial_velocity' of u can only.*add 'initial'"),
    ],
)
def test_what_cannot_be_built_in_is_an_error(hard, named, small_field):
    problem = posed(
        initial(0.0),
        initial_velocity(0.0),
        neumann(0.0),
        periodic("x"),
        observed(x=[0.5], t=[0.5], u=[1.0]),
    )
    with pytest.raises(UserError, match=named):
        assemble(problem, small_field, hard=hard)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (lambda x: np.sin(x), "'initial' cannot be evaluated"),
        (lambda x: Trainable(0.5) * x, "'initial' cannot be evaluated"),
        (lambda y: y, "takes 'y'"),
        (lambda x: jnp.ones(2) * x, "shape"),
    ],
)
def test_a_fault_in_a_hard_condition_is_told_as_for_rows(value, named, small_field):
    with pytest.raises(UserError, match=named):
        assemble(posed(initial(value)), small_field, hard=("initial",))


def test_what_is_demanded_on_a_part_of_space_cannot_be_built_in(small_field):
    problem = posed(initial(0.0, within={"x": (0.5, 1)}))
    with pytest.raises(UserError, match="on a part of space only"):
        assemble(problem, small_field, hard=("initial",))
