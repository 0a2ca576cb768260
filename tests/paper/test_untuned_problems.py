"""The problems without recipes: their references satisfy them, and the computed ones are accurate.

The computed references are compared with another discretisation and another integrator.
"""

import jax
import numpy as np
import pytest
from scipy.fft import dct, idct
from scipy.integrate import solve_ivp

from tinns import Counts, Uniform, UserError
from tinns.nn import Formula
from tinns.objective import assemble
from tinns.paper.reaction_diffusion_reference import brusselator, gray_scott
from tinns.paper.untuned_problems import UNTUNED

pytestmark = pytest.mark.usefixtures("float64")

# The largest row: round-off, which the highest derivative magnifies.
BOUNDS = {"beam": 1e-12, "brusselator": 1e-10}


@pytest.fixture(autouse=True, scope="module")
def temporary_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TINNS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.parametrize("name", UNTUNED)
def test_the_reference_makes_every_row_vanish(name):
    problem = UNTUNED[name]()
    system = assemble(problem, Formula(problem.reference().formula))
    data = system.draw(jax.random.key(0), Counts(60, 40, 20), Uniform())
    psi = {"field": (), "coefficients": {}}
    for block, points in zip(system.blocks, data, strict=True):
        rows = jax.jit(jax.vmap(lambda point, b=block: b.rows(psi, point)))(points)
        worst = dict(zip(block.row_names, np.abs(rows).max(axis=0).tolist(), strict=True))
        assert max(worst.values()) <= BOUNDS.get(name, 1e-13), worst


def test_there_is_a_name_a_reference_and_no_recipe_for_each():
    assert len(UNTUNED) >= 14
    for name, problem in UNTUNED.items():
        assert problem.name == name
        assert problem().known_solution() is not None
        assert not problem.recipes


@pytest.mark.parametrize(
    ("case", "offset", "points"),
    [(brusselator(), 0.0, 64), (gray_scott(), 1.0, 128)],  # Gray-Scott: the right half
    ids=lambda case: getattr(case, "name", None),
)
def test_computed_references_agree_with_an_explicit_method_on_values(case, offset, points):
    length = case.length - offset
    place = (np.arange(points) + 0.5) / points
    x = offset + length * place
    squares = (np.pi / length * np.arange(points)) ** 2
    second = -idct(squares[:, None] * dct(np.eye(points), axis=0), axis=0)

    def rate(t, values):
        u, v = values.reshape(2, -1)
        made = case.reaction(u, v)
        parts = [d * (second @ w) + m for d, w, m in zip(case.diffusion, (u, v), made, strict=True)]
        return np.concatenate(parts)

    times = np.array([0.137, 0.5, 1.0]) * case.end
    start = np.concatenate(case.start(x))
    run = solve_ivp(
        rate, (0, case.end), start, method="DOP853", t_eval=times, rtol=1e-11, atol=1e-12
    )
    truth = np.moveaxis(run.y.reshape(2, points, -1), 0, -1)
    values = case.reference().on_grid(x=x, t=times)
    error = np.linalg.norm(values - truth, axis=(0, 2)) / np.linalg.norm(truth, axis=(0, 2))
    assert error.max() < case.reference().accuracy


@pytest.mark.parametrize("case", [brusselator(), gray_scott()], ids=lambda case: case.name)
def test_more_modes_and_stages_change_nothing(case):
    reference, times = case.reference(), np.array([0.05, 0.71, 1.0])
    x = np.linspace(0, case.length, 101)
    finer = case.solve(384, stages=26).at(times).reshape(3, 2, -1)
    cosines = np.cos(np.pi / case.length * np.outer(x, np.arange(384)))
    values = np.einsum("xk,tuk->xtu", cosines, finer)
    known = reference.on_grid(x=x, t=times * case.end)
    assert np.abs(known - values).max() < reference.accuracy
    mesh = np.meshgrid(x[:5], times * case.end, indexing="ij")
    np.testing.assert_allclose(reference(x=mesh[0], t=mesh[1]), known[:5], atol=1e-12)


def test_a_coefficient_that_is_not_a_number_is_refused():
    with pytest.raises(UserError, match=r"brusselator: a=nan; expected a number >= 0"):
        brusselator(a=float("nan")).reference()
