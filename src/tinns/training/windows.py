"""Time windows: one run after another, each from the state and the parameters the last one left."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np

from tinns.domain import Box
from tinns.errors import UserError
from tinns.fields.field import Advancing
from tinns.problem import Problem
from tinns.recipe import Recipe, Stop
from tinns.residuals import Psi, System, Window
from tinns.separation import Separation
from tinns.training.history import History
from tinns.training.loop import Trained, run
from tinns.training.machine import Machine
from tinns.training.progress import Snapshot, Watcher

Measure = Callable[[Psi], float]

# Columns of a history that count up from the start of a run.
COUNTERS = {"redraws", "failures", "accepted", "rejected", "accelerated"}


def window_edges(windows: int | Sequence[float], domain: Box) -> tuple[float, ...]:
    """The times between which windows lie: so many of equal length, or as given."""
    if isinstance(windows, int | np.integer) and not isinstance(windows, bool) and windows >= 1:
        return tuple(np.linspace(domain.start, domain.end, int(windows) + 1).tolist())
    edges: tuple[float, ...] = ()
    if isinstance(windows, Sequence | np.ndarray) and not isinstance(windows, str):
        try:
            edges = tuple(float(edge) for edge in windows)
        except (TypeError, ValueError):
            edges = ()
    grows = all(a < b for a, b in itertools.pairwise(edges))
    if len(edges) < 2 or not grows or (edges[0], edges[-1]) != (domain.start, domain.end):
        raise UserError(
            f"windows={windows!r}; expected a whole number >= 1, or rising times from "
            f"{domain.start:g} to {domain.end:g}"
        )
    return edges


def check_windows(problem: Problem, recipe: Recipe) -> None:
    """Refuse what cannot be cut into windows."""
    if len(window_edges(recipe.windows, problem.domain)) == 2:
        return
    reasons = {
        f"coefficients are sought ({', '.join(problem.sought)})": bool(problem.sought),
        "observations belong to all of time": problem.has_observations,
        f"conditions are built in ({', '.join(recipe.hard)})": bool(recipe.hard),
        "separation advances all of time at once": isinstance(recipe.optimizer, Separation),
    }
    for reason, holds in reasons.items():
        if holds:
            raise UserError(
                f"{problem.name} cannot be solved in time windows: {reason}; use windows=1"
            )


def train_in_windows(
    system: System,
    recipe: Recipe,
    seed: int,
    edges: Sequence[float],
    measures: Sequence[Measure | None],
    watcher: Watcher,
) -> Trained:
    """Train `system`, whose time runs from 0 to 1, on every window in turn.

    The recipe's iterations and seconds are those of all windows together; what a window leaves
    is shared by those after it. After an interruption the windows that were begun are returned.
    """
    machine = Machine(system, recipe, watcher)
    spans = list(itertools.pairwise(edges))
    done: list[Trained] = []
    for number, (start, end) in enumerate(spans):
        machine.watcher = _InWindow.of(watcher, number, len(spans), done)
        key = jax.random.fold_in(jax.random.key(seed), number)
        before = _on_no_device(done[-1].psi if done else machine.init(key))
        psi = _advanced(system, before) if done else None
        start_before, end_before = spans[max(number - 1, 0)]
        window = Window(
            jnp.asarray(start, float),
            jnp.asarray(end - start, float),
            jnp.asarray(number == 0),
            before,
            jnp.asarray(start_before, float),
            jnp.asarray(end_before - start_before, float),
        )
        share = _share(recipe.stop, done, len(spans) - number)
        done.append(run(machine, key, share, measures[number], window, psi))
        if done[-1].stop_reason == "interrupted":
            break
    return _joined(done)


def _on_no_device(psi: Psi) -> Psi:
    """ψ free to go wherever a program wants it, also where devices were several."""
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf)), psi)


def _advanced(system: System, psi: Psi) -> Psi:
    """The parameters from which the next window starts."""
    field, domain = system.field, system.problem.domain
    if not isinstance(field, Advancing):
        return psi
    return psi | {"field": field.advanced(psi["field"], domain)}


def _share(stop: Stop, done: Sequence[Trained], left: int) -> Stop:
    """The limits of the next window: an even share of what is left."""
    iterations, seconds = stop.iterations, stop.seconds
    if iterations is not None:
        iterations = max(1, (iterations - sum(t.iterations for t in done)) // left)
    if seconds is not None:
        seconds = max(1e-3, (seconds - sum(t.seconds for t in done)) / left)
    return replace(stop, iterations=iterations, seconds=seconds)


def _joined(parts: Sequence[Trained]) -> Trained:
    """All windows as one run; its losses are means over the windows."""
    history = History()
    iterations, seconds = 0, 0.0
    for number, part in enumerate(parts):
        columns = dict(part.history.columns)
        columns["iteration"] = columns["iteration"] + iterations
        columns["seconds"] = columns["seconds"] + seconds
        columns["window"] = np.full(part.iterations, number + 1.0)
        for name in COUNTERS & columns.keys() & history.columns.keys():
            columns[name] = columns[name] + history[name][-1]
        history.extend(columns)
        iterations, seconds = iterations + part.iterations, seconds + part.seconds
    last = parts[-1]
    reasons = dict.fromkeys(part.stop_reason for part in parts)
    return Trained(
        {"field": [part.psi["field"] for part in parts], "coefficients": {}},
        float(np.mean([part.loss for part in parts])),
        float(np.mean([part.validation_loss for part in parts])),
        iterations,
        seconds,
        sum(part.compile_seconds for part in parts),
        last.stop_reason if last.stop_reason == "interrupted" else ", ".join(reasons),
        iterations - last.iterations + last.kept_iteration,
        history,
        last.blocks,
        last.points,
        tuple(parts),
    )


@dataclass(frozen=True)
class _InWindow:
    """A watcher that counts on over the windows and says which one is on."""

    inner: Watcher
    label: str
    iterations: int
    seconds: float

    @classmethod
    def of(cls, inner: Watcher, number: int, count: int, done: Sequence[Trained]) -> "_InWindow":
        iterations, seconds = sum(t.iterations for t in done), sum(t.seconds for t in done)
        return cls(inner, f"window {number + 1} of {count}", iterations, seconds)

    def says(self, activity: str) -> None:
        self.inner.says(f"{self.label}: {activity}")

    def tells(self, fact: str) -> None:
        self.inner.tells(fact)

    def sees(self, snapshot: Snapshot) -> None:
        self.inner.sees(
            replace(
                snapshot,
                iteration=snapshot.iteration + self.iterations,
                seconds=snapshot.seconds + self.seconds,
                label=self.label,
            )
        )
