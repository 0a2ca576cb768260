"""Groups: which runs are averaged, and their means."""

from dataclasses import replace

import numpy as np
import pytest
from bench_records import cell, failed, made_up

from tinns.paper.grouping import (
    Group,
    Spread,
    groups_of,
    identity,
    lowest,
    main_device,
    spread,
    with_latest_settings,
)
from tinns.solvers import StopReason


def run(seed=0, seconds=10.0, error=1e-3, **changes):
    """A run that was ended by its time limit."""
    stopped = {"stop_reason": StopReason.SECONDS.value, "seconds": seconds}
    return made_up(cell(seed=seed), error, **(stopped | changes))


def test_spread_is_the_mean_and_the_sample_deviation():
    assert spread([1.0]) == Spread(1.0, None)
    assert spread([1.0, 3.0]) == Spread(2.0, pytest.approx(np.sqrt(2)))
    assert spread([1.0, 2.0, 6.0]).deviation == pytest.approx(np.sqrt((4 + 1 + 9) / 2))


def test_means_are_over_runs_that_are_done():
    group = Group((run(0, 10.0, 1.0), run(1, 6.0, 3.0), failed(cell(seed=2))))
    assert (group.seeds, group.error, group.seconds, group.parameters) == (2, 2.0, 8.0, 1145)
    assert group.pace == pytest.approx(8.0)
    assert group.reasons == ["out of memory"]
    assert group.errors() == {"u": spread([1.0, 3.0])}
    assert Group().error is None
    assert Group().pace is None


def test_of_several_runs_of_a_seed_the_longest_counts():
    (group,) = groups_of([run(seconds=10, error=3.0), run(seconds=8, error=1.0)])
    assert [record.relative_l2 for record in group.records] == [3.0]


def test_runs_that_were_cut_off_much_earlier_than_others_are_left_out():
    (group,) = groups_of([run(0, 10, 1.0), run(1, 6, 3.0), run(2, 1, 100.0)])
    assert [record.seed for record in group.records] == [0, 1]
    (group,) = groups_of([run(0, 10), run(1, 1, stop_reason=StopReason.STAGNATED.value)])
    assert group.seeds == 2


def test_runs_with_older_settings_are_left_out():
    old = run(1, 20, settings={"chunk": 7}, finished="2025-01-01T00:00:00Z")
    (group,) = groups_of([run(0), old])
    assert [record.seed for record in group.records] == [0]
    assert with_latest_settings([run(0), old]) == (run(0),)
    longer = replace(run(1), settings={**run(1).settings, "stop": {"seconds": 99.0}})
    assert with_latest_settings([run(0), longer]) == (run(0), longer)


def test_failures_are_kept_when_nothing_else_is_known():
    assert with_latest_settings([failed(cell())]) == (failed(cell()),)
    assert groups_of([failed(cell())]) == []


def test_problems_methods_recipes_and_devices_are_separate_groups():
    runs = [
        run(),
        made_up(cell("tinn-adam")),
        made_up(cell(recipe="fast")),
        run(device="CPU"),
        made_up(cell(problem="wave")),
    ]
    groups = groups_of(runs)
    assert [group.records for group in groups] == [(record,) for record in runs]
    assert identity(groups[1]) == ("burgers", "tinn-adam", "paper")
    assert main_device(groups) == "GPU"
    assert main_device([]) == ""


def test_the_mean_curve_reaches_an_error():
    group = Group((run(0, error=1e-3), run(1, error=3e-3)))  # the mean is 2e-2 / seconds
    assert group.reaches(1e-2) == pytest.approx(2.0)
    assert group.reaches(1e-2, "iteration") == pytest.approx(200)
    assert group.reaches(1e-9) is None
    assert group.reaches(None) is None


def test_the_recipe_of_lowest_mean_error_is_found():
    groups = groups_of([made_up(cell(recipe=r), e) for r, e in (("fast", 1e-3), ("paper", 1e-5))])
    best = lowest(groups, "burgers", ["fast", "paper"])
    assert best is not None
    assert best.first.recipe == "paper"
    only = lowest(groups, "burgers", ["fast"])
    assert only is not None
    assert only.first.recipe == "fast"
    assert lowest(groups, "wave", ["fast"]) is None
    assert lowest(groups, "burgers", ["fast"], method="mlp") is None


def test_runs_without_a_known_error_are_not_compared():
    (group,) = groups_of([run(relative_l2=None, curve=())])
    assert not group.is_scored
    assert group.errors() == {}
    assert group.reaches(1e-3) is None
    assert lowest([group], "burgers", ["paper"]) is None
