"""Write docs/results.md, the tables of the paper beside ours, from the cells in results/bench.

python benchmarks/results_page.py          rewrite the page and its pictures
python benchmarks/results_page.py --check  exit 1 if it is out of date
"""

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from records import ROOT, write_or_check
from tinns.paper.cells import Profile, Record
from tinns.paper.formats import markdown_table
from tinns.paper.picture import picture_of
from tinns.paper.readings import reading
from tinns.paper.sheets import sheet_of
from tinns.paper.store import Store
from tinns.paper.summary import Group, groups_of, rows_run
from tinns.paper.tables import TABLES, Table

PAGE, CELLS = ROOT / "docs/results.md", ROOT / "results/bench/cells"
REMARKS = "remarks.md"  # beside the cells
PICTURES = ROOT / "docs/images/results"
DRAWN = ("errors", "shares")  # kinds of table; the others are taken from the curves of these
OPENING = """# The paper's tables

Each table of the paper is one command, `tinns bench NAME` with a budget; its numbers stand beside
ours. The page is generated from the runs recorded in `results/bench/cells` by `python
benchmarks/results_page.py`; no number is typed by hand. Errors are relative L2 errors on the
problem's test grid, means over seeds; – stands for what was not run, or is not in the paper.

```
tinns bench main --profile smoke                 the first problem, two iterations of small networks
tinns bench main --seconds 60                    every method trains for a minute
tinns bench main --profile paper --seeds 0,1,2   every method as long as it was meant to
tinns bench main --seconds 60 --dry-run          only say which cells are missing, and how long
```

Cells and tables are written to `runs/bench`, or to the folder given as `--out`. A cell that is
there is not run again, so that a bench can be stopped and gone on with. Runs of our recipes on all
problems, also on those of tables that are not recorded yet, are in the [gallery](gallery.md)."""
DIFFERENCES = """## Where the paper and its program disagree

- **Weights.** In the paper a weight multiplies a mean square, in the program a residual. The loss
  of the program carries the squares of the weights that are printed. Recipe `paper` follows it.
- **Damping.** The paper's loss has a factor ½, the program's has none, which moves the threshold of
  the safeguard. The program changes the damping at even steps only and compares with the loss of
  two steps before. What the paper calls a rejected step is taken all the same. Recipe `paper` does
  as the program does.
- **Boundary and velocity rows.** The program divides the boundary rows of wave and Klein-Gordon by
  the root of too small a number, and has rows for the initial velocity that the paper's list of
  weights does not mention. Recipe `paper` has both; the loss that it reports has the same factors.
- **PirateNet's settings.** The paper says that it uses those of PirateNet's authors, and prints
  others: width, number of steps, schedule; the authors' files weight Allen-Cahn by the neural
  tangent kernel and take a smaller batch for KdV. What is printed in the paper is what is run.
- **Slips.** The shapes printed for Kuramoto-Sivashinsky's networks are exchanged. For the small
  TINN with Adam on Burgers text and table state different errors. The second pair of figures in the
  paragraph about speed is Allen-Cahn's. Test points are called sampled, and are a grid.
- **What was never released.** Only the five TINN runs of the main table were. Every other method,
  ablation and problem is rebuilt here from the text and the printed numbers of parameters, and may
  differ in what neither tells."""


def page(folder: Path = CELLS) -> str:
    """The whole page: tables in the order in which the package lists them."""
    store, recorded = Store(folder), profiles(folder)
    sections = [_section(table, store, recorded) for table in TABLES.values()]
    remarks = folder.with_name(REMARKS)  # what no record tells
    opening = [OPENING, remarks.read_text().strip()] if remarks.exists() else [OPENING]
    return "\n\n".join([*opening, *sections, DIFFERENCES]) + "\n"


def profiles(folder: Path) -> list[Profile]:
    """The budgets that were recorded, but for smoke runs, which say nothing."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        profile = Profile(**json.loads(path.read_text())["profile"])
        if not profile.small:
            found[profile.budget] = profile
    return [found[budget] for budget in sorted(found, reverse=True)]  # paper first


def _section(table: Table, store: Store, recorded: Sequence[Profile]) -> str:
    parts = [f"## {table.name}", f"{table.title}."]
    shown = []
    for profile in recorded:
        groups = groups_of(table, profile, store, only_current=False)
        if _compared(table, groups):
            shown.append(_shown(table, groups, profile))
    nothing = f"Nothing is recorded yet; `tinns bench {table.name} --profile paper` makes it."
    notes = "\n".join(f"- {note}" for note in table.notes)
    return "\n\n".join([*parts, *(shown or [nothing]), notes])


def _compared(table: Table, groups: Sequence[Group]) -> bool:
    """Whether most rows of some problem were run: a few may be there for another table.

    Tables that are taken from the curves of others need all of them.
    """
    counts = rows_run(groups).values()
    return any(2 * run > rows if table.kind in DRAWN else run == rows for run, rows in counts)


def _is_drawn(table: Table, groups: Sequence[Group]) -> bool:
    return table.kind in DRAWN and any(group.done for group in groups)


def _shown(table: Table, groups: Sequence[Group], profile: Profile) -> str:
    sheet = sheet_of(table, groups, profile)
    done = [record for group in groups for record in group.done]
    parts = [f"**Profile {profile.budget}.** {reading(table, groups, profile)}"]
    parts.append("\n".join(markdown_table(sheet)))
    if _is_drawn(table, groups):
        parts.append(f"![{table.title}](images/results/{table.name}-{profile.budget}.png)")
    return "\n\n".join([*parts, *sheet.notes, _versions(done)])


def draw(folder: Path = CELLS, pictures: Path = PICTURES) -> None:
    """The picture of every table that has one, in place of those that were there."""
    shutil.rmtree(pictures, ignore_errors=True)
    store = Store(folder)
    for profile in profiles(folder):
        for table in TABLES.values():
            groups = groups_of(table, profile, store, only_current=False)
            if _is_drawn(table, groups) and _compared(table, groups):
                pictures.mkdir(parents=True, exist_ok=True)
                figure = picture_of(table, groups, sheet_of(table, groups, profile))
                figure.savefig(pictures / f"{table.name}-{profile.budget}.png", dpi=90)


def _versions(records: Iterable[Record]) -> str:
    """By which versions the numbers were made."""
    found = sorted(
        {
            ", ".join(f"{name} {number}" for name, number in r["result"]["versions"].items())
            for r in records
        }
    )
    return f"Made with {'; and '.join(found)}." if found else "No run ended well."


def main() -> int:
    if "--check" not in sys.argv:
        draw()
    return write_or_check(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
