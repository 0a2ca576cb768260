"""The parts of an iteration are measured and compared with their floors."""

import json
import math

import pytest

import parts
import tinns
from tinns.paper.pages.timings import parts_sheet, steps_sheet

TINY = tinns.TimeInduced(tinns.MLP((4,)), tinns.Layerwise(tinns.MLP((3,))))


@pytest.mark.long
@pytest.mark.usefixtures("float64")
def test_parts_are_positive_and_ratios_are_ratios(monkeypatch):
    monkeypatch.setattr(parts, "STEPS", {parts.ACCELERATED: parts.STEPS[parts.ACCELERATED]})
    measured = parts.measure(40, 1, field=TINY)
    assert json.loads(json.dumps(measured)) == measured
    assert len(measured["parts"]) == 7
    assert all(math.isfinite(ms) and ms > 0 for ms in measured["parts"].values())
    for name, floor in measured["floors"].items():
        assert measured["ratios"][name] == measured["parts"][name] / floor
    floors = sum(measured["floors"].values())
    whole = measured["parts"][parts.ACCELERATED] / floors
    assert measured["ratios"][f"{parts.ACCELERATED} / all floors"] == whole
    assert [row[0] for row in parts_sheet(measured).rows] == list(measured["parts"])
    assert steps_sheet(measured).rows == ((parts.ACCELERATED, f"{whole:.2f}", "at most 2.5"),)


def test_floors_of_a_gpu_are_operations_and_bytes():
    floors = parts._roofline(10_000, 1000, peak_tflops=50.0, bandwidth_tbs=4.0)
    assert floors["JᵀJ"] == pytest.approx(1e3 * 1e4 * 1e6 / 5e13)
    assert floors["Jacobian"] == pytest.approx(1e3 * 8e7 / 4e12)
