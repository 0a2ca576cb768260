"""Timing inside compiled programs, the problem that is timed, and files of measurements."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console

from tinns import _solve
from tinns._runtime.files import write_whole
from tinns.geometry import Batch, Counts
from tinns.nn import Field
from tinns.objective import Psi, System, assemble
from tinns.paper import formats
from tinns.paper.pages.timings import Machine
from tinns.paper.sheet import Sheet
from tinns.problems import problem_named
from tinns.recipes import recipe_for

Call = Callable[[], Any]
CALLS = 4  # of which the quickest counts
NUDGE = 1e-300  # too small to change a number, but the compiler cannot know


def posed(rows: int, field: Field | None = None) -> tuple[System, Psi, tuple[Batch, ...]]:
    """Burgers with recipe `paper`, or with another field, on the given number of rows."""
    problem = problem_named("burgers")
    recipe = recipe_for(problem, "paper")
    system = assemble(problem, field or recipe.field, recipe.weights)
    points = system.draw(jax.random.key(1), counts_of(rows, recipe.points), recipe.sampler)
    return system, system.init(jax.random.key(0)), points


def counts_of(rows: int, like: Counts) -> Counts:
    """Exactly that many rows of Burgers (two faces, one row per point), in a recipe's shares."""
    share = rows / (like.interior + like.initial + like.boundary)
    initial, boundary = round(share * like.initial), 2 * round(share * like.boundary / 2)
    return Counts(rows - initial - boundary, initial, boundary)


def repeated(function: Callable[..., Any], repeat: int, x: Any, *others: Any) -> Call:
    """A compiled program that calls function(x, *others) `repeat` times, ready to be run.

    Each repetition nudges one entry of x by the result of the one before, so that repetitions wait
    for each other and none can be optimised away. The whole result is carried through the loop, so
    that no part of it can be optimised away either.
    """

    def program(x: Any, *others: Any) -> Any:
        shapes = jax.eval_shape(function, x, *others)
        nothing = jax.tree.map(lambda s: jnp.zeros(s.shape, s.dtype), shapes)

        def again(_: Any, carry: Any) -> Any:
            nudged = _nudged(*carry)
            return nudged, function(nudged, *others)

        return jax.lax.fori_loop(0, repeat, again, (x, nothing))[1]

    run = jax.jit(program).lower(x, *others).compile()
    return lambda: jax.block_until_ready(run(x, *others))


def quickest(
    calls: Mapping[str, Call], context: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> dict[str, float]:
    """Milliseconds of each of several calls: the minimum of a few, after one that warms up."""
    times = dict.fromkeys(calls, float("inf"))
    with context():
        for turn in range(CALLS + 1):
            for name, call in calls.items():  # in turn, so that a slow moment affects all of them
                before = time.perf_counter()
                call()
                if turn:
                    times[name] = min(times[name], 1e3 * (time.perf_counter() - before))
    return times


def _nudged(x: Any, result: Any) -> Any:
    leaves, shape = jax.tree.flatten(x)
    first = next(n for n, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating))
    cause = next(o for o in jax.tree.leaves(result) if jnp.issubdtype(o.dtype, jnp.floating))
    leaf = leaves[first]
    origin = (0,) * leaf.ndim  # changed in place: a large array must not be copied
    entry = jax.lax.slice(leaf, origin, (1,) * leaf.ndim) + NUDGE * cause.reshape(-1)[0]
    leaves[first] = jax.lax.dynamic_update_slice(leaf, entry, origin)
    return jax.tree.unflatten(shape, leaves)


def circumstances() -> Machine:
    """Where, with which versions and when something was measured."""
    known = _solve.circumstances()
    return Machine(
        device=known["device"],
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        load=os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        versions=known["versions"],
        finished=known["finished"],
    )


def device_slug() -> str:
    """The kind of device in the name of a file: cpu, nvidia-h200."""
    device = jax.devices()[0]
    kind = device.platform if device.platform == "cpu" else device.device_kind
    return "-".join(kind.lower().split())


def write(measured: Mapping[str, Any], name: str, out: Path) -> Path:
    """OUT/NAME-DEVICE.json."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(measured, indent=1) + "\n"
    path = out / f"{name}-{device_slug()}.json"
    return write_whole(path, lambda temporary: temporary.write_text(text))


def show(sheet: Sheet) -> None:
    """Print a table: the first column contains words, the others numbers."""
    formats.show(sheet, Console(), words=1)
