"""A run written to disk half way continues exactly in another process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from continued_run import CASES, outcomes

SCRIPT = Path(__file__).with_name("continued_run.py")


@pytest.mark.long
def test_a_continued_run_is_bit_identical_to_the_uninterrupted_one(tmp_path, float64):
    """One process continues all runs, since its start takes longer than each of them."""
    runs = {name: outcomes(name, tmp_path / f"{name}.npz") for name in CASES}
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for name, (uninterrupted, written) in runs.items():
        with np.load(tmp_path / f"{name}-continued.npz") as arrays:
            continued = dict(arrays)
        for other in (written, continued):
            assert other.keys() == uninterrupted.keys()
            for part, values in uninterrupted.items():
                np.testing.assert_array_equal(other[part], values, err_msg=f"{name}: {part}")
