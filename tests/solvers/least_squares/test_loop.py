"""The training loop: reproducible, stopping for a stated reason, redrawing, recording."""

import os
import signal
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from training_runs import train

import tinns
from tinns import (
    LBFGS,
    AcceleratedLM,
    Adam,
    Balance,
    Box,
    Counts,
    GradientNorms,
    PaperLM,
    Problem,
    Recipe,
    Redraw,
    SelfScaledBroyden,
    Stop,
    StopReason,
    dirichlet,
    initial,
)
from tinns.nn import Formula
from tinns.objective import Objective, assemble
from tinns.optim import Report
from tinns.solvers.progress import Silent

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture(scope="module")
def recipe(small_field, few_points):
    return Recipe(
        small_field,
        PaperLM(),
        points=few_points,
        validation=few_points,
        renewal=None,
        dimensionless=False,
        stop=Stop(iterations=6),
    )


@pytest.fixture(scope="module")
def system(float64, heat, small_field):
    return assemble(heat, small_field)


def flat(trained):
    return np.asarray(ravel_pytree(trained.psi)[0])


@pytest.fixture(scope="module")
def first(system, recipe):
    return train(system, recipe, seed=0)


def test_the_same_seed_gives_the_same_bits(system, recipe, first):
    np.testing.assert_array_equal(flat(train(system, recipe, seed=0)), flat(first))


def test_another_seed_gives_other_numbers(system, recipe, first):
    assert not np.allclose(flat(train(system, recipe, seed=1)), flat(first))


def test_the_history_is_complete(first):
    history = first.history
    assert len(history) == first.iterations == 6
    np.testing.assert_array_equal(history["iteration"], np.arange(1, 7))
    expected = {"iteration", "seconds", "loss", "validation_loss", "relative_l2", "damping"}
    expected |= {"step_norm", "failures", "redraws"}
    expected |= {"loss_equation", "loss_initial", "loss_boundary"}
    assert expected <= set(history.columns)
    assert all(len(column) == 6 for column in history.columns.values())
    parts = sum(history[f"loss_{name}"] for name in ("equation", "initial", "boundary"))
    np.testing.assert_allclose(parts, history["loss"], rtol=1e-13)
    assert np.all(np.diff(history["seconds"]) > 0)


def test_the_recorded_loss_of_the_result_is_its_loss(system, recipe, first):
    validation_key = jax.random.split(jax.random.key(0), 4)[2]
    validation = system.draw(validation_key, recipe.validation, recipe.sampler)
    value = jnp.sum(Objective(system.blocks, validation).losses(first.psi))
    assert first.validation_loss == pytest.approx(float(value), rel=1e-12)


@pytest.mark.parametrize("optimizer", [AcceleratedLM(), Adam(warmup=1), LBFGS(memory=5)], ids=repr)
def test_every_optimizer_runs_in_the_loop_and_lowers_the_loss(system, recipe, optimizer):
    trained = train(system, recipe.replace(optimizer=optimizer), seed=0)
    assert trained.stop_reason == "iterations done"
    assert trained.history["loss"][-1] < trained.history["loss"][0]


@dataclass(frozen=True)
class Drift:
    """A step that only moves ψ by a fixed amount: what the loop does shows undisturbed."""

    speed: float = 0.0
    restarts_on_redraw = False
    forms_jacobian = False
    counters = ()

    def init(self, psi, kinds=1):
        return ()

    def step(self, objective, psi, state, clock):
        split = objective.losses(psi)
        moved = jax.tree.map(lambda leaf: leaf + self.speed, psi)
        return moved, state, Report(jnp.sum(split), split, jnp.ones(()))


@pytest.fixture(scope="module")
def still(recipe):
    return recipe.replace(optimizer=Drift(), redraw=None)


def reason(system, recipe, **stop):
    trained = train(system, recipe.replace(stop=Stop(**stop)), seed=0)
    return trained.stop_reason, trained


def test_it_stops_after_the_iterations_asked_for(system, still):
    why, trained = reason(system, still, iterations=3)
    assert (why, trained.iterations) == ("iterations done", 3)


def test_it_stops_when_time_is_up(system, still):
    why, trained = reason(system, still, seconds=0.2)
    assert why == "time is up"
    assert trained.seconds >= 0.2


def test_it_stops_at_the_target_loss(system, still):
    why, trained = reason(system, still, iterations=50, target_loss=1e3)
    assert (why, trained.iterations) == ("target loss reached", 1)
    assert trained.loss <= 1e3


def test_it_stops_when_nothing_improves(system, still):
    why, trained = reason(system, still, iterations=10_000, patience=3)
    assert why == "stagnated"
    assert 6 < trained.iterations < 10_000


def test_it_stops_when_the_loss_is_no_number(system, still):
    diverging = still.replace(optimizer=Drift(1e200))
    why, _ = reason(system, diverging, iterations=10_000)
    assert why == "diverged"


def test_control_c_ends_the_run_with_a_result(system, still):
    class Impatient(Silent):
        def update(self, snapshot):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    endless = still.replace(stop=Stop(seconds=600.0))
    trained = train(system, endless, seed=0, reporter=Impatient())
    assert trained.stop_reason == "interrupted"
    assert np.isfinite(flat(trained)).all()
    assert signal.getsignal(signal.SIGINT) is before


def test_points_are_redrawn_only_when_validation_exceeds_training(system, still):
    calm = train(system, still.replace(redraw=Redraw(1e6)), seed=0).history
    assert not calm["redraws"].any()
    assert len(set(calm["loss"])) == 1
    restless = train(system, still.replace(redraw=Redraw(1e-9)), seed=0).history
    np.testing.assert_array_equal(restless["redraws"], np.arange(6))
    assert len(set(restless["loss"])) == 6
    assert len(set(restless["validation_loss"])) == 1


def test_a_step_that_restarts_forgets_its_state_at_a_redraw(system, still):
    @dataclass(frozen=True)
    class Counting(Drift):
        restarts_on_redraw = True

        def init(self, psi, kinds=1):
            return jnp.asarray(0)

        def step(self, objective, psi, state, clock):
            psi, _, report = super().step(objective, psi, (), clock)
            return psi, state + 1, report._replace(columns={"age": state})

    counted = still.replace(optimizer=Counting(), redraw=Redraw(1e6))
    np.testing.assert_array_equal(train(system, counted, 0).history["age"], np.arange(6))
    restarted = counted.replace(redraw=Redraw(1e-9))
    np.testing.assert_array_equal(train(system, restarted, 0).history["age"], np.zeros(6))


def test_what_does_not_fit_is_taken_in_chunks_and_told(system, recipe, monkeypatch):
    class Listening(Silent):
        def __init__(self):
            self.facts = []

        def notice(self, fact):
            self.facts.append(fact)

    many = recipe.replace(optimizer=AcceleratedLM(), points=Counts(700, 11, 6), redraw=None)
    listener = Listening()
    whole = train(system, many, seed=0, reporter=listener)
    assert listener.facts == []
    monkeypatch.setattr("tinns.solvers.least_squares.runner.free_bytes", lambda devices: 4e5)
    pieces = train(system, many, seed=0, reporter=listener)
    assert len(listener.facts) == 1
    assert "717 rows" in listener.facts[0]
    np.testing.assert_allclose(flat(pieces), flat(whole), rtol=1e-7)


def test_points_that_do_not_last_are_followed_by_more(system, still):
    climbing = still.replace(redraw=Redraw(1e-9, candidates=2, ladder=(1, 2, 3)))
    history = train(system, climbing, seed=0).history
    np.testing.assert_array_equal(history["points"], [30, 60, 90, 90, 90, 90])


def test_weights_follow_the_losses_where_that_is_asked_for(system, recipe):
    balanced = recipe.replace(optimizer=AcceleratedLM(), balance=Balance(rate=0.2))
    history = train(system, balanced, seed=0).history
    factors = np.stack([history[f"factor_{name}"] for name in system.row_names])
    losses = np.stack([history[f"loss_{name}"] for name in system.row_names])
    np.testing.assert_array_equal(factors[:, 0], np.ones(3))
    np.testing.assert_allclose(np.prod(factors, axis=0), np.ones(6), rtol=1e-12)
    assert factors[np.argmin(losses[:, 0]), 1] == factors[:, 1].max()
    assert history["validation_loss"][-1] < history["validation_loss"][0]


def test_the_stable_program_takes_over_and_goes_on_from_the_same_state(system, recipe):
    plain = recipe.replace(optimizer=AcceleratedLM(hopeless=0.0, doubtful=0.0))
    handing = recipe.replace(optimizer=AcceleratedLM(hopeless=1e30))
    alone, relayed = (train(system, r, seed=0).history for r in (plain, handing))
    assert not alone["stable"].any()
    assert relayed["stable"].tolist() == [0, 1, 1, 1, 1, 1]
    np.testing.assert_allclose(relayed["loss"], alone["loss"], rtol=1e-6)
    np.testing.assert_allclose(relayed["damping"], alone["damping"], rtol=1e-6)


def test_the_result_is_the_best_or_the_last(system, still):
    worsening = still.replace(optimizer=Drift(5.0), stop=Stop(iterations=30))
    best = train(system, worsening, seed=0)
    last = train(system, worsening.replace(keep="last"), seed=0)
    start = flat(train(system, still, seed=0))
    np.testing.assert_allclose(flat(last), start + 30 * 5.0, rtol=1e-12)
    np.testing.assert_array_equal(flat(best), start)
    assert best.validation_loss < last.validation_loss


def test_the_measured_error_is_recorded_at_look_ups(system, still):
    trained = train(system, still, seed=0, measure=lambda *_: 0.125)
    iterations, errors = trained.history.measured("relative_l2")
    assert iterations[-1] == 6
    assert set(errors) == {0.125}


def test_a_field_without_parameters_can_be_scored_in_the_loop(heat, few_points):
    exact = Formula(heat.reference().formula)
    recipe = Recipe(exact, Drift(), few_points, few_points, stop=Stop(iterations=1))
    trained = train(assemble(heat, exact), recipe, seed=0)
    assert trained.loss < 1e-28


class TwoEnds(Problem):
    """Different values at the two ends: two conditions of one kind."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.x

    def conditions(self):
        return [initial(0.0), dirichlet(0.0, on="x-"), dirichlet(9.0, on="x+")]


def test_conditions_of_one_kind_each_have_their_column(still, small_field):
    history = train(assemble(TwoEnds(), small_field), still, seed=0).history
    parts = [column for name, column in history.columns.items() if name.startswith("loss_")]
    assert len(parts) == 4
    np.testing.assert_allclose(sum(parts), history["loss"], rtol=1e-12)


def test_a_residual_that_is_no_number_is_named_with_its_place(still, small_field):
    class Logarithm(tinns.Problem):
        domain = tinns.Box(x=(0, 1), t=(0, 1))

        def equation(self, u, x, t):
            return u.t - jnp.log(-1 - x)

        def conditions(self):
            return [tinns.initial(0.0)]

    with pytest.raises(tinns.UserError, match=r"'equation' is nan at x = .*, t = "):
        train(assemble(Logarithm(), small_field), still, seed=0)


@pytest.fixture(scope="module")
def batches(recipe):
    return recipe.replace(optimizer=Adam(), redraw=Redraw(None, every=2), stop=Stop(iterations=6))


def test_fresh_batches_come_when_they_are_due(system, still, batches):
    unmoved = still.replace(redraw=batches.redraw)
    losses_seen = train(system, unmoved, 0).history["loss"]
    pairs = losses_seen.reshape(3, 2)
    np.testing.assert_array_equal(pairs[:, 0], pairs[:, 1])
    assert len(set(pairs[:, 0])) == 3


def test_batches_do_not_depend_on_how_often_the_loop_looks_up(system, batches, monkeypatch):
    whole = train(system, batches, 0)
    monkeypatch.setattr("tinns.solvers.least_squares.training._next_count", lambda *_: 1)
    np.testing.assert_array_equal(flat(train(system, batches, 0)), flat(whole))


def test_validation_now_and_then(system, recipe):
    fixed = recipe.replace(redraw=None)  # or what validation finds would change the points
    seldom = train(system, fixed.replace(validate=3), 0).history["validation_loss"]
    always = train(system, fixed, 0).history["validation_loss"]
    np.testing.assert_allclose(seldom, np.repeat(always[::3], 3), rtol=1e-12)


def test_steps_know_what_share_of_the_budget_is_spent(system, still):
    @dataclass(frozen=True)
    class Telling(Drift):
        def step(self, objective, psi, state, clock):
            psi, state, report = super().step(objective, psi, state, clock)
            return psi, state, report._replace(columns={"spent": clock.spent})

    told = train(system, still.replace(optimizer=Telling()), 0).history["spent"]
    np.testing.assert_allclose(told, np.arange(6) / 6, rtol=1e-12)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [1, 0, 0, 0, 0, 0]),
        ({"redraw": Redraw(1e-9)}, [1, 1, 1, 1, 1, 1]),
        ({"redraw": Redraw(None, every=2)}, [1, 0, 1, 0, 1, 0]),
        ({"balance": Balance()}, [1, 1, 1, 1, 1, 1]),
    ],
    ids=["fixed", "redrawn", "batches", "weights"],
)
def test_steps_know_whether_points_or_weights_changed(system, still, settings, expected):
    @dataclass(frozen=True)
    class Telling(Drift):
        def step(self, objective, psi, state, clock):
            psi, state, report = super().step(objective, psi, state, clock)
            changed = jnp.asarray(clock.changed, float)
            return psi, state, report._replace(columns={"changed": changed})

    told = train(system, still.replace(optimizer=Telling(), **settings), 0).history["changed"]
    np.testing.assert_array_equal(told, expected)


def test_a_result_is_not_judged_by_what_was_known_of_other_points(system, recipe):
    batches = recipe.replace(optimizer=SelfScaledBroyden(), redraw=Redraw(None, every=3))
    trained = train(system, batches, 0)
    again = Objective(trained.blocks, trained.points).losses(trained.psi)
    assert trained.loss == pytest.approx(float(jnp.sum(again)), rel=1e-10)
    parts = [trained.history[f"loss_{name}"] for name in system.row_names]
    np.testing.assert_allclose(sum(parts), trained.history["loss"], rtol=1e-10)


def test_gradient_norms_are_renewed_when_they_are_due(system, recipe):
    renewed = recipe.replace(optimizer=Adam(), balance=GradientNorms(every=4), redraw=None)
    factors = train(system, renewed, 0).history["factor_equation"]
    assert factors[0] == 1.0  # before the first step nothing is known
    assert len(set(factors[1:5])) == 1
    assert factors[1] != 1.0
    assert factors[5] != factors[4]


class RootAtZero(tinns.Problem):
    """Its residual is finite, but √u² has no derivative in u where u = 0, as it is at the faces."""

    domain = tinns.Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t + jnp.sqrt(0.0 * u.value)

    def conditions(self):
        return [tinns.initial(lambda x: x)]


@pytest.mark.parametrize("optimizer", [AcceleratedLM(), PaperLM(), LBFGS()], ids=repr)
def test_a_gradient_that_is_not_finite_is_named_with_its_row(recipe, small_field, optimizer):
    settings = recipe.replace(optimizer=optimizer, stop=Stop(iterations=30))
    trained = train(assemble(RootAtZero(), small_field), settings)
    assert trained.stop_reason in (StopReason.NO_STEP, StopReason.FACTORISATION)
    assert "gradient of 'equation' is not finite at x = " in trained.stop_detail
    np.testing.assert_array_equal(trained.history["loss"], trained.history["loss"][0])
