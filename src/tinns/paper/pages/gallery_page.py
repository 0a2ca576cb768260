"""docs/gallery.md: every problem of the package, with its picture and its recorded results."""

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from math import isclose, pi
from pathlib import Path
from typing import TypedDict

from tinns._runtime.errors import UserError
from tinns.geometry import Domain
from tinns.paper.formats import markdown_table
from tinns.paper.grouping import Group, groups_of, lowest, main_device, spread
from tinns.paper.pages.checkout import COMMAND, Checkout, joined, optional, plural
from tinns.paper.published import Figures, separation_errors, tinn_figures
from tinns.paper.records import Record, read_folder
from tinns.paper.sheet import NOTHING, sheet_of
from tinns.problems import PROBLEMS

SHOWN = "shown.json"  # which run each picture shows
OPENING = f"""# Gallery

All problems of the package with their recorded results. The page is generated from `results/` by
`{COMMAND}`. Errors are relative L2 errors on the problem's test grid, as
means over seeds. Seconds are training time without compilation. The recipe with the lowest error is
shown. A picture shows a single run, which may be shorter."""


class Shown(TypedDict):
    """The run that a picture shows."""

    record: str
    relative_l2: float | None
    seconds: float
    parameters: int
    recipe: str
    device: str


def gallery_page(checkout: Checkout) -> str:
    """The page, from the records of a checkout."""
    return gallery(checkout.all_runs, read_shown(pictures_folder(checkout)))


def pictures_folder(checkout: Checkout) -> Path:
    """The folder of the gallery's pictures."""
    return checkout.images / "gallery"


def gallery(records: Sequence[Record], shown: Mapping[str, Shown]) -> str:
    """The page, with problems in the order in which the package lists them."""
    groups = groups_of(records)
    return joined([OPENING, *(_section(name, groups, shown.get(name)) for name in PROBLEMS)]) + "\n"


def _section(name: str, groups: Sequence[Group], picture: Shown | None) -> str:
    problem = PROBLEMS[name]
    module = sys.modules[problem.__module__].__doc__ or ""
    # A code span, because Markdown would interpret characters of the equation.
    parts = [f"## {name}", f"`{module.strip().splitlines()[0].rstrip('.')}`"]
    if picture:
        parts += [f"![{name}](images/gallery/{name}.png)", _caption(picture)]
    best, figures = best_group(groups, name), tinn_figures().get(name, Figures())
    facts = [["domain", domain_text(problem.domain)], *_facts(best, figures)]
    parts.append(markdown_table(sheet_of(["", ""], facts)))
    if best is None:
        parts.append("No run is recorded yet.")
    else:
        parts += [_quantities(best), _coefficients(best, figures), _windows(best)]
    parts.append(_other_methods(name, groups, separation_errors(name)))
    return joined(parts)


def best_group(groups: Iterable[Group], problem: str, method: str = "tinn") -> Group | None:
    """The recipe of lowest error, on the device with most runs if the problem was solved there."""
    groups = list(groups)
    device, recipes = main_device(groups), {group.first.recipe for group in groups}
    there = lowest([g for g in groups if g.first.device == device], problem, recipes, method)
    return there or lowest(groups, problem, recipes, method)


def domain_text(domain: Domain) -> str:
    """The domain as in mathematics: x ∈ [-1, 1] (periodic), t ∈ [0, 1]."""
    parts = []
    for axis in domain.axes:
        lower, upper = (_number(value) for value in domain.interval(axis))
        parts.append(f"{axis} ∈ [{lower}, {upper}]{' (periodic)' * (axis in domain.periodic)}")
    return ", ".join(parts)


def _number(value: float) -> str:
    """Multiples of π by name, other numbers as they are."""
    turns = value / pi
    if value and isclose(turns, round(turns), rel_tol=1e-12):
        return {1: "π", -1: "-π"}.get(round(turns), f"{round(turns)}π")
    return f"{value:g}"


def _facts(best: Group | None, figures: Figures) -> list[list[str]]:
    rows = []
    if best is not None:
        rows = [
            ["error", f"**{best.error:.2e}**, mean of {plural(best.seeds, 'seed')}"],
            ["recipe", f"`{best.first.recipe}`"],
            ["seconds", f"{best.seconds:.0f}"],
            ["parameters", f"{best.parameters:.0f}"],
            ["device", best.first.device],
        ]
    if figures.error is not None:
        source = f" ({figures.source})" if figures.source else ""
        hours = f", {figures.hours} hours on an A6000" if figures.hours else ""
        rows.append(["the paper's error", f"{figures.error:.2e}{hours}{source}"])
    return rows


def _quantities(best: Group) -> str:
    """Errors of named quantities, such as velocity and vorticity."""
    names = list(best.first.errors)
    rows = [[name, f"{spread([r.errors[name] for r in best.done]).mean:.2e}"] for name in names]
    return markdown_table(sheet_of(["quantity", "error"], rows)) if rows else ""


def _coefficients(best: Group, figures: Figures) -> str:
    """Estimated coefficients: the values of one run, and mean errors over all runs."""
    rows = []
    for name, estimate in best.first.estimates.items():
        known = estimate.get("true")
        errors = [abs(record.estimates[name].get("error") or 0.0) for record in best.done]
        interval = estimate.get("interval")
        rows.append(
            [
                name,
                optional(known, ".12g"),
                f"{estimate.get('value'):.12g}",
                optional(estimate.get("standard_error"), ".1e"),
                f"[{interval[0]:.12g}, {interval[1]:.12g}]" if interval else NOTHING,
                NOTHING if known is None else f"{spread(errors).mean:.2e}",
                optional(figures.coefficient_errors.get(name), ".2e"),
            ]
        )
    header = [
        "coefficient",
        "true",
        f"estimate (seed {best.first.seed})",
        "standard error",
        "interval",
        "absolute error, mean over seeds",
        "the paper's",
    ]
    return markdown_table(sheet_of(header, rows)) if rows else ""


def _windows(best: Group) -> str:
    """The error in each time window, and the discontinuity at its start."""
    windows, seed = best.first.windows, best.first.seed
    rows = [
        [f"{w['from']:.4g} to {w['to']:.4g}", optional(w["relative_l2"], ".2e"), f"{w['jump']:.1e}"]
        for w in windows
    ]
    if not rows:
        return ""
    sheet = sheet_of(["window", "error", "jump at its start"], rows)
    opening = f"Solved in {plural(len(windows), 'time window')} (seed {seed}):"
    return joined([opening, markdown_table(sheet)])


def _other_methods(name: str, groups: Sequence[Group], papers: Mapping[str, float]) -> str:
    """Other methods that are recorded, or for which the paper states an error."""
    recorded = {g.first.method for g in groups if g.first.problem == name and g.is_scored}
    rows = []
    for method in sorted((recorded | papers.keys()) - {"tinn"}):
        group = best_group(groups, name, method)
        cells = ["not recorded yet", NOTHING, NOTHING]
        if group is not None:
            where = f"`{group.first.recipe}`, {group.first.device}"
            cells = [f"{group.error:.2e}", f"{group.seconds:.0f}", where]
        rows.append([f"`{method}`", *cells, optional(papers.get(method), ".2e")])
    header = ["other methods", "error", "seconds", "recipe, device", "the paper's error"]
    return markdown_table(sheet_of(header, rows)) if rows else ""


def _caption(picture: Shown) -> str:
    return (
        f"*Run `{picture['record']}`: recipe `{picture['recipe']}`, error "
        f"{optional(picture['relative_l2'], '.2e')} after {picture['seconds']:.0f} s on "
        f"{picture['device']}, {picture['parameters']} parameters.*"
    )


def take_pictures(folder: Path, pictures: Path) -> dict[str, Shown]:
    """Copy the picture of lowest error of each problem in a folder, and note which run it shows."""
    taken: dict[str, Record] = {}
    for record in read_folder(folder):
        name = record.problem
        if name not in PROBLEMS or not (folder / f"{record.name}.png").exists():
            continue
        if name not in taken or (record.relative_l2 or 0) < (taken[name].relative_l2 or 0):
            taken[name] = record
    if not taken:
        raise UserError(
            f"{folder} has no pictures of recorded runs; `python -m tinns.paper.record --pictures` "
            "makes them"
        )
    pictures.mkdir(parents=True, exist_ok=True)
    shown = read_shown(pictures)
    for name, record in taken.items():
        shutil.copyfile(folder / f"{record.name}.png", pictures / f"{name}.png")
        shown[name] = Shown(
            record=record.name,
            relative_l2=record.relative_l2,
            seconds=record.seconds or 0.0,
            parameters=record.parameters or 0,
            recipe=record.recipe,
            device=record.device,
        )
    (pictures / SHOWN).write_text(json.dumps(dict(sorted(shown.items())), indent=1) + "\n")
    return shown


def read_shown(pictures: Path) -> dict[str, Shown]:
    """The run that each picture shows, by problem."""
    path = pictures / SHOWN
    return json.loads(path.read_text()) if path.exists() else {}
