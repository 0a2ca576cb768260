"""The time of an iteration against its size, and the memory of many rows."""

import json
import sys

import pytest

import scaling
from tinns.paper.pages.timing_sections import timing_sections


@pytest.mark.long
@pytest.mark.usefixtures("float64")
def test_normal_equations_in_chunks_are_those_of_all_rows():
    whole, chunked = (scaling.million(300, 4, chunk) for chunk in (300, 70))
    assert chunked["trace"] == pytest.approx(whole["trace"], rel=1e-12)


def test_exponents_are_those_of_powers():
    points = [{"rows": n, "ms": 3.0 * n**2} for n in (10, 20, 50)]
    exponents = [p["exponent"] for p in scaling.with_exponents(points, "rows")[1:]]
    assert exponents == pytest.approx([2, 2])


@pytest.mark.long
@pytest.mark.usefixtures("quick_compilation")
def test_what_is_written_makes_a_section(tmp_path, monkeypatch, capsys):
    sizes = ["--rows", "40", "--width", "3", "--widths", "3", "--fixed-rows", "40", "--repeat", "1"]
    monkeypatch.setattr(sys, "argv", ["scaling.py", *sizes, "--out", str(tmp_path)])
    scaling.main()
    (path,) = tmp_path.iterdir()
    measured = json.loads(path.read_text())
    assert [point["rows"] for point in measured["rows"]] == [40]
    assert [point["width"] for point in measured["widths"]] == [3]
    assert all(point["ms"] > 0 for point in measured["rows"] + measured["widths"])
    (section,) = timing_sections(tmp_path)
    assert "exponent in rows" in section
    assert "exponent in rows" in capsys.readouterr().out


@pytest.mark.long
def test_memory_is_measured_in_another_process(tmp_path, monkeypatch):
    sizes = ["--memory", "--memory-rows", "300", "--width", "4", "--chunk", "70"]
    monkeypatch.setattr(sys, "argv", ["scaling.py", *sizes, "--out", str(tmp_path)])
    scaling.main()
    (section,) = timing_sections(tmp_path)
    assert "| rows in a chunk | 70 |" in section
    measured = json.loads((tmp_path / "memory-cpu.json").read_text())
    assert 0.05 < measured["peak_gb"] < 20
    assert measured["whole_jacobian_gb"] == 8e-9 * 300 * measured["parameters"]
