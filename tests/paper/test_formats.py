"""Written tables: Markdown, CSV, LaTeX and the terminal have the numbers of the sheet."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from bench_records import PAPER
from rich.console import Console

from tinns.paper import formats
from tinns.paper.lines import lines_of
from tinns.paper.published import printed
from tinns.paper.table_sheets import table_sheet
from tinns.paper.tables import ALGORITHM_1, TABLES

MAIN = replace(TABLES["main"], problems=("burgers", "wave"))


@pytest.fixture
def sheet(full):
    return table_sheet(MAIN, lines_of(MAIN, PAPER, full), PAPER)


def test_comma_separated_numbers_have_all_digits(sheet):
    rows = list(csv.DictReader(io.StringIO(formats.comma_separated(sheet))))
    assert len(rows) == len(sheet.rows)
    row = next(r for r in rows if r["method"] == ALGORITHM_1 and r["problem"] == "burgers")
    assert float(row["error"]) == 2e-6
    assert float(row["error: deviation"]) == pytest.approx(np.sqrt(2) * 1e-6, rel=1e-14)
    deviation = printed("main", "burgers", "TINN").deviation
    assert float(row["paper's error: deviation"]) == deviation
    assert rows[-1]["error"] == ""
    assert (row["iterations"], row["parameters"]) == ("1000", "1145")


def test_markdown_has_as_many_cells_in_every_row(sheet):
    table = formats.markdown_table(sheet)
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
    assert counts == {len(sheet.columns) + 1}
    assert "**1.00e-08**" in table
    assert "2.00e-06 ± 1.41e-06" in table
    assert "failed: needs \\| a <grid>" in table


def test_a_markdown_page_has_title_notes_and_remarks(sheet):
    page = formats.markdown(sheet)
    assert page.startswith(f"# {MAIN.title}\n\n{formats.markdown_table(sheet)}\n\n")
    assert all(f"\n{note}\n" in page for note in sheet.notes)
    assert all(f"\n- {note}\n" in page for note in MAIN.notes)


def test_latex_rows_end_and_have_their_columns(sheet):
    text = formats.latex(sheet)
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(sheet.rows) + 1
    assert {row.count(" & ") for row in rows} == {len(sheet.columns) - 1}
    assert text.count("\\midrule") == 2  # below the header, and between two problems
    assert r"\textbf{\boldmath $1.00\times10^{-8}$}" in text
    assert r"$2.00\times10^{-6}$ $\pm$ $1.41\times10^{-6}$" in text
    body = text[: text.index("\\bottomrule")]
    assert "$<$grid$>$" in body
    assert all(ord(letter) < 128 for line in rows for letter in line)


def test_a_narrow_terminal_shows_the_most_important_columns(sheet):
    left_out = []
    for width in (80, 120, 300):
        out = io.StringIO()
        table, left_out = formats.terminal_table(sheet, width)
        Console(file=out, width=width).print(table)
        assert max(len(line) for line in out.getvalue().splitlines()) <= width
        assert bool(left_out) == (width < 300)
        assert "error" not in left_out
        for kept in (ALGORITHM_1, "2.00e-06 ± 1.41e-06", "burgers"):
            assert kept in out.getvalue()
