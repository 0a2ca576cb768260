"""The page on accuracy: estimates relative to true errors, and tolerances that were met."""

import json

import pytest

from tinns.paper.effectivity import Attempt, Estimated, read_effectivity, summarised
from tinns.paper.pages.accuracy_page import (
    effectivity_block,
    figure_of,
    tolerances_block,
    verdicts_block,
)


def record(error=1e-3, classical=2e-3, network=5e-4, problem="burgers", seed=0):
    attempts = {
        kind: {"estimate": estimate, "seconds": 2.0, **({} if estimate else {"why": "form"})}
        for kind, estimate in (("classical", classical), ("network", network))
    }
    own = {"problem": problem, "seed": seed, "moment": 1.0, "device": "cpu", "seconds": 12.0}
    return own | {"relative_l2": error, "recipe": "fast"} | attempts


def test_records_are_read_with_their_estimates(tmp_path):
    path = tmp_path / "effectivity.json"
    assert read_effectivity(path) == []
    path.write_text(json.dumps([record(), record(classical=None)]))
    both, without = read_effectivity(path)
    assert both.classical == Attempt(2e-3, 2.0)
    assert without.classical == Attempt(None, 2.0, "form")
    assert both.effectivity("stated") == both.effectivity("classical") == pytest.approx(2)
    assert without.effectivity("stated") == without.effectivity("network") == pytest.approx(0.5)
    assert without.effectivity("classical") is None


def test_a_summary_counts_what_is_within_the_range():
    errors = (1e-3, 2e-3, 1e-4, 1e-5)
    records = [Estimated.from_data(record(error)) for error in errors]  # 2, 1, 20, 200
    found = summarised(records, "classical")
    assert (found.count, found.within) == (4, 0.5)
    assert (found.smallest, found.median, found.largest) == pytest.approx((1, 11, 200))
    assert summarised([], "classical") is None


def test_the_table_has_a_row_for_each_problem():
    records = [
        Estimated.from_data(record(problem=name, classical=classical))
        for name, classical in (("heat", 1e-3), ("heat", 2e-3), ("plate", None))
    ]
    text = effectivity_block(records)
    assert "| heat | 2 | 1e-03 to 1e-03 | 1.5 (1 to 2) | 2.0 | 0.5 (0.5 to 0.5) | 2.0 |" in text
    assert "| plate | 1 | 1e-03 to 1e-03 | – | – | 0.5 (0.5 to 0.5) | 2.0 |" in text
    assert "100.0% of 3 estimates" in text
    assert "(images/effectivity.png)" in text
    assert len(figure_of(records).axes) == 2
    assert effectivity_block([]) == "Nothing is recorded yet."


def test_the_largest_excess_over_a_tolerance_that_is_said_to_be_met_is_stated():
    def run(met, error, problem="burgers"):
        estimate = {"relative_l2": 5e-4, "by": "network"}
        own = {"problem": problem, "device": "CPU", "tolerance": 1e-3, "seed": 0, "budget": 180.0}
        return own | {
            "seconds": 12.0,
            "parameters": 100,
            "estimate": estimate,
            "relative_l2": error,
            "met": met,
        }

    text = tolerances_block([run(True, 2e-3), run(False, 0.5, "kdv"), run(True, 1e-4, "wave")])
    assert "met in 2 of 3 runs" in text
    assert "at most 2 times the tolerance" in text
    assert "| kdv | CPU | 1e-03 | 12 | 100 | 5.0e-04 | network | 5.0e-01 | no |" in text
    assert tolerances_block([]) == "Nothing is recorded yet."


def test_verdicts_stand_beside_true_errors_and_say_why_a_run_is_not_trusted():
    def run(problem, status, **errors):
        return {
            "problem": problem,
            "recipe": "fast",
            "device": "CPU",
            "seconds": 60.0,
            "check_seconds": 3.25,
            "relative_l2": 1e-3,
            "per_unknown": errors,
            "estimate": {"relative_l2": 2e-3, "by": "classical"},
            "verdict": {"status": status, "reasons": [f"{problem} is {status}"]},
        }

    runs = [run("burgers", "trusted", u=1e-3), run("gray-scott", "failed", u=1e-4, v=0.9)]
    text = verdicts_block(runs)
    start = "| `fast` | CPU | 60 | 3.2 | 2.0e-03 | classical | 1.0e-03 |"
    assert f"| burgers {start} – | trusted |" in text
    assert f"| gray-scott {start} v 9.0e-01 | failed |" in text
    assert "- gray-scott: gray-scott is failed" in text
    assert "- burgers" not in text
    assert verdicts_block([]) == "Nothing is recorded yet."
