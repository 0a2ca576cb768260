"""The picture of optimisers: one line for each that is recorded."""

import pytest
from bench_records import cell, made_up

from tinns.paper.pages.checkout import Checkout
from tinns.paper.pages.optimizers_picture import draw_optimizers, figure_of
from tinns.paper.records import write_record

RUNS = [
    *(made_up(cell(recipe="fast", seed=seed), error) for seed, error in ((0, 1e-8), (1, 4e-8))),
    made_up(cell("tinn-adam", "fast"), 1e-3),
    made_up(cell("tinn-adam", "fast"), 1e-9, device="CPU"),  # not the device with most runs
    made_up(cell("pinn", None), 1e-2),  # not among the optimisers
]


def test_lines_are_the_medians_of_recorded_runs():
    panel = figure_of(RUNS).axes[0]
    curves = [line for line in panel.get_lines() if len(line.get_xdata()) == 4]
    last = [line.get_ydata()[-1] for line in curves]
    assert last == pytest.approx([2.5e-8, 1e-3])
    assert len(panel.collections) == 1  # a band for two seeds, none for a single one
    assert any("paper 6.89e-07" in text.get_text() for text in panel.texts)


def test_the_legend_names_what_is_drawn():
    (legend,) = [a.get_legend() for a in figure_of(RUNS).axes if a.get_legend()]
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == [
        "accelerated LM, recipe fast\n(2 seeds)",
        "Adam, recipe fast\n(1 seed)",
        "the paper's error",
    ]
    assert "on one GPU" in legend.get_title().get_text()


def test_runs_without_a_curve_are_left_out():
    panel = figure_of([made_up(cell(recipe="fast"), 1e-8, curve=())]).axes[0]
    assert [line for line in panel.get_lines() if len(line.get_xdata()) == 4] == []


def test_the_picture_is_drawn_from_the_records_of_a_checkout(tmp_path):
    (tmp_path / "results/runs").mkdir(parents=True)
    (tmp_path / "README.md").write_text("")
    write_record(tmp_path / "results/runs/run.json", RUNS[0])
    (path,) = draw_optimizers(Checkout(tmp_path))
    assert path == tmp_path / "docs/images/optimizers.png"
    assert path.stat().st_size > 10_000
