"""The picture of a table: error against training seconds, or shares of singular values as bars."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from tinns.paper.grouping import Spread
from tinns.paper.lines import Line
from tinns.paper.sheet import Sheet, Value
from tinns.paper.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, which colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
PANELS = 3  # per row
DOTTED = "dotted: the paper's errors"


def picture_of(table: Table, lines: Sequence[Line], sheet: Sheet) -> "Figure":
    """The picture of a table."""
    return _bars(sheet) if table.kind == "shares" else _curves(table, lines)


def _curves(table: Table, lines: Sequence[Line]) -> "Figure":
    """One panel per problem, one line per row: the mean over seeds; the paper's errors dotted."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    problems = list(dict.fromkeys(line.problem for line in lines))
    columns = min(PANELS, len(problems))
    height = ceil(len(problems) / columns)
    figure = Figure(figsize=(max(5.5, 4.2 * columns), 3.6 * height + 0.7), layout="constrained")
    panels = list(figure.subplots(height, columns, squeeze=False).flat)
    colours = {
        row.label: COLOURS[number % len(COLOURS)]
        for number, row in enumerate(dict.fromkeys(table.rows))
    }
    shown = {}
    for axes, problem in zip(panels, problems, strict=False):
        drawn = set()
        for line in (a for a in lines if a.problem == problem):
            label, colour = line.row.label, colours[line.row.label]
            curve = line.group.curve()
            if curve is None:
                continue
            (drawn_line,) = axes.plot(*curve, color=colour, lw=1.6, marker="o", ms=2.5, label=label)
            shown.setdefault(label, drawn_line)
            if line.printed.error is not None and line.row.printed not in drawn:
                drawn.add(line.row.printed)  # two rows may correspond to one row of the paper
                axes.axhline(line.printed.error, color=colour, lw=1.1, ls=":")
                shown[DOTTED] = Line2D([], [], color="0.3", lw=1.1, ls=":")
        _frame(axes, problem)
        if not any(line.group.curve() is not None for line in lines if line.problem == problem):
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


def _frame(axes: "Axes", problem: str) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(xscale="log", yscale="log", title=problem, xlabel="training seconds")
    axes.set_ylabel("relative L2 error")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="0.92", lw=0.6)


def _bars(sheet: Sheet) -> "Figure":
    """One set of bars for each column of shares."""
    from matplotlib.figure import Figure

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


def _height(value: Value) -> float:
    if isinstance(value, Spread):
        return value.mean
    return float(value) if isinstance(value, int | float) else 0.0
