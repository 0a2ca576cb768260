"""Conditions that contradict each other are found where they meet, and only those."""

from math import pi

import jax.numpy as jnp
import pytest

from tinns import (
    Box,
    Problem,
    at_start,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    observed,
    on_boundary,
    periodic,
)
from tinns.paper.untuned_problems import UNTUNED, Heat
from tinns.problems import PROBLEMS
from tinns.verification import Compatibility, check_compatibility

pytestmark = pytest.mark.usefixtures("quick_compilation")

UNIT = Box(x=(0, 1), t=(0, 1))


def problem(*conditions, domain=UNIT, order=1):
    """The heat equation, or the wave equation, with these conditions."""
    axes = domain.space

    class Posed(Problem):
        def equation(self, u, *coordinates):
            laplacian = sum(getattr(u, 2 * axis) for axis in axes)
            return (u.t if order == 1 else u.tt) - laplacian

        def conditions(self):
            return list(conditions)

    if len(axes) == 1:
        Posed.equation = lambda self, u, x, t: (u.t if order == 1 else u.tt) - u.xx
    else:
        Posed.equation = lambda self, u, x, y, t: u.t - u.xx - u.yy
    Posed.domain = domain
    return Posed()


CONTRADICTIONS = {
    "a corner": (
        problem(initial(lambda x: jnp.cos(pi * x)), dirichlet(0.0)),
        ({"initial", "boundary"}, "u", {"t": 0.0}, {0.0, 1.0}),
    ),
    "a slope at a corner": (
        problem(initial(lambda x: jnp.sin(pi * x)), neumann(0.0)),
        ({"initial", "neumann"}, "u_x", {"t": 0.0}, {0.0, pi}),
    ),
    "a velocity at a corner": (
        problem(
            initial(lambda x: jnp.sin(pi * x)),
            initial_velocity(1.0),
            dirichlet(0.0),
            order=2,
        ),
        ({"initial_velocity", "boundary"}, "u_t", {"t": 0.0}, {0.0, 1.0}),
    ),
    "two values on a face": (
        problem(
            initial(0.0),
            dirichlet(lambda t: 0 * t, on=("x-", "x+")),
            on_boundary(lambda u, x, t: u - t, on="x+", name="heated"),
        ),
        ({"boundary", "heated"}, "u", {"x": 1.0}, {0.0, 1.0}),
    ),
    "an edge in two dimensions": (
        problem(
            initial(0.0),
            dirichlet(0.0, on=("x-", "x+")),
            on_boundary(lambda u, x, y, t: u - t, on=("y-", "y+"), name="lid"),
            domain=Box(x=(0, 1), y=(0, 1), t=(0, 1)),
        ),
        ({"boundary", "lid"}, "u", {"t": 1.0}, {0.0, 1.0}),
    ),
    "a periodic network": (
        problem(initial(lambda x: x), domain=Box(x=(0, 1), t=(0, 1), periodic="x")),
        ({"initial"}, "u", {"t": 0.0}, {0.0, 1.0}),
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_found_where_conditions_meet(name):
    posed, (conditions, quantity, where, values) = CONTRADICTIONS[name]
    found = check_compatibility(posed)
    assert not found.compatible
    worst = found.contradictions[0]
    assert {*worst.conditions} == conditions
    assert worst.quantity == quantity
    assert where.items() <= worst.places[0].items()
    given = sorted(abs(value) for value in worst.values)
    assert given == pytest.approx(sorted(values), abs=1e-6)
    assert worst.gap == pytest.approx(found.largest_gap)
    assert "contradict each other at" in worst.sentence
    assert Compatibility.from_data(found.as_data()) == found


def test_the_ends_of_a_periodic_axis_are_one_place():
    (found,) = check_compatibility(CONTRADICTIONS["a periodic network"][0]).contradictions
    assert "which are one place" in found.sentence
    assert {place["x"] for place in found.places} == {0.0, 1.0}


COMPATIBLE = {
    "a slope that fits": problem(initial(lambda x: jnp.cos(pi * x)), neumann(0.0)),
    "a loss that fits": problem(
        initial(lambda x: jnp.exp(-x)), on_boundary(lambda u, x, t: u.x + u, name="loss")
    ),
    "a slope at the start": problem(
        at_start(lambda u, x, t: u.x - 2 * x), dirichlet(0.0, on="x-"), neumann(2.0, on="x+")
    ),
    "both ends compared": problem(
        initial(lambda x: jnp.sin(2 * pi * x)), periodic("x"), dirichlet(0.0, on="x-")
    ),
    "noisy observations": problem(
        initial(0.0), dirichlet(0.0), observed(x=[0.0, 0.5], t=[0.0, 0.0], u=[0.3, -0.2])
    ),
    "curvature that does not fit": problem(initial(lambda x: x * (1 - x)), dirichlet(0.0)),
}


@pytest.mark.parametrize("name", COMPATIBLE)
def test_conditions_that_fit_are_not_called_contradictory(name):
    found = check_compatibility(COMPATIBLE[name])
    assert found.compatible, found.sentences


@pytest.mark.long
def test_known_problems_contradict_themselves_nowhere():
    """But for transport, whose initial value is singular in a corner."""
    for name, cls in (PROBLEMS | UNTUNED).items():
        found = check_compatibility(cls())
        assert found.compatible, (name, found.sentences)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_units_do_not_matter(unit):
    """A gap is relative to the size of the unknown."""
    gaps = [
        check_compatibility(
            problem(initial(lambda x, u=u: u * jnp.cos(pi * x)), dirichlet(0.9 * u, on="x-"))
        ).largest_gap
        for u in (1.0, unit)
    ]
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-9)
    assert gaps[0] > 0.05


def test_small_gaps_are_kept_but_not_called_contradictions():
    posed = problem(initial(lambda x: jnp.sin(pi * x) + 1e-5), dirichlet(0.0))
    found = check_compatibility(posed)
    assert found.compatible
    assert found.largest_gap == pytest.approx(1e-5, rel=0.5)
    assert not check_compatibility(posed, tolerance=1e-6).compatible


def test_exact_solutions_fit():
    assert check_compatibility(Heat()).largest_gap < 1e-12
