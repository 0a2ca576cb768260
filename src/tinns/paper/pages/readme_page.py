"""The README's table of results: two recipes beside the paper's figures."""

from collections.abc import Sequence

import numpy as np

from tinns.paper.formats import markdown_table
from tinns.paper.grouping import Group, groups_of, lowest, main_device
from tinns.paper.pages.blocks import with_block
from tinns.paper.pages.checkout import OURS, Checkout, joined, plural
from tinns.paper.published import main_figures
from tinns.paper.records import Record
from tinns.paper.sheet import NOTHING, Column, sheet_of

COLUMNS = (
    Column("problem"),
    Column("the paper's error", ".2e"),
    Column("its hours (A6000)"),
    Column("recipe `paper`: error"),
    Column("seconds, seeds"),
    Column("our best recipe: error"),
    Column("seconds, seeds"),
    Column("which"),
    Column("parameters"),
)


def readme_page(checkout: Checkout) -> str:
    """The README with an up-to-date block of results."""
    return with_block(checkout, "README.md", "results", results(checkout.all_runs))


def results(runs: Sequence[Record]) -> str:
    """The table and its caption."""
    device = main_device(groups_of(runs))
    records = [record for record in runs if record.device == device]
    groups = groups_of(records)
    rows = []
    for problem, figures in main_figures().items():
        same, best = lowest(groups, problem, ["paper"]), lowest(groups, problem, OURS)
        sizes = [f"{group.parameters:.0f}" for group in (same, best) if group]
        rows.append(
            [
                problem,
                figures.error,
                str(figures.hours),
                *_cells(same),
                *_cells(best, strong=True),
                f"`{best.first.recipe}`" if best else NOTHING,
                ", ".join(sizes),
            ]
        )
    return joined([markdown_table(sheet_of(COLUMNS, rows)), _caption(records, device, runs)])


def _cells(group: Group | None, strong: bool = False) -> list[str]:
    if group is None:
        return [NOTHING, NOTHING]
    error = f"{group.error:.2e}"
    return [f"**{error}**" if strong else error, f"{group.seconds:.0f}, {group.seeds}"]


def _caption(records: Sequence[Record], device: str, runs: Sequence[Record]) -> str:
    text = (
        f"Our runs used one {device}. Errors and seconds are means over the given number of seeds, "
        "the paper's over five. Seconds are training time without compilation, often less than the "
        "recipe allows. Recipe `paper` runs as many iterations as the paper."
    )
    wanted = ("burgers", "paper", 3000)
    short = [r for r in records if (r.problem, r.recipe, r.iterations) == wanted]
    if short:
        error = np.median([r.relative_l2 for r in short if r.relative_l2 is not None])
        pace = np.median([1e3 * (r.seconds or 0.0) / (r.iterations or 1) for r in short])
        text += (
            f" After 3000 iterations of it on Burgers, the median error is {error:.1e} over "
            f"{plural(len(short), 'seed')}, at {pace:.2f} ms per iteration."
        )
    on_cpu = groups_of(record for record in runs if record.device.startswith("CPU"))
    demo = lowest(on_cpu, "burgers", ["fast"])
    if demo is not None:
        text += (
            f" The recorded run of the demo on two CPU cores reached {demo.error:.1e} in "
            f"{demo.seconds:.0f} s."
        )
    return text
