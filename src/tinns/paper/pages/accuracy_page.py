"""docs/accuracy.md: error estimates beside true errors, verdicts of full runs, and tolerances."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tinns._runtime.files import write_whole
from tinns.paper.effectivity import (
    KINDS,
    RANGE,
    Estimated,
    Kind,
    Summary,
    read_effectivity,
    summarised,
)
from tinns.paper.formats import markdown_table
from tinns.paper.pages.blocks import with_block
from tinns.paper.pages.checkout import Checkout, joined, plural
from tinns.paper.sheet import NOTHING, Column, Value, sheet_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, PICTURE = "docs/accuracy.md", "effectivity.png"
NAMES: dict[Kind, str] = {
    "classical": "by a classical solution",
    "network": "from the network alone",
    "stated": "as stated to a user",
}
COLOURS: dict[Kind, str] = {"classical": "#0072B2", "network": "#D55E00"}
EFFECTIVITY = (
    Column("problem"),
    Column("solutions"),
    Column("true errors"),
    Column("classical: estimate / error"),
    Column("seconds", ".1f"),
    Column("network: estimate / error"),
    Column("seconds", ".1f"),
)
VERDICTS = (
    Column("problem"),
    Column("recipe"),
    Column("device"),
    Column("seconds of training", ".0f"),
    Column("of checks", ".1f"),
    Column("estimate", ".1e"),
    Column("by"),
    Column("true error", ".1e"),
    Column("worst unknown"),
    Column("verdict"),
)
TOLERANCES = (
    Column("problem"),
    Column("device"),
    Column("tolerance", ".0e"),
    Column("seconds of training", ".0f"),
    Column("parameters", "d"),
    Column("estimate", ".1e"),
    Column("by"),
    Column("true error", ".1e"),
    Column("met"),
)


def accuracy_page(checkout: Checkout) -> str:
    """The page with up-to-date tables."""
    text = with_block(checkout, PAGE, "effectivity", effectivity_block(_estimates(checkout)))
    text = with_block(checkout, PAGE, "verdicts", verdicts_block(_runs(checkout, "verdicts")), text)
    tolerances = tolerances_block(_runs(checkout, "tolerance"))
    return with_block(checkout, PAGE, "tolerances", tolerances, text)


def draw_accuracy(checkout: Checkout) -> list[Path]:
    """Draw the picture of the page."""
    records = _estimates(checkout)
    if not records:
        return []
    figure, path = figure_of(records), checkout.images / PICTURE
    return [write_whole(path, lambda file: figure.savefig(file, dpi=160))]


def effectivity_block(records: Sequence[Estimated]) -> str:
    """How many estimates are how far from the true errors, and a table by problem."""
    if not records:
        return "Nothing is recorded yet."
    found: list[tuple[Kind, Summary | None]] = [(k, summarised(records, k)) for k in KINDS]
    lines = [f"- {NAMES[kind]}: {_in_words(own)}" for kind, own in found if own]
    rows = [_effectivity_row(name, records) for name in dict.fromkeys(r.problem for r in records)]
    devices = ", ".join(sorted({record.device for record in records}))
    seeds = plural(len({record.seed for record in records}), "seed")
    note = f"Trained on: {devices}; {seeds}. Seconds of estimates include compilation."
    picture = f"![estimated and true errors](images/{PICTURE})"
    return joined(["\n".join(lines), markdown_table(sheet_of(EFFECTIVITY, rows)), note, picture])


def _in_words(summary: Summary) -> str:
    low, high = RANGE
    return (
        f"{summary.within:.1%} of {summary.count} estimates lie within [{low:.2g}, {high:g}] of "
        f"the true error; smallest {summary.smallest:.2g}, median {summary.median:.2g}, largest "
        f"{summary.largest:.2g}"
    )


def _effectivity_row(name: str, records: Sequence[Estimated]) -> tuple[Value, ...]:
    own = [record for record in records if record.problem == name]
    errors = [record.relative_l2 for record in own]
    cells: list[Value] = [name, len(own), f"{min(errors):.0e} to {max(errors):.0e}"]
    for kind in COLOURS:
        summary = summarised(own, kind)
        seconds = [r.attempt(kind).seconds for r in own if r.attempt(kind).estimate is not None]
        cells.append(summary and _spread(summary))
        cells.append(float(np.median(seconds)) if seconds else None)
    return tuple(cells)


def _spread(summary: Summary) -> str:
    return f"{summary.median:.2g} ({summary.smallest:.2g} to {summary.largest:.2g})"


def verdicts_block(runs: Sequence[dict[str, Any]]) -> str:
    """A table of full runs with their verdicts, and why those that failed did."""
    if not runs:
        return "Nothing is recorded yet."
    order = sorted(runs, key=lambda run: (run["device"], run["recipe"] == "default"))
    table = markdown_table(sheet_of(VERDICTS, [_verdict_row(run) for run in order]))
    failed = [
        f"- {run['problem']}: {run['verdict']['reasons'][0]}"
        for run in order
        if run["verdict"]["status"] != "trusted"
    ]
    return joined([table, "\n".join(["Why not trusted:", "", *failed]) if failed else ""])


def _verdict_row(run: dict[str, Any]) -> tuple[Value, ...]:
    estimate = run["estimate"] or {}
    worst = max(run["per_unknown"], key=run["per_unknown"].get)
    several = len(run["per_unknown"]) > 1
    return (
        run["problem"],
        f"`{run['recipe']}`",
        run["device"],
        run["seconds"],
        run["check_seconds"],
        estimate.get("relative_l2"),
        estimate.get("by", NOTHING),
        run["relative_l2"],
        f"{worst} {run['per_unknown'][worst]:.1e}" if several else NOTHING,
        run["verdict"]["status"],
    )


def tolerances_block(runs: Sequence[dict[str, Any]]) -> str:
    """A table of searches to a tolerance, and how many met it on each device."""
    if not runs:
        return "Nothing is recorded yet."
    order = sorted(runs, key=lambda r: (r["device"], -r["tolerance"], r["problem"], r["seed"]))
    rows = [_tolerance_row(run) for run in order]
    lines = []
    for device, tolerance in sorted({(run["device"], run["tolerance"]) for run in runs}):
        own = [r for r in runs if (r["device"], r["tolerance"]) == (device, tolerance)]
        met = [run for run in own if run["met"]]
        excess = max((run["relative_l2"] / tolerance for run in met), default=0.0)
        budgets = " or ".join(f"{b:g}" for b in sorted({run["budget"] for run in own}))
        lines.append(
            f"- {device}, at most {budgets} s of training: {tolerance:.0e} is met in {len(met)} of "
            f"{len(own)} runs; where it is said to be met, the true error is at most "
            f"{excess:.2g} times the tolerance"
        )
    return joined(["\n".join(lines), markdown_table(sheet_of(TOLERANCES, rows))])


def _tolerance_row(run: dict[str, Any]) -> tuple[Value, ...]:
    estimate = run["estimate"] or {}
    return (
        run["problem"],
        run["device"],
        run["tolerance"],
        run["seconds"],
        run["parameters"],
        estimate.get("relative_l2"),
        estimate.get("by", NOTHING),
        run["relative_l2"],
        "yes" if run["met"] else "no",
    )


def figure_of(records: Sequence[Estimated]) -> "Figure":
    """Estimates against true errors, one panel for each way to make them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    errors = [record.relative_l2 for record in records]
    ends = np.array([min(errors) / 3, max(errors) * 3])
    for axes, kind in zip(panels, COLOURS, strict=True):
        pairs = [(r.relative_l2, r.attempt(kind).estimate) for r in records]
        known = np.array([(error, found) for error, found in pairs if found is not None])
        axes.fill_between(ends, RANGE[0] * ends, RANGE[1] * ends, color="#dddddd", lw=0)
        axes.plot(ends, ends, color="#555555", lw=0.8)
        if len(known):
            axes.plot(*known.T, "o", ms=3.5, alpha=0.6, mew=0, color=COLOURS[kind])
        axes.set(xscale="log", yscale="log", xlabel="true relative L2 error", xlim=ends)
        axes.set_title(NAMES[kind], loc="left", fontweight="bold")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    panels[0].set_ylabel("estimated relative L2 error")
    return figure


def _estimates(checkout: Checkout) -> list[Estimated]:
    return read_effectivity(checkout.root / "results/effectivity.json")


def _runs(checkout: Checkout, name: str) -> list[dict[str, Any]]:
    path = checkout.root / f"results/{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
