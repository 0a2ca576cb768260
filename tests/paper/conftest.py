"""Stores of cells, empty and with runs of three methods, and coarse grids for quick runs."""

import pytest
from bench_records import cell, failed, put

from tinns.paper.store import Store
from tinns.problems import PROBLEMS


@pytest.fixture
def store(tmp_path):
    """An empty folder of cells."""
    folder = tmp_path / "cells"
    folder.mkdir()
    return Store(folder)


@pytest.fixture
def full(store):
    """TINN with two seeds, PINN with three of which one failed, and a CoPINN* that failed."""
    put(store, cell(seed=0), 1e-6)
    put(store, cell(seed=1), 3e-6)
    put(store, cell(recipe="fast"), 1e-8)
    for seed in (0, 1):
        put(store, cell("pinn", None, seed), 1e-4)
    for one, reason in (
        (cell("pinn", None, 2), "out of memory"),
        (cell("copinn", None), "needs | a <grid>"),
    ):
        store.write(one, failed(one, reason))
    return store


@pytest.fixture
def coarse_grids(monkeypatch):
    """Compute errors on a part of each test grid: their values are not tested."""
    for kind in PROBLEMS.values():
        whole = kind.test_grid

        def thinned(self, whole=whole):
            return {axis: points[::6] for axis, points in whole(self).items()}

        monkeypatch.setattr(kind, "test_grid", thinned)
