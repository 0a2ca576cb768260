"""Solutions on disk: safetensors with the architecture in the header, nothing executable."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from tinns import nn as fields
from tinns._runtime.describe import settings_of
from tinns._runtime.errors import UserError
from tinns._runtime.files import write_whole
from tinns._runtime.former_names import present_name
from tinns._runtime.precision import computing_in
from tinns.geometry import TIME, Box, Domain
from tinns.nn import Constrained, Field
from tinns.nn.registry import REGISTERED
from tinns.objective.constraints import constrained
from tinns.problem.base import Problem
from tinns.problems import PROBLEMS, problem_named
from tinns.solution.core import Solution
from tinns.solvers import History

FORMAT = "tinns-solution-1"

# Only these descriptions, and those that a user registered, are ever built from a file.
_DESCRIPTIONS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        fields.MLP,
        fields.FourierFeatures,
        fields.Hypernetwork,
        fields.Layerwise,
        fields.Linear,
        fields.ModifiedMLP,
        fields.OneNeuron,
        fields.PirateNet,
        fields.RandomFeatures,
        fields.ResNet,
        fields.SeparableField,
        fields.SeparableMLP,
        fields.SpaceTime,
        fields.TimeInduced,
        fields.Windowed,
    )
}


def save(solution: Solution, path: str | Path) -> Path:
    """Write a solution file: complete, or not at all."""
    if Path(path).suffix != ".safetensors":
        raise UserError(f"cannot save as {path}: expected a name that ends in .safetensors")
    leaves = jax.tree.leaves(solution.psi)
    tensors = {f"psi.{number}": np.asarray(leaf) for number, leaf in enumerate(leaves)}
    tensors |= {
        f"history.{name}": np.asarray(column, dtype=float)
        for name, column in solution.history.columns.items()
    }
    problem, field = solution.problem, solution.field
    network, hard = (field.inner, field) if isinstance(field, Constrained) else (field, None)
    header = {
        "domain": _describe_domain(solution.domain),
        "unknowns": solution.unknowns,
        "field": describe(network),
        "hard": {"names": hard.names, "probe": _probe(hard, solution.domain)} if hard else None,
        "precision": solution.precision,
        "trainable": list(solution.psi["coefficients"]),
        "problem": problem.name if problem is not None else None,
        "coefficients": _plain_coefficients(problem),
        "knows_truth": problem is not None and problem.known_solution() is not None,
        "result": dict(solution.result),
    }
    payload = to_bytes(tensors, metadata={"format": FORMAT, "tinns": json.dumps(header)})
    return write_whole(path, lambda temporary: temporary.write_bytes(payload))


def load(path: str | Path, problem: str | Problem | None = None) -> Solution:
    """Read a solution file. A problem of your own must be given for its reference to be known.

    It must also be given if conditions are built in: their functions are code, which no file holds.
    """
    path = Path(path)
    problem = problem_named(problem) if isinstance(problem, str) else problem
    if not path.is_file():
        raise UserError(f"no solution file at {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise UserError(
            f"{path} is not a valid solution file ({error}); was it cut off while it was written?"
        ) from None
    if metadata.get("format") != FORMAT:
        raise UserError(f"{path} is a safetensors file, but not a solution written by tinns")
    try:
        return _rebuild(json.loads(metadata["tinns"]), tensors, problem)
    except UserError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise UserError(f"{path} is damaged or of another version ({error})") from None


def _rebuild(
    header: dict[str, Any], tensors: dict[str, np.ndarray], problem: Problem | None
) -> Solution:
    domain = _revive_domain(header["domain"], problem)
    field = revive(header["field"])
    unknowns = tuple(header["unknowns"])
    precision = header["precision"]
    with computing_in(precision):
        shapes = jax.eval_shape(lambda: field.init(jax.random.key(0), domain, len(unknowns)))
    template = {
        "field": shapes,
        "coefficients": {
            name: np.zeros(()) for name in header.get("trainable", header.get("sought", []))
        },
    }
    wanted, tree = jax.tree.flatten(template)
    leaves = [tensors[f"psi.{number}"] for number in range(len(wanted))]
    for number, (leaf, shape) in enumerate(zip(leaves, wanted, strict=True)):
        if leaf.shape != shape.shape:
            raise ValueError(f"tensor {number} has shape {leaf.shape}, expected {shape.shape}")
    columns = {
        n.removeprefix("history."): t for n, t in tensors.items() if n.startswith("history.")
    }
    if problem is None:
        problem = _of_the_package(header, domain, unknowns)
    else:
        problem = _as_far_as(problem, domain)
    if problem is not None and (problem.domain, problem.unknowns) != (domain, unknowns):
        raise UserError(
            f"the given problem {problem.name} has another domain or other unknowns than the one "
            f"that was solved, {header['problem']}"
        )
    for name, value in _plain_coefficients(problem).items():
        if header["coefficients"].get(name, value) != value:
            raise UserError(
                f"the given problem has {name} = {value}, but the one that was solved had "
                f"{name} = {header['coefficients'][name]}"
            )
    return Solution(
        domain,
        unknowns,
        _with_conditions(field, header, problem),
        jax.tree.unflatten(tree, leaves),
        precision,
        problem,
        History(columns),
        header["result"],
    )


def _of_the_package(
    header: dict[str, Any], domain: Domain, unknowns: tuple[str, ...]
) -> Problem | None:
    """The package's problem that was solved, unless it is a user's own of the same name."""
    if header["problem"] not in PROBLEMS:
        return None
    problem, coefficients = problem_named(header["problem"]), header["coefficients"]
    problem = _as_far_as(problem, domain)
    same = (problem.domain, problem.unknowns) == (domain, unknowns)
    if not same or not set(coefficients) <= set(problem.coefficients):
        return None
    problem = problem.with_coefficients(coefficients)
    return problem if header.get("knows_truth", True) else problem.without_truth()


def _as_far_as(problem: Problem, domain: Domain) -> Problem:
    """The problem until the time to which it was solved, if some of its windows are missing."""
    same = problem.domain.over(*domain.interval(TIME))
    if domain.end < problem.domain.end and domain == same:
        return problem.with_domain(domain)
    return problem


def _with_conditions(field: Field, header: dict[str, Any], problem: Problem | None) -> Field:
    """The field with the problem's conditions built in again, as they were when it was saved."""
    hard = header.get("hard")
    if hard is None:
        return field
    names = tuple(hard["names"])
    if problem is None:
        raise UserError(
            f"{', '.join(names)} of {header['problem'] or 'the problem'} are built into this "
            "solution: give the problem they belong to, tinns.load(path, problem=...)"
        )
    built = constrained(problem, field, names)
    assert isinstance(built, Constrained)
    if not np.allclose(_probe(built, problem.domain), hard["probe"], rtol=1e-9, atol=1e-12):
        raise UserError(
            f"the problem {problem.name} prescribes other values than those built into this "
            "solution: give the problem as it was solved, tinns.load(path, problem=...)"
        )
    return built


def _probe(field: Constrained, domain: Domain) -> list[float]:
    """The prescribed values inside the box, by which a file identifies the problem."""
    with jax.enable_x64(True):
        point = {
            axis: jnp.asarray(lower + (upper - lower) * 0.618**number)
            for number, axis in enumerate(domain.axes, start=1)
            for lower, upper in [domain.interval(axis)]
        }
        return field.continuation(domain, point).tolist()


def describe(value: Any) -> Any:
    """A field as plain data that `revive` can build again."""
    data = settings_of(value)
    try:
        revive(data)
    except KeyError as unknown:
        raise UserError(
            f"a {unknown.args[0]} cannot be written to a solution file; put @tinns.nn.register "
            "above its class"
        ) from None
    return data


def revive(data: Any) -> Any:
    """The inverse of `describe`."""
    if isinstance(data, dict):
        settings = {str(name): revive(value) for name, value in data.items() if name != "class"}
        name = str(data["class"])
        return (_DESCRIPTIONS | REGISTERED)[present_name(name)](**settings)
    return tuple(data) if isinstance(data, list) else data


def _describe_domain(domain: Domain) -> dict[str, Any]:
    return {
        "kind": type(domain).__name__,
        "bounds": [[axis, domain.interval(axis)] for axis in domain.axes],
        "periodic": domain.periodic,
    }


def _revive_domain(data: dict[str, Any], problem: Problem | None) -> Domain:
    """The box of a file; another geometry comes from the problem, since no file holds code."""
    bounds = {name: tuple(interval) for name, interval in data["bounds"]}
    if data.get("kind", "Box") == "Box":
        return Box(periodic=tuple(data["periodic"]), **bounds)
    if problem is None:
        raise UserError(
            f"this solution lives on a {data['kind']}: give the problem that was solved, "
            "tinns.load(path, problem=...)"
        )
    domain = problem.domain.over(*bounds[TIME])
    if _describe_domain(domain)["bounds"] != [[n, tuple(i)] for n, i in bounds.items()]:
        raise UserError(
            f"the domain of the given problem {problem.name} is not the one that was solved"
        )
    return domain


def _plain_coefficients(problem: Problem | None) -> dict[str, float]:
    if problem is None:
        return {}
    return {n: c for n, c in problem.coefficients.items() if isinstance(c, int | float)}
