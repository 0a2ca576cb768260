"""Error against training seconds, one panel a problem; shares of singular values as bars."""

from collections.abc import Sequence
from math import ceil

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from tinns.bench.sheets import Sheet
from tinns.bench.summary import Group, Spread
from tinns.bench.tables import Table

# Distinct also without colour vision (Okabe and Ito), then by their dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PANELS = 3  # in a row
DOTTED = "dotted: the paper's errors"


def picture_of(table: Table, groups: Sequence[Group], sheet: Sheet) -> Figure:
    return _bars(sheet) if table.kind == "shares" else _curves(table, groups)


def _curves(table: Table, groups: Sequence[Group]) -> Figure:
    """One line a row, the mean over seeds; the paper's errors dotted in the same colour."""
    problems = list(dict.fromkeys(group.problem for group in groups))
    columns = min(PANELS, len(problems))
    lines = ceil(len(problems) / columns)
    figure = Figure(figsize=(max(5.5, 4.2 * columns), 3.6 * lines + 0.7), layout="constrained")
    panels = list(figure.subplots(lines, columns, squeeze=False).flat)
    colours = {
        row.label: COLOURS[number % len(COLOURS)]
        for number, row in enumerate(dict.fromkeys(table.rows))
    }
    shown = {}
    for axes, problem in zip(panels, problems, strict=False):
        drawn = set()
        for group in (g for g in groups if g.problem == problem):
            label, colour = group.row.label, colours[group.row.label]
            curve = group.curve()
            if curve is None:
                continue
            (line,) = axes.plot(*curve, color=colour, lw=1.6, marker="o", ms=2.5, label=label)
            shown.setdefault(label, line)
            if "error" in group.printed and group.row.printed not in drawn:
                drawn.add(group.row.printed)  # of two rows that stand for one of the paper's
                axes.axhline(group.printed["error"], color=colour, lw=1.1, ls=":")
                shown[DOTTED] = Line2D([], [], color="0.3", lw=1.1, ls=":")
        axes.set(xscale="log", yscale="log", title=problem, xlabel="training seconds")
        axes.set_ylabel("relative L2 error")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(color="0.92", lw=0.6)
        if not any(g.curve() is not None for g in groups if g.problem == problem):
            axes.text(0.5, 0.5, "no curve yet", ha="center", transform=axes.transAxes, color="0.4")
    for axes in panels[len(problems) :]:
        axes.set_visible(False)
    order = [label for label in (*colours, DOTTED) if label in shown]
    if order:
        figure.legend(
            [shown[label] for label in order],
            order,
            loc="outside lower center",
            ncols=min(2 * columns, len(order)),
            fontsize="small",
            frameon=False,
        )
    return figure


def _bars(sheet: Sheet) -> Figure:
    """Each column of shares as a set of bars."""
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    axes = figure.subplots()
    numbered = [n for n, column in enumerate(sheet.columns) if "share" in column.heading]
    places, width = np.arange(len(sheet.rows)), 0.8 / len(numbered)
    for k, number in enumerate(numbered):
        heights = [_height(row[number]) for row in sheet.rows]
        label = sheet.columns[number].heading
        axes.bar(places + (k - 1) * width, heights, width, color=COLOURS[k], label=label)
    axes.set_xticks(places, [str(row[1]) for row in sheet.rows])
    axes.set(ylim=(0, 1.05), ylabel="share of the leading direction", title=sheet.title)
    figure.legend(loc="outside lower center", ncols=len(numbered), frameon=False)
    return figure


def _height(value: object) -> float:
    if isinstance(value, Spread):
        return value.mean
    return float(value) if isinstance(value, int | float) else 0.0
