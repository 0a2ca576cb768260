"""Write docs/gallery.md, one section a problem, from the records in results/.

python benchmarks/gallery.py                    rewrite the page
python benchmarks/gallery.py --check            exit 1 if it is out of date
python benchmarks/gallery.py --pictures FOLDER  take pictures that record.py --pictures left there

A picture stays until another is taken; shown.json beside the pictures says which run each shows.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from math import isclose, pi
from pathlib import Path
from typing import Any

from records import (
    OURS,
    ROOT,
    Group,
    Record,
    find,
    groups,
    main_device,
    paper,
    plural,
    read_cells,
    read_records,
    table,
    write_or_check,
)
from tinns.geometry.box import Box
from tinns.problems import PROBLEMS

PAGE, PICTURES = ROOT / "docs/gallery.md", ROOT / "docs/images/gallery"
SHOWN = "shown.json"
STATED = ("relative_l2", "seconds", "parameters", "recipe", "device")  # of the run in a picture
NOTHING = "–"
OPENING = """# Gallery

Every problem that comes with the package, with what was recorded of it. The page is generated from
`results/` by `python benchmarks/gallery.py`; no number is typed by hand. Errors are relative L2
errors on the problem's test grid, means over seeds; seconds are training without compilation. Of
several recipes the one of lowest error is stated. A picture shows one run, which may be shorter."""


def page(records: Sequence[Record], shown: dict[str, Any]) -> str:
    """The whole page: problems in the order in which the package lists them."""
    found = groups(records)
    sections = [_section(name, found, shown.get(name)) for name in PROBLEMS]
    return "\n\n".join([OPENING, *sections]) + "\n"


def _section(name: str, found: Sequence[Group], picture: dict[str, Any] | None) -> str:
    problem = PROBLEMS[name]
    module = sys.modules[problem.__module__].__doc__ or ""
    # In a code span: equations are full of characters that Markdown would read as its own.
    parts = [f"## {name}", f"`{module.strip().splitlines()[0].rstrip('.')}`"]
    if picture:
        parts.append(f"![{name}](images/gallery/{name}.png)\n\n{_caption(picture)}")
    best, figures = best_group(found, name), paper().get(name, {})
    facts = [["domain", domain_text(problem.domain)], *_facts(best, figures)]
    parts.append("\n".join(table(["", ""], facts)))
    if best is None:
        parts.append("No record yet.")
    else:
        parts += [_quantities(best), _coefficients(best, figures), _windows(best)]
    parts.append(_other_methods(name, found, figures))
    return "\n\n".join(part for part in parts if part)


def best_group(found: Iterable[Group], problem: str, method: str = "tinn") -> Group | None:
    """The recipe of lowest error, on the device with most runs if the problem was solved there."""
    found = list(found)
    device = main_device(found)
    recipes = {group.recipe for group in found}
    there = find([g for g in found if g.device == device], problem, tuple(recipes), method)
    return there or find(found, problem, tuple(recipes), method)


def domain_text(domain: Box) -> str:
    """x ∈ [-1, 1] (periodic), t ∈ [0, 1]."""
    parts = []
    for axis in domain.axes:
        lower, upper = (_number(value) for value in domain.interval(axis))
        parts.append(f"{axis} ∈ [{lower}, {upper}]{' (periodic)' * (axis in domain.periodic)}")
    return ", ".join(parts)


def _facts(best: Group | None, figures: dict[str, Any]) -> list[list[str]]:
    rows = []
    if best is not None:
        rows = [
            ["error", f"**{best.mean('relative_l2'):.2e}**, mean of {plural(best.seeds, 'seed')}"],
            ["recipe", f"`{best.recipe}`"],
            ["seconds", f"{best.mean('seconds'):.0f}"],
            ["parameters", str(best.runs[0]["parameters"])],
            ["device", best.device],
        ]
    if "relative_l2" in figures:
        source = f" ({figures['source']})" if "source" in figures else ""
        hours = f", {figures['hours']} hours on an A6000" if "hours" in figures else ""
        rows.append(["the paper's error", f"{figures['relative_l2']:.2e}{hours}{source}"])
    return rows


def _quantities(best: Group) -> str:
    """Errors of named quantities, such as velocity and vorticity."""
    names = list(best.runs[0].get("errors") or {})
    if not names:
        return ""
    rows = [[name, f"{_mean(run['errors'][name] for run in best.runs):.2e}"] for name in names]
    return "\n".join(table(["quantity", "error"], rows))


def _coefficients(best: Group, figures: dict[str, Any]) -> str:
    """What an inverse problem found: one run's values, and mean errors of all."""
    first = best.runs[0]
    estimates = first.get("estimates") or {}
    if not estimates:
        return ""
    papers = figures.get("coefficient_errors", {})
    rows = []
    for name, estimate in estimates.items():
        errors = [abs(run["estimates"][name].get("error") or 0.0) for run in best.runs]
        is_known = estimate.get("true") is not None
        rows.append(
            [
                name,
                f"{estimate['true']:.12g}" if is_known else NOTHING,
                f"{estimate['value']:.12g}",
                _optional(estimate.get("standard_error"), ".1e"),
                _interval(estimate.get("interval")),
                f"{_mean(errors):.2e}" if is_known else NOTHING,
                _optional(papers.get(name), ".2e"),
            ]
        )
    header = ["coefficient", "true", f"found (seed {first['seed']})", "standard error", "interval"]
    header += ["absolute error, mean of seeds", "the paper's"]
    return "\n".join(table(header, rows))


def _windows(best: Group) -> str:
    """A solution that was found window after window: the error in each, and the jump before it."""
    windows = best.runs[0].get("windows")
    if not windows:
        return ""
    rows = [
        [
            f"{window['from']:.4g} to {window['to']:.4g}",
            _optional(window["relative_l2"], ".2e"),
            f"{window['jump']:.1e}",
        ]
        for window in windows
    ]
    told = f"Solved in {plural(len(windows), 'window')} of time (seed {best.runs[0]['seed']}):"
    return "\n".join([told, "", *table(["window", "error", "jump at its start"], rows)])


def _other_methods(name: str, found: Sequence[Group], figures: dict[str, Any]) -> str:
    """Other methods that were recorded, or that the paper states an error of."""
    papers = figures.get("methods", {})
    recorded = {group.method for group in found if group.problem == name and group.is_scored}
    rows = []
    for method in sorted((recorded | papers.keys()) - {"tinn"}):
        group = best_group(found, name, method)
        cells = ["no record yet", NOTHING, NOTHING]
        if group is not None:
            cells = [f"{group.mean('relative_l2'):.2e}", f"{group.mean('seconds'):.0f}"]
            cells.append(f"`{group.recipe}`, {group.device}")
        rows.append([f"`{method}`", *cells, _optional(papers.get(method), ".2e")])
    if not rows:
        return ""
    header = ["other methods", "error", "seconds", "recipe, device", "the paper's error"]
    return "\n".join(table(header, rows))


def _caption(picture: dict[str, Any]) -> str:
    error = _optional(picture["relative_l2"], ".2e")
    return (
        f"*Shown: `{picture['record']}`, recipe `{picture['recipe']}`, error {error} after "
        f"{picture['seconds']:.0f} s on {picture['device']}, {picture['parameters']} parameters.*"
    )


def take_pictures(folder: Path, pictures: Path = PICTURES) -> dict[str, Any]:
    """Of each problem in the folder, copy the picture of lowest error and note whose it is."""
    pictures.mkdir(parents=True, exist_ok=True)
    shown = read_shown(pictures)
    taken: dict[str, Record] = {}
    for record in read_records(folder):
        name, error = record["problem"], record["relative_l2"]
        is_drawn = name in PROBLEMS and (folder / f"{record['stem']}.png").exists()
        if is_drawn and (name not in taken or (error or 0) < (taken[name]["relative_l2"] or 0)):
            taken[name] = record
    for name, record in taken.items():
        shutil.copyfile(folder / f"{record['stem']}.png", pictures / f"{name}.png")
        shown[name] = {"record": record["stem"], **{fact: record[fact] for fact in STATED}}
    (pictures / SHOWN).write_text(json.dumps(dict(sorted(shown.items())), indent=1) + "\n")
    return shown


def read_shown(pictures: Path = PICTURES) -> dict[str, Any]:
    """Which run each picture shows, by problem."""
    path = pictures / SHOWN
    return json.loads(path.read_text()) if path.exists() else {}


def _interval(interval: Sequence[float] | None) -> str:
    return NOTHING if not interval else f"[{interval[0]:.12g}, {interval[1]:.12g}]"


def _optional(number: float | None, form: str) -> str:
    return NOTHING if number is None else format(number, form)


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return sum(values) / len(values)


def _number(value: float) -> str:
    """Multiples of π by name, all others as they are."""
    turns = value / pi
    if value and isclose(turns, round(turns), rel_tol=1e-12):
        return {1: "π", -1: "-π"}.get(round(turns), f"{round(turns)}π")
    return f"{value:g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 if the page is out of date")
    parser.add_argument("--pictures", type=Path, help="take pictures from this folder first")
    arguments = parser.parse_args()
    if arguments.pictures and not arguments.check:
        take_pictures(arguments.pictures)
    return write_or_check(PAGE, page(read_records() + read_cells(OURS), read_shown()))


if __name__ == "__main__":
    sys.exit(main())
