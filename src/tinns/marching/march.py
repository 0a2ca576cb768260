"""From a problem to the path of its features' coefficients: the other way to find a field."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from tinns.domain import TIME
from tinns.errors import UserError
from tinns.fields import RandomFeatures
from tinns.least_squares import rows
from tinns.least_squares.layout import Layout
from tinns.marching.collocation import Collocation, collocation, draw_hidden
from tinns.marching.conditions import METHOD, Posed, sorted_conditions
from tinns.marching.integration import Marched, Prepared, integrate, prepare
from tinns.marching.panels import fit_panels
from tinns.marching.semidiscrete import Semidiscrete, semidiscrete
from tinns.recipe import Recipe
from tinns.residuals import Psi, System, assemble
from tinns.sampling import Points
from tinns.separation import Separation
from tinns.training import History, Trained
from tinns.training.progress import Silent, Snapshot, Watcher
from tinns.training.stopping import TIME_IS_UP, Interruption

POINTS_PER_FEATURE = 3
DRAWS = 4  # of features, at most
STEADY = 5.0  # e-foldings of a disturbance over the time interval that need no other draw


def march(
    system: System,
    recipe: Recipe,
    seed: int,
    measure: Callable[[Psi], float] | None = None,
    watcher: Watcher | None = None,
) -> tuple[System, Trained]:
    """Advance the coefficients of frozen features over the time interval.

    The system that comes back has the field with as many panels as the path turned out to need.
    """
    watcher = watcher or Silent()
    field, settings = system.field, recipe.optimizer
    assert isinstance(settings, Separation)
    if not isinstance(field, RandomFeatures):
        raise UserError(
            f"{METHOD} cannot build conditions in: leave out hard={', '.join(recipe.hard)}"
        )
    if recipe.precision != "float64":
        raise UserError(f"{METHOD} needs precision float64, not {recipe.precision}")
    posed = sorted_conditions(system.problem)
    place_key, face_key, train_key, validation_key = jax.random.split(jax.random.key(seed), 4)
    interval = system.problem.domain.interval(TIME)

    watcher.says("drawing features")
    count = settings.points or POINTS_PER_FEATURE * field.width
    if count <= field.width:
        raise UserError(
            f"{METHOD}: points={count} are too few for {field.width} features; give several times "
            "as many, or None"
        )
    places = collocation(settings, count, system.problem.domain, _targets(posed), place_key)
    hidden, prepared = _steadiest(posed, field, settings, places, seed, face_key)

    watcher.says("compiling the steps in time")
    with Interruption() as interruption:

        def stop(t: float, steps: int, seconds: float) -> str | None:
            watcher.says(f"t = {t:.4g} of {interval[1]:g}  step {steps}  {seconds:.0f} s")
            if interruption.asked:
                return "interrupted"
            if recipe.stop.iterations is not None and steps >= recipe.stop.iterations:
                return "iterations done"
            if recipe.stop.seconds is not None and seconds >= recipe.stop.seconds:
                return TIME_IS_UP
            return None

        marched = integrate(prepared, interval, settings, stop)
    _check(marched, system, settings)
    marched = _shortest(marched, recipe.stop.iterations)
    reached = float(marched.times[-1])
    if marched.reason:
        watcher.tells(
            f"{marched.reason} at t = {reached:g} of {interval[1]:g}: later values are those of "
            "that time"
        )
    watcher.says("fitting the path")
    field, psi = _path(field, hidden, prepared.ode, marched, settings, interval[1])
    fitted = assemble(system.problem, field, recipe.weights)
    draw = jax.jit(fitted.draw, static_argnums=(1, 2))
    loss, validation_loss = _losses(
        fitted,
        psi,
        draw(train_key, recipe.points, recipe.sampler),
        draw(validation_key, recipe.validation, recipe.sampler),
    )
    error = float(measure(psi)) if measure else None
    history = _history(marched, loss, validation_loss, error)
    steps = len(marched.times) - 1
    seconds = float(marched.seconds[-1])
    watcher.sees(Snapshot(steps, seconds, loss, validation_loss, None, error))
    return fitted, Trained(
        psi,
        loss,
        validation_loss,
        steps,
        seconds,
        marched.compile_seconds,
        marched.reason or "reached the end",
        steps,
        history,
    )


def _steadiest(
    posed: Posed,
    field: RandomFeatures,
    settings: Separation,
    places: Collocation,
    seed: int,
    key: jax.Array,
) -> tuple[dict[str, jax.Array], Prepared]:
    """Features whose ODE does not grow, or of several draws those whose ODE grows least.

    Now and then a draw has a growing mode that the equation has not.
    """
    interval = posed.problem.domain.interval(TIME)
    best = None
    for draw in range(DRAWS):
        weights, biases = draw_hidden(field, posed.problem.domain, places, (seed, draw))
        hidden = {"weights": jnp.asarray(weights), "biases": jnp.asarray(biases)}
        hidden["edges"] = jnp.asarray(interval)
        prepared = prepare(semidiscrete(posed, field, settings, hidden, places, key), interval)
        if best is None or prepared.growth < best[1].growth:
            best = hidden, prepared
        if prepared.growth * (interval[1] - interval[0]) <= STEADY:
            break
    assert best is not None
    return best


def _targets(posed: Posed) -> Callable[[Points], jax.Array]:
    """The initial values, then the initial velocities, at one point."""
    parts = [posed.initial(bool(n)) for n in range(posed.order)]
    return lambda point: jnp.concatenate([part(point) for part in parts])


def _check(marched: Marched, system: System, settings: Separation) -> None:
    if marched.reason != "broke down":
        return
    reached, end = float(marched.times[-1]), system.problem.domain.interval(TIME)[1]
    raise UserError(
        f"{METHOD}: {marched.solver} broke down at t = {reached:g} of {end:g} on "
        f"{system.problem.name}; give Separation a larger cutoff than {settings.cutoff:g} or more "
        "points, or try another seed or width"
    )


def _shortest(marched: Marched, iterations: int | None) -> Marched:
    """No more steps than were asked for."""
    if iterations is None or len(marched.times) - 1 <= iterations:
        return marched
    kept = slice(0, iterations + 1)
    return dataclasses.replace(
        marched,
        times=marched.times[kept],
        states=marched.states[kept],
        seconds=marched.seconds[kept],
        reason="iterations done",
    )


def _path(
    field: RandomFeatures,
    hidden: dict[str, jax.Array],
    ode: Semidiscrete,
    marched: Marched,
    settings: Separation,
    end: float,
) -> tuple[RandomFeatures, Psi]:
    """ψ from the accepted steps; after the last one the coefficients rest."""
    states = marched.states[:, 0]
    tolerance = settings.atol + settings.rtol * float(np.abs(states).max())
    rates = marched.states[:, 1] if marched.states.shape[1] > 1 else None
    edges, path = fit_panels(marched.times, states, tolerance, rates)
    if marched.reason:
        rest = np.zeros_like(path[:, :1])
        rest[0, 0] = states[-1]
        edges, path = np.append(edges, end), np.concatenate([path, rest], axis=1)
    coefficients = np.einsum("wor,dpr->dpwo", ode.coefficients, path)
    psi = hidden | {"edges": jnp.asarray(edges), "path": jnp.asarray(coefficients)}
    field = dataclasses.replace(field, panels=len(edges) - 1)
    return field, {"field": psi, "coefficients": {}}


def _losses(system: System, psi: Psi, *points: tuple[Points, ...]) -> list[float]:
    """The mean squares of all rows, as training has them, on each of the given sets of points."""
    losses = jax.jit(lambda psi, points: rows.losses(system.blocks, psi, points, Layout()))
    return [float(jnp.sum(losses(psi, set_of_points))) for set_of_points in points]


def _history(marched: Marched, loss: float, validation_loss: float, error: float | None) -> History:
    """One entry per accepted step; losses and error are those of the whole path, at the end."""
    count = len(marched.times) - 1
    last = {"loss": loss, "validation_loss": validation_loss, "relative_l2": error}
    columns = {
        "iteration": np.arange(1.0, count + 1),
        "seconds": marched.seconds[1:],
        "time": marched.times[1:],
        "step_size": np.diff(marched.times),
    }
    for name, value in last.items():
        columns[name] = np.full(count, np.nan)
        columns[name][-1] = np.nan if value is None else value
    return History(columns)
