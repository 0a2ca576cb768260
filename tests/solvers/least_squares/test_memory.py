"""Forecasts of memory and layouts that fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from training_runs import train

from tinns import (
    LBFGS,
    MLP,
    AcceleratedLM,
    Adam,
    Causal,
    Counts,
    Linear,
    QuasiRandom,
    Recipe,
    Redraw,
    SelfScaledBroyden,
    Stop,
    TimeInduced,
    UserError,
)
from tinns.objective import assemble
from tinns.objective.layout import Layout
from tinns.solvers.least_squares import runner as runner_module
from tinns.solvers.least_squares.memory import (
    SHARE,
    STATES,
    Part,
    Tape,
    check_fits,
    fitting_layout,
    forecast,
    free_bytes,
    gradient_forecast,
    gradient_layout,
    size_of,
)
from tinns.solvers.least_squares.program import iterations
from tinns.solvers.least_squares.runner import Runner, call_arguments
from tinns.solvers.progress import Silent

STANDARD = Layout()
COUNTS = Counts(3000, 100, 100)


class Listening(Silent):
    def __init__(self):
        self.facts = []

    def notice(self, fact):
        self.facts.append(fact)


def test_what_fits_is_held_whole_without_a_word():
    layout, told = fitting_layout(10_900, 1145, 8, 1, 24e9)
    assert layout == Layout(10_900, 1)
    assert told is None


@pytest.mark.parametrize("free", [0.5e9, 3e9, 10e9])
def test_what_does_not_fit_is_cut_into_chunks_that_do(free):
    rows, parameters = 1_000_000, 1145
    layout, told = fitting_layout(rows, parameters, 8, 1, free)
    assert layout.chunk < rows
    assert forecast(rows, parameters, 8, layout) <= SHARE * free
    assert told is not None
    for fact in ("1000000 rows", "1145 parameters", str(layout.chunk)):
        assert fact in told


def test_more_devices_hold_more():
    alone, _ = fitting_layout(1_000_000, 1145, 8, 1, 20e9)
    together, told = fitting_layout(1_000_000, 1145, 8, 8, 20e9)
    assert alone.chunk < 1_000_000
    assert told is None
    assert together.shards == 8


def test_a_network_whose_normal_equations_cannot_fit_is_refused():
    with pytest.raises(UserError, match=r"100000 parameters need 640\.0 GB.*LBFGS"):
        fitting_layout(1000, 100_000, 8, 1, 24e9)


def test_the_machine_says_what_is_free():
    alone = free_bytes(jax.devices()[:1])
    assert 1e8 < alone < 1e14
    assert free_bytes(jax.devices()[:1] * 2) == pytest.approx(alone / 2, rel=0.2)


def test_parts_that_fit_are_added_up():
    parts = [Part("for points", 3e9, "use fewer"), Part("for the state", 4e9, "use another")]
    assert check_fits(parts, 8e9) == 7e9
    with pytest.raises(UserError) as caught:
        check_fits([*parts, Part("for little", 1e6, "do nothing")], 6e9)
    assert str(caught.value) == (
        "memory: this run needs 7.0 GB on each device (4.0 GB for the state, 3.0 GB for points), "
        "and 6.0 GB are free; use another"
    )


def test_a_gradient_that_fits_is_taken_as_ever():
    assert gradient_layout([Tape(1e9, 50_000, True)], 2, 24e9) == (Layout(shards=2), None)


@pytest.mark.parametrize("free", [2e9, 5e9])
def test_a_gradient_that_does_not_fit_is_taken_in_smaller_chunks(free):
    tapes = [Tape(20e9, 100_000, True), Tape(1e8, 1000, True)]
    layout, told = gradient_layout(tapes, 1, free)
    assert layout.chunk < STANDARD.chunk
    assert gradient_forecast(tapes, layout.chunk) <= SHARE * free
    assert told is not None
    assert "101000 rows" in told
    assert f"chunks of {layout.chunk} rows" in told


def test_a_gradient_that_cannot_be_divided_is_refused():
    message = r"gradient needs 36\.0 GB, and 24\.0 GB are free on each device; use fewer points"
    with pytest.raises(UserError, match=message):
        gradient_layout([Tape(20e9, 100_000, False), Tape(1e9, 1000, True)], 1, 24e9)
    assert gradient_layout([Tape(10e9, 100_000, False)], 1, 24e9) == (STANDARD, None)


def test_a_network_whose_smallest_chunk_does_not_fit_is_refused():
    with pytest.raises(UserError, match=r"gradient needs 46\.1 GB.*; use a smaller network$"):
        gradient_layout([Tape(1e13, 100_000, True)], 1, 24e9)


@pytest.fixture(scope="module")
def wide():
    return TimeInduced(MLP((40, 40)), Linear())


@pytest.fixture(scope="module")
def system(float64, heat, wide):
    return assemble(heat, wide)


@pytest.fixture(scope="module")
def recipe(wide):
    few = Counts(200, 20, 20)
    redraw = Redraw(1e-9, candidates=4, ladder=(1, 2))
    return Recipe(wide, Adam(), points=few, validation=few, redraw=redraw, stop=Stop(iterations=3))


def runner_for(system, recipe, **changed):
    return Runner(system, recipe.replace(**changed).least_squares(), Silent())


@pytest.mark.parametrize(
    ("optimizer", "numbers"),
    [
        (AcceleratedLM(), lambda p: 2 * p),  # the parameters and the best ones
        (Adam(), lambda p: 4 * p),
        (LBFGS(memory=7), lambda p: 5 * p + 2 * 7 * p),
        (SelfScaledBroyden(), lambda p: 6 * p + p**2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_state_of_an_optimizer_is_counted_exactly(system, recipe, optimizer, numbers):
    state, _ = runner_for(system, recipe, optimizer=optimizer)._parts()
    p = sum(leaf.size for leaf in jax.tree.leaves(system.init(jax.random.key(0))))
    assert state.size / STATES == pytest.approx(8 * numbers(p), abs=400)
    assert type(optimizer).__name__ in state.name


def test_all_points_and_candidates_of_the_highest_rung_are_counted(system, recipe):
    recipe = recipe.replace(renewal=None)
    plain = runner_for(system, recipe, redraw=None)._parts()[1].size
    longer = runner_for(system, recipe, redraw=Redraw(2.0, ladder=(1, 100)))._parts()[1].size
    richer = runner_for(system, recipe, redraw=Redraw(2.0, candidates=100))._parts()[1].size
    assert longer == pytest.approx(101 / 2 * plain)
    assert richer > longer


@pytest.mark.parametrize("optimizer", [Adam(), LBFGS(memory=5)], ids=lambda o: type(o).__name__)
@pytest.mark.parametrize("chunk", [16384, 500])
def test_the_forecast_of_a_gradient_is_about_what_the_compiler_reports(
    system, recipe, optimizer, chunk
):
    settings = recipe.replace(optimizer=optimizer).least_squares()
    runner = Runner(system, settings, Silent())
    state = runner.first_loop_state(system.init(jax.random.key(0)))
    points = system.draw(jax.random.key(1), COUNTS, QuasiRandom())
    program = iterations(system, settings, optimizer, Layout(chunk), None)
    call = call_arguments(0, 1, (0.0, 0, 0.0), jax.random.key(2))
    told = jax.jit(program).lower(state, points, points, call).compile().memory_analysis()
    beside = 2 * size_of(state) + 2 * size_of(points)
    need = gradient_forecast(runner._tapes(state.psi, points), chunk)
    assert 0.4 * need < told.temp_size_in_bytes < need + beside


def test_what_cannot_fit_is_refused_before_anything_is_compiled(system, recipe, monkeypatch):
    def nothing(*arguments):
        raise AssertionError("compiled")

    monkeypatch.setattr(runner_module, "free_bytes", lambda devices: 1e5)
    monkeypatch.setattr(runner_module, "compiled", nothing)
    monkeypatch.setattr(runner_module, "jitted", lambda *_, **__: nothing)
    for changed, remedy in (
        (
            {"optimizer": SelfScaledBroyden()},
            r"state of SelfScaledBroyden.*Adam, which holds least",
        ),
        ({"redraw": Redraw(2.0, candidates=1000)}, r"points and candidates.*fewer candidates"),
    ):
        with pytest.raises(UserError, match=remedy):
            train(system, recipe.replace(**changed))


def test_little_memory_changes_chunks_and_not_results(system, recipe, monkeypatch):
    given = recipe.replace(points=Counts(3000, 20, 20), redraw=None)
    listener = Listening()
    whole = train(system, given, reporter=listener)
    assert listener.facts == []
    monkeypatch.setattr(runner_module, "free_bytes", lambda devices: 3e7)
    pieces = train(system, given, reporter=listener)
    (fact,) = listener.facts
    assert "3040 rows" in fact
    flat, again = (np.asarray(ravel_pytree(run.psi)[0]) for run in (whole, pieces))
    np.testing.assert_allclose(again, flat, rtol=1e-6, atol=1e-9)


def test_an_emphasis_cannot_be_divided(system, recipe, monkeypatch):
    given = recipe.replace(points=Counts(3000, 20, 20), redraw=None, emphasis=Causal())
    monkeypatch.setattr(runner_module, "free_bytes", lambda devices: 3e7)
    with pytest.raises(UserError, match=r"the gradient needs .* use fewer points"):
        train(system, given)


def test_given_chunks_are_taken_as_they_are(system, recipe):
    given = recipe.replace(chunk=123)
    runner = runner_for(system, given)
    loop = runner.first_loop_state(system.init(jax.random.key(0)))
    points = system.draw(jax.random.key(1), COUNTS, QuasiRandom())
    assert runner._fitting(loop, points) == Layout(123)
    unhurried = runner_for(system, recipe)
    assert unhurried._fitting(loop, points) == STANDARD


def test_an_optimizer_whose_first_state_cannot_be_traced_is_accepted(system, recipe):
    class Measuring(Adam):
        def init(self, psi, kinds=1):
            float(jnp.sum(ravel_pytree(psi)[0]))
            return super().init(psi, kinds)

    state, _ = runner_for(system, recipe, optimizer=Measuring())._parts()
    assert state.size > 0
