"""Timing inside compiled programs, the problem that is timed, files and tables of measurements."""

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table
from tinns.geometry.sampling import Counts, Points

from tinns._runtime.files import write_whole
from tinns._runtime.version import __version__
from tinns._solve import device_name
from tinns.nn import Field
from tinns.objective import Psi, System, assemble
from tinns.problems import problem_named
from tinns.recipes import recipe_for

Call = Callable[[], Any]
CALLS = 4  # of which the quickest counts
NUDGE = 1e-300  # too small to change a number, but the compiler cannot know


def posed(rows: int, field: Field | None = None) -> tuple[System, Psi, tuple[Points, ...]]:
    """Burgers as recipe `paper` has it, or with another field, on so many rows."""
    problem = problem_named("burgers")
    recipe = recipe_for(problem, "paper")
    system = assemble(problem, field or recipe.field, recipe.weights)
    points = system.draw(jax.random.key(1), counts_of(rows, recipe.points), recipe.sampler)
    return system, system.init(jax.random.key(0)), points


def counts_of(rows: int, like: Counts) -> Counts:
    """Exactly so many rows of Burgers (two faces, one row a point), in a recipe's proportions."""
    share = rows / (like.interior + like.initial + like.boundary)
    initial, boundary = round(share * like.initial), 2 * round(share * like.boundary / 2)
    return Counts(rows - initial - boundary, initial, boundary)


def repeated(function: Callable[..., Any], repeat: int, x: Any, *others: Any) -> Call:
    """A compiled program that calls function(x, *others) `repeat` times, ready to be run.

    One entry of x is nudged by the outcome before, so that repetitions wait for each other and none
    can be left out. The whole outcome goes through the loop: no part of it can be left out either.
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
    """Milliseconds of each of several calls: the least of a few, once all are warm."""
    times = dict.fromkeys(calls, float("inf"))
    with context():
        for turn in range(CALLS + 1):
            for name, call in calls.items():  # in turn, so that a slow moment is shared by all
                before = time.perf_counter()
                call()
                if turn:
                    times[name] = min(times[name], 1e3 * (time.perf_counter() - before))
    return times


def _nudged(x: Any, outcome: Any) -> Any:
    leaves, shape = jax.tree.flatten(x)
    first = next(n for n, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating))
    cause = next(o for o in jax.tree.leaves(outcome) if jnp.issubdtype(o.dtype, jnp.floating))
    leaf = leaves[first]
    origin = (0,) * leaf.ndim  # changed in place: a large array must not be copied
    entry = jax.lax.slice(leaf, origin, (1,) * leaf.ndim) + NUDGE * cause.reshape(-1)[0]
    leaves[first] = jax.lax.dynamic_update_slice(leaf, entry, origin)
    return jax.tree.unflatten(shape, leaves)


def circumstances() -> dict[str, Any]:
    """What a measurement was made on and with."""
    packages = ("jax", "jaxlib", "numpy", "scipy")
    return {
        "device": device_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,  # of all programs
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
            "tinns": __version__,
        },
    }


def device_slug() -> str:
    """The kind of device in a file's name: cpu, nvidia-h200."""
    device = jax.devices()[0]
    return "-".join((device.platform if device.platform == "cpu" else device.device_kind).split())


def write(measured: dict[str, Any], name: str, out: Path) -> Path:
    """OUT/NAME-DEVICE.json."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{name}-{device_slug().lower()}.json"
    text = json.dumps(measured, indent=1) + "\n"
    return write_whole(path, lambda temporary: temporary.write_text(text))


def show(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A lined-up table on the terminal: the first column words, the others numbers."""
    shown = Table(title=title, title_justify="left", title_style="bold")
    for number, name in enumerate(header):
        shown.add_column(name, justify="right" if number else "left")
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)
