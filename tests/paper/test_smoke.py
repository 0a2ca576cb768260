"""Every method and problem of the tables runs: two iterations, few layers and few points."""

import numpy as np
import pytest
from bench_records import SMOKE

from tinns.paper.cell_runner import run_cell
from tinns.paper.command import parse_request
from tinns.paper.grouping import Group
from tinns.paper.records import Status

pytestmark = pytest.mark.usefixtures("quick_compilation")


def selected():
    """Cells with each method and recipe, with each problem, and with each precision."""
    cells, seen = [], set()
    for cell in parse_request("all").cells():
        facts = {(cell.method, cell.recipe), cell.problem, cell.precision}
        if not facts <= seen:
            cells.append(cell)
        seen |= facts
    return cells


SLOWEST = {
    "burgers_piratenet_smoke",
    "navier-stokes-3d_tinn_paper_smoke",
    "transport_separation_fast_smoke",
}


@pytest.mark.usefixtures("coarse_grids")
@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, id=cell.group, marks=[pytest.mark.long] * (cell.group in SLOWEST))
        for cell in selected()
    ],
)
def test_a_cell_runs_and_its_record_is_current(cell, store):
    record = run_cell(cell, SMOKE)
    assert record is not None
    assert (record.status, record.reason) == (Status.DONE, None)
    assert (record.problem, record.method, record.seed) == (cell.problem, cell.method, 0)
    assert record.iterations >= 2
    store.write(cell, record)
    assert store.read(cell) == record
    assert store.status(cell, SMOKE) == Status.DONE
    group = Group((record,))
    values = [error.mean for error in group.errors().values()]
    values += [share for shares in record.shares.values() for share in shares.values()]
    assert values
    assert np.isfinite(values).all()
