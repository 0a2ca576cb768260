"""Validation points that are renewed: unbiased, with the worst places, and when it is said."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Counts, QuasiRandom, Recipe, Renewal, Stop, StopReason, UserError
from tinns.objective import Objective, assemble
from tinns.solvers.least_squares.training import Training

pytestmark = pytest.mark.usefixtures("float64")

COUNTS = Counts(24, 16, 12)


def same_pool(key, count, dimension):
    """A sampler that always draws the same candidates."""
    return QuasiRandom()(jax.random.key(7), count, dimension)


@pytest.fixture(scope="module")
def system(float64, heat, small_field):
    return assemble(heat, small_field)


@pytest.fixture(scope="module")
def psi(system):
    return system.init(jax.random.key(1))


def pools(system, rule, counts=COUNTS, sampler=same_pool):
    more = counts.times(rule.candidates)
    return system.draw(jax.random.key(0), more, sampler, crowded=True)


@pytest.mark.parametrize("worst", [0.0, 0.25, 0.75])
def test_its_loss_estimates_that_of_all_candidates(system, psi, worst):
    """The mean over 4000 choices is within four standard errors of it, for every kind of row."""
    rule = Renewal(candidates=3, worst=worst)

    @jax.jit
    @jax.vmap
    def losses(key):
        points = rule.draw(system, COUNTS, same_pool, key, psi, 64)
        return Objective(system.blocks, points).losses(psi)

    found = np.asarray(losses(jax.random.split(jax.random.key(2), 4000)))
    wanted = np.asarray(Objective(system.blocks, pools(system, rule)).losses(psi))
    deviation = found.std(axis=0)
    assert (np.abs(found.mean(axis=0) - wanted) < 4 * deviation / np.sqrt(4000)).all()
    assert (deviation > 1e-3 * wanted).all()


def test_the_worst_candidates_are_among_them(system, psi):
    rule = Renewal(candidates=4, worst=0.5)
    points = rule.draw(system, COUNTS, same_pool, jax.random.key(3), psi, 64)
    for block, pool, chosen in zip(system.blocks, pools(system, rule), points, strict=True):
        size = jnp.abs(block.all_rows(psi, pool)).sum(axis=1)
        for number in np.argsort(-size)[: chosen.count // 2]:
            same = [chosen[axis] == pool[axis][number] for axis in ("x", "t")]
            assert jnp.any(jnp.logical_and(*same))


def test_a_spike_that_uniform_points_miss_is_found(system, psi):
    """Rows of 1e3 within 1e-4 of the start: the loss sees their mean square."""

    def spike(_, point):
        return jnp.where(point["t"] < 1e-4, 1e3, 0.0)[None] * point.weight

    block = replace(system.blocks[0], rows=spike, row_names=("spike",))
    spiky = replace(system, blocks=(block,), regions=system.regions[:1])
    points = Renewal().draw(spiky, Counts(200), QuasiRandom(), jax.random.key(4), psi, 64)
    (loss,) = Objective(spiky.blocks, points).losses(psi)
    np.testing.assert_allclose(loss, 1e6 * 1e-4, rtol=0.5)


def test_residuals_in_chunks_choose_the_same_points(system, psi):
    rule, key = Renewal(), jax.random.key(5)
    whole, pieces = (rule.draw(system, COUNTS, QuasiRandom(), key, psi, n) for n in (10_000, 7))
    for a, b in zip(jax.tree.leaves(whole), jax.tree.leaves(pieces), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.fixture(scope="module")
def run(heat, small_field):
    recipe = Recipe(
        small_field, points=COUNTS, validation=COUNTS, redraw=None, renewal=Renewal(every=5)
    )
    return Training(recipe.least_squares(), recipe.task(heat))


def advanced_to(run, iterations):
    """The state after so many iterations, and those before which the points changed."""
    state, changes = run.start(), []
    while state.iterations < iterations:
        before = state
        state = run.advance(state, Stop(iterations=iterations))
        if not jnp.array_equal(state.validation[0]["t"], before.validation[0]["t"]):
            changes.append(before.iterations)
    return state, changes


def test_points_change_when_it_is_said(run):
    _, changes = advanced_to(run, 13)
    assert changes == [5, 10]


def test_the_best_parameters_are_judged_by_the_points_of_the_present(run):
    """Whenever a better ψ is found its loss is that on the points it was found with."""
    state, _ = advanced_to(run, 12)
    blocks, best = run.system.blocks, state.loop.best
    now = float(jnp.sum(Objective(blocks, state.validation).losses(best)))
    np.testing.assert_allclose(float(state.loop.best_validation_loss), now, rtol=1e-9)


def test_a_minimum_of_few_points_is_no_reason_to_stop(run):
    """A run that has converged goes on where validation calls for other points."""
    stop = Stop(iterations=1000)
    state, _ = advanced_to(run, 12)
    rest = {"predicted_reduction": np.full(12, 0.0), "step_norm": np.full(12, 1e-9)}
    state = replace(state, history=tinns.solvers.history.History(state.history.columns | rest))
    assert run.reason(state, stop) == StopReason.CONVERGED
    overfitted = replace(state, loop=state.loop._replace(overfitted=jnp.asarray(True)))
    assert run.reason(overfitted, stop) is None


def test_renewals_fall_on_validations(heat):
    settings = Recipe(validate=4).least_squares()
    assert Renewal(every=50).fitting(settings).every == 52
    assert Renewal(every=50).fitting(replace(settings, sampler=tinns.TensorGrid(5))) is None


@pytest.mark.parametrize("wrong", [{"every": 0}, {"candidates": 1.5}, {"worst": 1.0}])
def test_impossible_settings_are_refused(wrong):
    with pytest.raises(UserError, match="Renewal"):
        Renewal(**wrong)
