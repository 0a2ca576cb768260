"""docs/results.md: the tables of the paper beside ours, from the recorded cells."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from tinns.paper.formats import markdown_table
from tinns.paper.lines import Line, lines_of, rows_run
from tinns.paper.pages.checkout import COMMAND, Checkout, joined
from tinns.paper.profiles import Profile
from tinns.paper.store import Store
from tinns.paper.summaries import summary_of
from tinns.paper.table_picture import picture_of
from tinns.paper.table_sheets import table_sheet
from tinns.paper.tables import TABLES, Table

REMARKS = "remarks.md"  # next to the folder of cells
DRAWN = ("errors", "shares")  # kinds of table; the others are computed from the same curves
OPENING = f"""# The paper's tables

Each table of the paper can be reproduced with one command, `tinns bench NAME`. This page shows the
paper's numbers beside ours. It is generated from the runs recorded in `results/bench/cells` by
`{COMMAND}`. Errors are relative L2 errors on the problem's test grid, as
means over seeds. A dash means that a method was not run, or that the paper states no number.

```
tinns bench main --profile smoke                 check that all methods run (two iterations each)
tinns bench main --seconds 60                    train each method for one minute
tinns bench main --profile paper --seeds 0,1,2   train each method as long as its recipe says
tinns bench main --seconds 60 --dry-run          list the missing cells and the time they need
```

Cells and tables are written to `runs/bench`, or to the folder given by `--out`. Recorded cells are
not run again, so you can stop a bench and continue it later. The [gallery](gallery.md) shows runs
of our recipes on all problems, including those of tables that are not recorded yet."""
DIFFERENCES = """## Differences between the paper and its program

- **Weights.** In the paper a weight multiplies a mean square, in the program a residual. The loss
  of the program therefore contains the squares of the printed weights. Recipe `paper` follows the
  program.
- **Damping.** The paper's loss has a factor ½ that the program's loss does not have, which changes
  the threshold of the safeguard. The program changes the damping only at even steps and compares
  with the loss two steps before. Steps that the paper calls rejected are taken anyway. Recipe
  `paper` follows the program.
- **Boundary and velocity rows.** The program divides the boundary rows of wave and Klein-Gordon by
  the root of a number that is too small, and has rows for the initial velocity that the paper's
  list of weights does not mention. Recipe `paper` does both, and its reported loss contains the
  same factors.
- **PirateNet's settings.** The paper says that it uses the settings of PirateNet's authors, but
  prints a different width, number of steps and schedule. The authors' files weight Allen-Cahn by
  the neural tangent kernel and use a smaller batch for KdV. The printed settings are used here.
- **Misprints.** The shapes of the networks for Kuramoto-Sivashinsky are interchanged. For the small
  TINN with Adam on Burgers, text and table state different errors. The second pair of figures in
  the paragraph about speed is for Allen-Cahn. Test points are said to be sampled, but form a grid.
- **Not released.** Only the five TINN runs of the main table were released. All other methods,
  ablations and problems are reimplemented from the text and the printed numbers of parameters, and
  may differ where neither gives details."""


def results_page(checkout: Checkout) -> str:
    """The page, from the cells of a checkout."""
    return results_of(checkout.store)


def results_of(store: Store) -> str:
    """The page, with tables in the order in which the package lists them."""
    profiles = store.profiles()
    sections = [_section(table, store, profiles) for table in TABLES.values()]
    remarks = store.folder.with_name(REMARKS)  # facts that no record contains
    about = remarks.read_text(encoding="utf-8").strip() if remarks.exists() else ""
    return joined([OPENING, about, *sections, DIFFERENCES]) + "\n"


def _section(table: Table, store: Store, profiles: Sequence[Profile]) -> str:
    shown = [
        _comparison(table, lines, profile) for profile, lines in _compared(table, store, profiles)
    ]
    nothing = f"No runs are recorded yet; `tinns bench {table.name} --profile paper` records them."
    notes = "\n".join(f"- {note}" for note in table.notes)
    return joined([f"## {table.name}", f"{table.title}.", *(shown or [nothing]), notes])


def _compared(
    table: Table, store: Store, profiles: Sequence[Profile]
) -> Iterator[tuple[Profile, list[Line]]]:
    """Profiles in which most rows of some problem were run: single rows may be another table's.

    Tables that are computed from the curves of others need all rows.
    """
    for profile in profiles:
        lines = lines_of(table, profile, store, only_current=False)
        counts = rows_run(lines).values()
        if any(2 * run > rows if table.kind in DRAWN else run == rows for run, rows in counts):
            yield profile, lines


def _is_drawn(table: Table, lines: Sequence[Line]) -> bool:
    return table.kind in DRAWN and any(line.group.done for line in lines)


def _comparison(table: Table, lines: Sequence[Line], profile: Profile) -> str:
    sheet = table_sheet(table, lines, profile)
    parts = [f"**Profile {profile.budget}.** {summary_of(table, lines, profile)}"]
    parts.append(markdown_table(sheet))
    if _is_drawn(table, lines):
        parts.append(f"![{table.title}](images/results/{table.name}-{profile.budget}.png)")
    return joined([*parts, *sheet.notes, _versions(lines)])


def _versions(lines: Sequence[Line]) -> str:
    """The versions with which the runs were made."""
    found = {
        ", ".join(f"{name} {number}" for name, number in record.versions.items())
        for line in lines
        for record in line.group.done
    }
    return f"Versions: {'; and '.join(sorted(found))}." if found else "All runs failed."


def draw_results(checkout: Checkout) -> list[Path]:
    """Draw the pictures of the page."""
    return draw_tables(checkout.store, checkout.images / "results")


def draw_tables(store: Store, pictures: Path) -> list[Path]:
    """Draw the picture of every table on the page, and remove older pictures."""
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    drawn = []
    for table in TABLES.values():
        for profile, lines in _compared(table, store, store.profiles()):
            if _is_drawn(table, lines):
                path = pictures / f"{table.name}-{profile.budget}.png"
                figure = picture_of(table, lines, table_sheet(table, lines, profile))
                figure.savefig(path, dpi=90)
                drawn.append(path)
    return drawn
