"""Every table is made from beginning to end, with few steps on few points."""

import json
import os

import pytest

from tinns.cli import main
from tinns.paper.command import parse_request
from tinns.paper.tables import TABLES

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """One folder for all tables, which share cells, also among several processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bench"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_made(name, out):
    assert (
        main(["bench", name, "--profile", "smoke", "--out", str(out), "--quiet", "--jobs", "1"])
        == 0
    )
    records = [
        json.loads((out / "cells" / f"{cell.name}.json").read_text())
        for cell in parse_request(name).cells()
    ]
    assert [r["reason"] for r in records if r["status"] != "done"] == []
    for record in records:
        assert record["result"]["iterations"] >= 2
    for ending in ("md", "csv", "tex"):
        text = (out / f"{name}-smoke.{ending}").read_text()
        assert "failed" not in text
    assert (out / f"{name}-smoke.png").stat().st_size > 5_000
