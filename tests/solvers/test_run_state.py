"""A run written to disk half way continues exactly in another process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from continued_run import CASES, outcomes

SCRIPT = Path(__file__).with_name("continued_run.py")


@pytest.mark.long
@pytest.mark.usefixtures("float64", "quick_compilation")
@pytest.mark.parametrize("name", CASES)
def test_a_continued_run_is_bit_identical_to_the_uninterrupted_one(tmp_path, name):
    state, result = tmp_path / "state.npz", tmp_path / "result.npz"
    uninterrupted, written = outcomes(name, state)
    command = [sys.executable, str(SCRIPT), name, str(state), str(result)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    with np.load(result) as arrays:
        continued = dict(arrays)
    for other in (written, continued):
        assert other.keys() == uninterrupted.keys()
        for part, values in uninterrupted.items():
            np.testing.assert_array_equal(other[part], values, err_msg=part)
