"""Timings: the sections on the cost of an iteration state what the benchmarks wrote."""

import json

from tinns.paper.pages.timing_sections import machine, noise, timing_sections

ON = {"device": "CPU (x86_64)", "cores": 2, "load": 1.0, "versions": {}}
PARTS = {
    **ON,
    "rows": 40,
    "parameters": 30,
    "repeat": 1,
    "parts": {"Jacobian": 2.0, "JᵀJ": 1234.5, "step": 5.0},
    "floors": {"JᵀJ": 1000.0},
    "floors_are": "exact",
    "ratios": {"JᵀJ": 1.2345, "step / all floors": 2.014},
    "target": {"step / all floors": 2.5},
}
POINT = {"rows": 10, "width": 4, "parameters": 30, "ms": 1.5}
GROWTH = {**ON, "repeat": 1, "rows": [POINT, {**POINT, "exponent": 0.5}], "widths": [POINT]}
MEMORY = {
    **ON,
    "rows": 1000,
    "parameters": 30,
    "chunk": 70,
    "seconds": 1.26,
    "peak_gb": 2.388,
    "whole_jacobian_gb": 9.16,
    "ceiling_gb": 3.0,
    "free_gb": 3.0,
}


def test_sections_state_what_was_written(tmp_path):
    for name, timed in (("parts", PARTS), ("scaling", GROWTH), ("memory", MEMORY)):
        (tmp_path / f"{name}-cpu.json").write_text(json.dumps(timed))
    parts, growth, memory = timing_sections(tmp_path)
    assert "## Parts of an iteration: CPU (x86_64), 2 cores" in parts
    assert "40 rows, 30 parameters" in parts
    assert "Floors: exact." in parts
    assert "| Jacobian | 2 |  |  |" in parts
    assert "| JᵀJ | 1230 | 1000 | 1.23 |" in parts
    assert "| step | 2.01 | at most 2.5 |" in parts
    assert "| 10 | 4 | 30 | 1.5 |  |\n| 10 | 4 | 30 | 1.5 | 0.50 |" in growth
    assert "| rows | hidden width | parameters | ms | exponent in parameters |" in growth
    for row in ("rows in a chunk | 70", "peak of the process | 2.39 GB", "seconds | 1.3"):
        assert f"| {row} |" in memory
    assert "for 3 GB of free memory" in memory


def test_without_timings_there_is_no_section(tmp_path):
    assert timing_sections(tmp_path) == []


def test_a_busy_machine_is_mentioned():
    assert noise({**ON, "load": 2.4}) == ""
    assert "the load was 2.6 on 2 cores" in noise({**ON, "load": 2.6})
    assert noise({"device": "GPU", "cores": None, "versions": {}}) == ""
    assert machine({**ON, "device": "NVIDIA H200"}) == "NVIDIA H200"
