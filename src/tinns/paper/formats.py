"""Writers of tables: Markdown, CSV, LaTeX and the terminal."""

import csv
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tinns.paper.grouping import Spread
from tinns.paper.sheet import Sheet

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDEST = 30  # characters of a cell on the terminal; longer texts are wrapped
_POWER = re.compile(r"(\d(?:\.\d+)?)e([+-])0*(\d+)")
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "±": r"$\pm$",
    "–": "--",
    "…": r"\ldots{}",
    "θ": r"$\theta$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    "μ": r"$\mu$",
    "½": r"$\frac12$",
    "`": "",
}


def markdown_table(sheet: Sheet) -> str:
    """The table alone, without title and notes."""
    header = [column.heading for column in sheet.columns]
    rows = []
    for r, row in enumerate(sheet.texts()):
        cells = [text.replace("|", "\\|") for text in row]
        rows.append([f"**{c}**" if (r, n) in sheet.best else c for n, c in enumerate(cells)])
    lines = (header, ["---"] * len(header), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def markdown(sheet: Sheet) -> str:
    """The table as a page, with title, notes and remarks."""
    remarks = ["\n".join(f"- {remark}" for remark in sheet.remarks)] if sheet.remarks else []
    parts = [f"# {sheet.title}", markdown_table(sheet), *sheet.notes, *remarks]
    return "\n\n".join(parts) + "\n"


def comma_separated(sheet: Sheet) -> str:
    """The table as CSV with all digits; deviations have columns of their own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = []
    for column in sheet.columns:
        header += [column.heading, *([f"{column.heading}: deviation"] if column.spread else [])]
    writer.writerow(header)
    for row in sheet.rows:
        cells: list[str] = []
        for column, value in zip(sheet.columns, row, strict=True):
            mean, deviation = (
                (value.mean, value.deviation) if isinstance(value, Spread) else (value, None)
            )
            cells += [_digits(mean), *([_digits(deviation)] if column.spread else [])]
        writer.writerow(cells)
    return out.getvalue()


def latex(sheet: Sheet) -> str:
    """A tabular for booktabs, with a rule between problems."""
    kinds = "".join("l" if n < 2 else "r" for n in range(len(sheet.columns)))
    lines = [f"% {sheet.title}", f"\\begin{{tabular}}{{{kinds}}}", "\\toprule"]
    lines += [" & ".join(_latex(column.heading) for column in sheet.columns) + r" \\", "\\midrule"]
    for r, row in enumerate(sheet.texts()):
        if r and sheet.rows[r][0] != sheet.rows[r - 1][0]:
            lines.append("\\midrule")
        cells = [_latex(text) for text in row]
        for n, cell in enumerate(cells):
            if (r, n) in sheet.best:
                cells[n] = f"\\textbf{{\\boldmath {cell}}}"
        lines.append(" & ".join(cells) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in (*sheet.notes, *sheet.remarks))]) + "\n"


# The formats in which `tinns bench` writes a table, by the ending of the file.
WRITERS: dict[str, Callable[[Sheet], str]] = {
    "md": markdown,
    "csv": comma_separated,
    "tex": latex,
}


def show(sheet: Sheet, console: "Console", words: int = 2) -> None:
    """Print a table on a terminal, or as Markdown into a file, which has room for all columns."""
    if not console.is_terminal:
        console.print(markdown(sheet), soft_wrap=True, highlight=False, markup=False)
        return
    table, left_out = terminal_table(sheet, console.width, words)
    console.print(table)
    if left_out:
        console.print(f"(also in the files: {', '.join(left_out)})", highlight=False)
    for note in sheet.notes:
        console.print(note, highlight=False, markup=False)


def terminal_table(sheet: Sheet, width: int, words: int = 2) -> tuple["Table", list[str]]:
    """The table for a terminal, and the headings of columns left out to fit its width.

    The first `words` columns are aligned to the left.
    """
    from rich.markup import escape
    from rich.table import Table

    texts = sheet.texts()
    widths = [
        max(
            len(column.heading) if n < words else _longest_word(column.heading),
            *(min(len(row[n]), WIDEST) for row in texts),
        )
        for n, column in enumerate(sheet.columns)
    ]
    shown = list(range(len(sheet.columns)))
    while sum(widths[n] + 3 for n in shown) + 1 > width:
        last = max(shown, key=lambda n: sheet.columns[n].rank)
        if not sheet.columns[last].rank:
            break
        shown.remove(last)
    table = Table(title=sheet.title, title_justify="left")
    for n in shown:
        justify = "right" if n >= words else "left"
        table.add_column(sheet.columns[n].heading, justify=justify, max_width=widths[n])
    for r, row in enumerate(texts):
        ends = words > 1 and r + 1 < len(texts) and texts[r + 1][0] != row[0]
        cells = [
            f"[bold]{escape(row[n])}[/bold]" if (r, n) in sheet.best else escape(row[n])
            for n in shown
        ]
        table.add_row(*cells, end_section=ends)
    return table, [c.heading for n, c in enumerate(sheet.columns) if n not in shown]


def _longest_word(heading: str) -> int:
    return max((len(word) for word in heading.split()), default=0)


def _digits(value: str | int | float | None) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # counts, whose means over seeds are floats
    return "" if value is None else str(value)


def _latex(shown: str) -> str:
    """Powers of ten typeset as such, and special characters escaped."""
    parts, end = [], 0
    for match in _POWER.finditer(shown):
        digits, sign, power = match.groups()
        exponent = f"{'-' if sign == '-' else ''}{int(power)}"
        parts += [_escaped(shown[end : match.start()]), f"${digits}\\times10^{{{exponent}}}$"]
        end = match.end()
    return "".join([*parts, _escaped(shown[end:])])


def _escaped(shown: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in shown)
