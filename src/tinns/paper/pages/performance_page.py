"""docs/performance.md: errors of all recorded recipes and the timings of benchmarks."""

from collections.abc import Iterable

from tinns.paper.formats import markdown_table
from tinns.paper.grouping import Group, groups_of, identity
from tinns.paper.pages.checkout import COMMAND, Checkout, digits, joined
from tinns.paper.pages.optimizers_picture import optimizers_picture
from tinns.paper.pages.timing_sections import timing_sections
from tinns.paper.published import Figures, tinn_figures
from tinns.paper.records import Record
from tinns.paper.sheet import NOTHING, Column, Value, sheet_of

RECIPES = ("paper", "fast", "accurate")
UNTUNED = "default"  # the recipe of problems that have none of their own
UNTUNED_ERROR = 1e-6
RECORD = "python -m tinns.paper.record"
OPENING = f"""# Performance

Errors, training times and the cost of an iteration. The page is generated from `results/` by
`{COMMAND}`."""
ERRORS = """## Errors

Relative L2 errors at the end of a run, as means over seeds; the paper's errors are means over five
seeds. Seconds are training time without compilation. Most runs were ended by a time limit, so that
a longer run may have a lower error. The last column is the time after which the mean error stays
below the paper's. For this, errors are measured about twice per second on a coarser grid. A dash
means that the error does not stay below the paper's, or that the paper states no number."""
WITHOUT_TUNING = """## Problems without tuned recipes

Three problems with exact solutions, defined as in [your own problem](problems.md) and solved with
the default recipe. They show what to expect for a new problem."""
OPTIMISERS = """## Optimisers

Error against training seconds for all recorded optimisers. Recipes differ in points and, for
`accurate`, in networks. Only lines of the same recipe compare optimisers alone."""
COLUMNS = (
    Column("problem"),
    Column("recipe"),
    Column("device"),
    Column("error", ".2e"),
    Column("seeds", "d"),
    Column("seconds"),
    Column("ms per iteration", ".2f"),
    Column("parameters", ".0f"),
    Column("the paper's error", ".2e"),
    Column("its hours (A6000)", "g"),
    Column("paper's error / ours"),
    Column("seconds to the paper's error"),
)


def performance_page(checkout: Checkout) -> str:
    """The page, from the single runs and the timings of a checkout."""
    picture = optimizers_picture(checkout)
    sections = [
        OPENING,
        errors_section(checkout.runs),
        untuned_section(checkout.runs),
        _optimisers(picture.relative_to(checkout.root / "docs").as_posix())
        if picture.exists()
        else "",
        *timing_sections(checkout.measurements),
    ]
    return joined(sections) + "\n"


def commands(*lines: str) -> str:
    """Commands as a block of code."""
    return "\n".join(["```", *lines, "```"])


def errors_section(runs: Iterable[Record]) -> str:
    """Errors and seconds of all recipes on all problems for which the paper states figures."""
    groups = groups_of(runs)
    rows = [
        _error_row(group, figures)
        for problem, figures in tinn_figures().items()
        for recipe in RECIPES
        for group in groups
        if identity(group) == (problem, "tinn", recipe) and group.is_scored
    ]
    command = f"{RECORD} burgers --recipe accurate --seeds 0 1 2 3 4 --seconds 30"
    return joined([ERRORS, commands(command), markdown_table(sheet_of(COLUMNS, rows))])


def _error_row(group: Group, figures: Figures) -> tuple[Value, ...]:
    first, error, papers = group.first, group.error, figures.error
    return (
        first.problem,
        f"`{first.recipe}`",
        first.device,
        error,
        group.seeds,
        span(group),
        group.pace,
        group.parameters,
        papers,
        figures.hours,
        digits(papers / error) if papers and error else None,
        _digits(group.reaches(papers)),
    )


def untuned_section(runs: Iterable[Record]) -> str:
    """Problems that are solved with the default recipe; empty if none is recorded."""
    groups = [group for group in groups_of(runs) if group.first.recipe == UNTUNED]
    columns = (
        Column("problem"),
        Column("device"),
        Column("error", ".2e"),
        Column("seeds", "d"),
        Column("seconds"),
        Column("parameters", ".0f"),
        Column(f"seconds to {UNTUNED_ERROR:.0e}".replace("e-0", "e-")),
    )
    rows = [
        (
            group.first.problem,
            group.first.device,
            group.error,
            group.seeds,
            span(group),
            group.parameters,
            _digits(group.reaches(UNTUNED_ERROR)),
        )
        for group in groups
    ]
    command = commands("python benchmarks/untuned.py --seconds 60")
    table = markdown_table(sheet_of(columns, rows))
    return joined([WITHOUT_TUNING, command, table]) if rows else ""


def _optimisers(picture: str) -> str:
    command = commands(
        f"{RECORD} burgers --recipe fast --method tinn tinn-lbfgs tinn-adam --seconds 60 --missing",
        f"{COMMAND} --pictures",
    )
    return joined([OPTIMISERS, command, f"![Error against training seconds]({picture})"])


def span(group: Group) -> str:
    """The seconds of the runs, from the shortest to the longest."""
    seconds = sorted(record.seconds or 0.0 for record in group.done)
    first, last = f"{seconds[0]:.0f}", f"{seconds[-1]:.0f}"
    return first if first == last else f"{first} to {last}"


def _digits(number: float | None) -> str:
    return NOTHING if number is None else digits(number)
