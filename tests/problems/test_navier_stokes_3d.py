"""Navier-Stokes in 3+1 dimensions: what is called vorticity is the curl of the velocity."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Counts, TimeInduced, Uniform
from tinns.nn import Formula
from tinns.objective import assemble
from tinns.problems import NavierStokes3D
from tinns.solution.core import Solution

pytestmark = pytest.mark.usefixtures("float64")

PROBLEM = NavierStokes3D()
POINT = {"x": 0.7, "y": 2.1, "z": 4.0, "t": 1.3}
UNSTEADY = NavierStokes3D(viscosity=0.2)


def curl(velocity, point):
    """By differentiating the velocity as a function of the place."""
    place = jnp.array([point[axis] for axis in "xyz"])
    jacobian = jax.jit(jax.jacfwd(lambda p: velocity(*p, point["t"])))(place)
    return np.array(
        [
            jacobian[2, 1] - jacobian[1, 2],
            jacobian[0, 2] - jacobian[2, 0],
            jacobian[1, 0] - jacobian[0, 1],
        ]
    )


def solution_of(field, problem=PROBLEM):
    psi = field.init(jax.random.key(0), problem.domain, 3)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    return Solution(problem.domain, problem.unknowns, field, psi, problem=problem)


@pytest.mark.parametrize("problem", [PROBLEM, UNSTEADY], ids=["thin", "thick"])
def test_the_exact_vorticity_is_the_curl_of_the_exact_velocity(problem):
    np.testing.assert_allclose(
        problem.vorticity(**POINT), curl(problem.velocity, POINT), rtol=1e-13
    )


def test_the_vorticity_of_a_network_is_the_curl_of_its_velocity():
    solution = solution_of(TimeInduced(MLP((5,)), scaled=True))
    psi = jax.tree.map(jnp.asarray, solution.psi["field"])
    zero = (0, 0, 0, 0)

    def velocity(x, y, z, t):
        point = {"x": x, "y": y, "z": z, "t": t}
        return solution.field.derivatives(psi, solution.domain, 3, point, [zero])[zero]

    np.testing.assert_allclose(
        solution.quantity("vorticity", **POINT), curl(velocity, POINT), rtol=1e-11
    )
    values = solution(**POINT)
    np.testing.assert_allclose(
        solution.quantity("velocity", **POINT), [values[name] for name in "uvw"], rtol=1e-14
    )


def test_rows_for_another_viscosity_vanish_too():
    """The forcing does not hide a wrong term: it holds for every viscosity, as all else does."""
    system = assemble(UNSTEADY, Formula(UNSTEADY.reference().formula))
    (points, *_) = system.draw(jax.random.key(1), Counts(30, 5, 6), Uniform())
    psi = {"field": (), "coefficients": {}}
    rows = jax.jit(jax.vmap(lambda point: system.blocks[0].rows(psi, point)))(points)
    assert rows.shape == (30, 4)
    assert np.abs(rows).max() < 1e-12
    names = {name.rstrip("_1234") for block in system.blocks for name in block.row_names}
    assert names == {"equation", "initial", "initial_vorticity", "boundary_vorticity"}


def test_a_rotating_body_of_fluid_has_twice_its_turning_as_vorticity():
    spin = Formula(lambda x, y, z, t: 1.5 * jnp.stack([-y, x, 0 * z]))
    vorticity = solution_of(spin).quantity("vorticity", x=[0.1, 2.0], y=1.0, z=2.0, t=0.5)
    np.testing.assert_allclose(vorticity, [[0, 0, 3.0]] * 2, atol=1e-15)


def test_errors_of_velocity_and_vorticity_are_apart():
    """A wave of 10 added to w: small in velocity, large in vorticity."""

    def disturbed(x, y, z, t):
        return PROBLEM.velocity(x, y, z, t) + jnp.stack([0 * x, 0 * x, 0.01 * jnp.sin(10 * x)])

    solution = solution_of(Formula(disturbed))
    grid = {"x": np.linspace(0, 6, 13), "y": np.linspace(0, 6, 7), "z": [1.0, 2.0], "t": [0.0, 2.0]}
    errors = solution.errors(**grid)
    x, y, z, t = np.meshgrid(*grid.values(), indexing="ij")
    u, omega = (np.stack(f(x, y, z, t)) for f in (PROBLEM.velocity, PROBLEM.vorticity))
    wave, slope = 0.01 * np.sin(10 * x), 0.1 * np.cos(10 * x)
    norm = np.linalg.norm
    assert errors["velocity"] == pytest.approx(norm(wave) / norm(u), rel=1e-10)
    assert errors["vorticity"] == pytest.approx(norm(slope) / norm(omega), rel=1e-10)
    assert errors["velocity"] == pytest.approx(solution.relative_l2(**grid), rel=1e-12)
