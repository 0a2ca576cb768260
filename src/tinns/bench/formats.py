"""A sheet as Markdown, CSV, LaTeX, or a table on the terminal."""

import csv
import io
import re

from rich.markup import escape
from rich.table import Table as RichTable

from tinns.bench.sheets import Column, Sheet, Value
from tinns.bench.summary import Spread

NOTHING = "–"
WIDEST = 30  # characters of a cell on the terminal; longer ones are broken
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


def text(column: Column, value: Value) -> str:
    """A value as it is shown."""
    if value is None:
        return NOTHING
    if isinstance(value, Spread):
        mean = format(value.mean, column.form)
        return mean if value.deviation is None else f"{mean} ± {value.deviation:{column.form}}"
    return value if isinstance(value, str) else format(value, column.form)


def markdown_table(sheet: Sheet) -> list[str]:
    """The lines of the table alone."""
    header = [column.heading for column in sheet.columns]
    rows = []
    for r, row in enumerate(sheet.rows):
        cells = [text(c, v).replace("|", "\\|") for c, v in zip(sheet.columns, row, strict=True)]
        rows.append([f"**{c}**" if (r, n) in sheet.best else c for n, c in enumerate(cells)])
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def markdown(sheet: Sheet) -> str:
    """The table as a page, with notes and remarks."""
    notes = [line for note in sheet.notes for line in ("", note)]
    remarks = ["", *(f"- {remark}" for remark in sheet.remarks)] if sheet.remarks else []
    return "\n".join([f"# {sheet.title}", "", *markdown_table(sheet), *notes, *remarks]) + "\n"


def comma_separated(sheet: Sheet) -> str:
    """All digits; deviations have columns of their own, what is missing is empty."""
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
    for r, row in enumerate(sheet.rows):
        if r and row[0] != sheet.rows[r - 1][0]:
            lines.append("\\midrule")
        cells = [_latex(text(c, v)) for c, v in zip(sheet.columns, row, strict=True)]
        for n, cell in enumerate(cells):
            if (r, n) in sheet.best:
                cells[n] = f"\\textbf{{\\boldmath {cell}}}"
        lines.append(" & ".join(cells) + r" \\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join([*lines, *(f"% {note}" for note in (*sheet.notes, *sheet.remarks))]) + "\n"


def on_terminal(sheet: Sheet, width: int) -> tuple[RichTable, list[str]]:
    """The table, and the headings of columns that had to go to fit the width."""
    texts = [[text(c, v) for c, v in zip(sheet.columns, row, strict=True)] for row in sheet.rows]
    widths = [
        max(len(column.heading) if number < 2 else _longest_word(column.heading), *lengths)
        for number, (column, *lengths) in enumerate(
            zip(sheet.columns, *([min(len(t), WIDEST) for t in row] for row in texts), strict=True)
        )
    ]
    shown = list(range(len(sheet.columns)))
    while sum(widths[n] + 3 for n in shown) + 1 > width:
        last = max(shown, key=lambda n: sheet.columns[n].rank)
        if not sheet.columns[last].rank:
            break
        shown.remove(last)
    table = RichTable(title=sheet.title, title_justify="left")
    for n in shown:
        table.add_column(
            sheet.columns[n].heading, justify="right" if n > 1 else "left", max_width=widths[n]
        )
    for r, row in enumerate(texts):
        ends = r + 1 < len(texts) and sheet.rows[r + 1][0] != sheet.rows[r][0]
        cells = [
            f"[bold]{escape(row[n])}[/bold]" if (r, n) in sheet.best else escape(row[n])
            for n in shown
        ]
        table.add_row(*cells, end_section=ends)
    return table, [c.heading for n, c in enumerate(sheet.columns) if n not in shown]


def _longest_word(heading: str) -> int:
    return max(len(word) for word in heading.split())


def _digits(value: str | int | float | None) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))  # counts, whose means over seeds are floats
    return "" if value is None else str(value)


def _latex(shown: str) -> str:
    """Powers of ten as such, and no character that LaTeX would read as its own."""
    parts, end = [], 0
    for match in _POWER.finditer(shown):
        digits, sign, power = match.groups()
        exponent = f"{'-' if sign == '-' else ''}{int(power)}"
        parts += [_escaped(shown[end : match.start()]), f"${digits}\\times10^{{{exponent}}}$"]
        end = match.end()
    return "".join([*parts, _escaped(shown[end:])])


def _escaped(shown: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in shown)
