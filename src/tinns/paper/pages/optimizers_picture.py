"""docs/images/optimizers.png: error against training seconds for each optimiser."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinns._runtime.files import write_whole
from tinns.paper.grouping import Group, groups_of, identity, main_device
from tinns.paper.pages.checkout import Checkout, plural
from tinns.paper.published import main_figures
from tinns.paper.records import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Optimizer:
    """A line of the picture: which runs it shows, and its style."""

    label: str
    method: str
    recipe: str
    colour: str
    style: Any = "-"


# The palette of Okabe and Ito, which colour-blind readers can distinguish.
OPTIMIZERS = (
    Optimizer("accelerated LM, recipe fast", "tinn", "fast", "#0072B2"),
    Optimizer("accelerated LM, recipe accurate", "tinn", "accurate", "#0072B2", (0, (5, 1.5))),
    Optimizer("the paper's Algorithm 1, recipe paper", "tinn", "paper", "#D55E00"),
    Optimizer("L-BFGS, recipe fast", "tinn-lbfgs", "fast", "#009E73"),
    Optimizer("Adam, recipe fast", "tinn-adam", "fast", "#CC79A7"),
)
TITLES = {
    "burgers": "Burgers",
    "allen-cahn": "Allen-Cahn",
    "klein-gordon": "Klein-Gordon, 2+1 dimensions",
    "kdv": "Korteweg-de Vries",
    "wave": "Wave",
}
EARLIEST = 0.1  # seconds: after the first iteration, errors are measured about twice per second
INK, FAINT = "#222222", "#d9d9d9"
DASHES = (0, (4, 3))  # the style of the paper's errors


def optimizers_picture(checkout: Checkout) -> Path:
    """The file of the picture."""
    return checkout.images / "optimizers.png"


def draw_optimizers(checkout: Checkout) -> list[Path]:
    """Draw the picture from the single runs of a checkout."""
    figure = figure_of(checkout.runs)
    path = optimizers_picture(checkout)
    path.parent.mkdir(parents=True, exist_ok=True)
    return [write_whole(path, lambda file: figure.savefig(file, dpi=160))]


def figure_of(runs: Iterable[Record]) -> "Figure":
    """One panel per problem and one line per optimiser, on the device with most runs."""
    from matplotlib.figure import Figure

    groups = groups_of(runs)
    device = main_device(groups)
    groups = [group for group in groups if group.first.device == device]
    figure = Figure(figsize=(11, 6.6), layout="constrained")
    panels = figure.subplots(2, 3)
    drawn: dict[Optimizer, set[int]] = {}
    for axes, (problem, figures) in zip(panels.flat, main_figures().items(), strict=False):
        for optimizer in OPTIMIZERS:
            for group in groups:
                if identity(group) == (problem, optimizer.method, optimizer.recipe):
                    _line(axes, optimizer, group)
                    drawn.setdefault(optimizer, set()).add(group.seeds)
        _frame(axes, TITLES.get(problem, problem), figures.error)
    for axes in panels.flat:
        axes.set_xlim(0.9 * EARLIEST, 1.5 * _longest(groups))
    for axes in (*panels[1], panels[0, 2]):
        axes.set_xlabel("training time, seconds", color=INK)
    for axes in panels[:, 0]:
        axes.set_ylabel("relative L2 error", color=INK)
    _legend(panels.flat[len(main_figures())], drawn, device)
    return figure


def _longest(groups: Sequence[Group]) -> float:
    curves = [group.curve() for group in groups]
    return max((curve[0][-1] for curve in curves if curve is not None), default=1.0)


def _line(axes: "Axes", optimizer: Optimizer, group: Group) -> None:
    """The median over seeds, in a band from the lowest to the highest error."""
    curves = [group.curve(statistic=name) for name in ("median", "min", "max")]
    median, lowest, highest = curves
    if median is None or lowest is None or highest is None:
        return
    seconds, errors = median
    shown, colour = seconds >= EARLIEST, optimizer.colour
    if group.seeds > 1:
        band = (lowest[1][shown], highest[1][shown])
        axes.fill_between(seconds[shown], *band, color=colour, alpha=0.16, lw=0)
    axes.plot(seconds[shown], errors[shown], ls=optimizer.style, color=colour, lw=1.8)
    axes.plot(seconds[shown][-1], errors[shown][-1], "o", color=colour, ms=4.5)


def _frame(axes: "Axes", title: str, error: float | None) -> None:
    from matplotlib.patheffects import withStroke
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(xscale="log", yscale="log")
    if error is not None:
        axes.axhline(error, color=INK, lw=1.1, ls=DASHES, zorder=1)
        label = axes.text(
            0.015,
            error * 0.8,
            f"paper {error:.2e}",
            va="top",
            fontsize=8.5,
            color=INK,
            transform=axes.get_yaxis_transform(),
        )
        label.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", color=INK)
    axes.grid(color=FAINT, lw=0.6)
    axes.yaxis.set_major_locator(LogLocator(numticks=12))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter("{x:g}")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=9)
    axes.set_axisbelow(True)


def _legend(axes: "Axes", drawn: Mapping[Optimizer, set[int]], device: str) -> None:
    from matplotlib.lines import Line2D

    axes.set_axis_off()
    handles = [
        Line2D([], [], color=o.colour, ls=o.style, lw=2.2, label=f"{o.label}\n({_seeds(drawn[o])})")
        for o in OPTIMIZERS
        if o in drawn
    ]
    handles.append(Line2D([], [], color=INK, ls=DASHES, lw=1.1, label="the paper's error"))
    title = f"on one {device}\nmedian over seeds; band: all seeds"
    legend = axes.legend(handles=handles, loc="center left", frameon=False, title=title)
    legend.get_title().set(fontweight="bold", color=INK)
    legend.set_alignment("left")


def _seeds(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return plural(high, "seed") if low == high else f"{low} to {high} seeds"
