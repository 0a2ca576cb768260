"""Error against training seconds, optimiser by optimiser.

    python benchmarks/optimizers.py run burgers kdv --methods adam l-bfgs --seconds 60 --seeds 0 1
    python benchmarks/optimizers.py draw

`run` records runs that are missing on this device, in the form of record.py. `draw` makes one
picture of whatever records there are.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter

from records import CUT_OFF, ROOT, Group, groups, main_device, papers_table, plural, read_records


@dataclass(frozen=True)
class Optimizer:
    """A line of the picture: which records it is drawn from, and how."""

    label: str
    method: str
    recipe: str
    colour: str
    style: Any = "-"


# Colours of M. Okabe and K. Ito, told apart by colour-blind readers too.
OPTIMIZERS = {
    "accelerated": Optimizer("accelerated LM, recipe fast", "tinn", "fast", "#0072B2"),
    "accurate": Optimizer(
        "accelerated LM, recipe accurate", "tinn", "accurate", "#0072B2", (0, (5, 1.5))
    ),
    "algorithm-1": Optimizer("the paper's Algorithm 1, recipe paper", "tinn", "paper", "#D55E00"),
    "l-bfgs": Optimizer("L-BFGS, recipe fast", "tinn-lbfgs", "fast", "#009E73"),
    "adam": Optimizer("Adam, recipe fast", "tinn-adam", "fast", "#CC79A7"),
}
TITLES = {
    "burgers": "Burgers",
    "allen-cahn": "Allen-Cahn",
    "klein-gordon": "Klein-Gordon, 2+1 dimensions",
    "kdv": "Korteweg-de Vries",
    "wave": "Wave",
}
EARLIEST = 0.1  # seconds: errors are measured about twice a second, but for the first iteration
INK, FAINT = "#222222", "#d9d9d9"


def main() -> None:
    arguments = _arguments()
    if arguments.verb == "draw":
        print(draw(arguments.out, arguments.device))
    else:
        run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Record what is not there yet."""
    from record import bundle, record
    from tinns._solve import device_name

    known, written = read_records(arguments.out), []
    for problem in arguments.problems:
        for name in arguments.methods:
            optimizer = OPTIMIZERS[name]
            for seed in arguments.seeds:
                wanted = (problem, optimizer.method, optimizer.recipe, device_name(), seed)
                if is_known(known, wanted, arguments.seconds):
                    print(f"{problem} {name} seed {seed}: recorded")
                    continue
                named = (problem, optimizer.recipe, optimizer.method, seed)
                written += record(*named, arguments, arguments.out)
                if arguments.archive:
                    bundle(arguments.archive, written)


def is_known(known: list[dict], wanted: tuple, seconds: float) -> bool:
    """Whether such a run of about that length is there, or one that ended by itself."""
    names = ("problem", "method", "recipe", "device", "seed")
    return any(
        tuple(r[name] for name in names) == wanted
        and (r["seconds"] >= 0.9 * seconds or r["stop_reason"] not in CUT_OFF)
        for r in known
    )


def draw(path: Path, device: str | None = None) -> Path:
    """One panel a problem, one colour an optimiser; the legend takes the sixth place."""
    found = groups(read_records())
    device = device or main_device(found)
    found = [group for group in found if group.device == device]
    figure = Figure(figsize=(11, 6.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 3)
    drawn: dict[str, set[int]] = {}
    for axes, (problem, figures) in zip(panels.flat, papers_table().items(), strict=False):
        for name, optimizer in OPTIMIZERS.items():
            wanted = (problem, optimizer.method, optimizer.recipe)
            for group in found:
                if (group.problem, group.method, group.recipe) == wanted:
                    _line(axes, optimizer, group)
                    drawn.setdefault(name, set()).add(group.seeds)
        _frame(axes, TITLES.get(problem, problem), figures["relative_l2"])
    longest = max((group.curve()[0][-1] for group in found), default=1.0)
    for axes in panels.flat:
        axes.set_xlim(0.9 * EARLIEST, 1.5 * longest)  # one scale of time for all
    for axes in (*panels[1], panels[0, 2]):
        axes.set_xlabel("training time, seconds", color=INK)
    for axes in panels[:, 0]:
        axes.set_ylabel("relative L2 error", color=INK)
    _legend(panels.flat[len(papers_table())], drawn, device)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)
    return path


def _line(axes: Axes, optimizer: Optimizer, group: Group) -> None:
    """The median over seeds, in a band from the best to the worst of them."""
    seconds, median = group.curve(np.median)
    shown = seconds >= EARLIEST
    colour = optimizer.colour
    if group.seeds > 1:
        lowest, highest = group.curve(np.min)[1], group.curve(np.max)[1]
        axes.fill_between(
            seconds[shown], lowest[shown], highest[shown], color=colour, alpha=0.16, lw=0
        )
    axes.plot(seconds[shown], median[shown], ls=optimizer.style, color=colour, lw=1.8)
    axes.plot(seconds[shown][-1], median[shown][-1], "o", color=colour, ms=4.5)


def _frame(axes: Axes, title: str, error: float) -> None:
    axes.set(xscale="log", yscale="log")
    axes.axhline(error, color=INK, lw=1.1, ls=(0, (4, 3)), zorder=1)
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


def _legend(axes: Axes, drawn: dict[str, set[int]], device: str) -> None:
    axes.set_axis_off()
    handles = [
        Line2D([], [], color=o.colour, ls=o.style, lw=2.2, label=f"{o.label}\n({_seeds(drawn[n])})")
        for n, o in OPTIMIZERS.items()
        if n in drawn
    ]
    handles.append(Line2D([], [], color=INK, ls=(0, (4, 3)), lw=1.1, label="the paper's error"))
    title = f"on one {device}\nmedian over seeds; band: all seeds"
    legend = axes.legend(handles=handles, loc="center left", frameon=False, title=title)
    legend.get_title().set(fontweight="bold", color=INK)
    legend.set_alignment("left")


def _seeds(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return plural(high, "seed") if low == high else f"{low} to {high} seeds"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    running = verbs.add_parser("run", help="record missing runs")
    running.add_argument("problems", nargs="+", choices=[*TITLES])
    running.add_argument("--methods", nargs="+", choices=[*OPTIMIZERS], default=[*OPTIMIZERS])
    running.add_argument("--seconds", type=float, default=60.0)
    running.add_argument("--seeds", type=int, nargs="+", default=[0])
    running.add_argument("--out", type=Path, default=ROOT / "results/runs")
    running.add_argument("--archive", type=Path, help="also bundle what was written as .tgz")
    running.set_defaults(iterations=None)
    drawing = verbs.add_parser("draw", help="draw what is recorded")
    drawing.add_argument("--out", type=Path, default=ROOT / "docs/images/optimizers.png")
    drawing.add_argument("--device", help="whose records; by default the one with most")
    return parser.parse_args()


if __name__ == "__main__":
    main()
