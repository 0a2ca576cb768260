"""Rows dealt out to several devices give what one device gives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tinns

SCRIPT = Path(__file__).with_name("several_devices.py")


@pytest.mark.parametrize(
    ("count", "optimizers"),
    [
        (4, ["accelerated", "stable", "algorithm-1", "lbfgs", "adam", "windows"]),
        (8, ["accelerated"]),
    ],
)
def test_several_devices_agree_with_one(count, optimizers):
    flags = f"{os.environ['XLA_FLAGS']} --xla_force_host_platform_device_count={count}"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, str(SCRIPT), str(count), *optimizers]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, *_ in lines] == optimizers
    for name, distance, moved in lines:
        assert float(distance) < 1e-12, name
        assert float(moved) < 1, name


def test_more_devices_than_there_are_is_refused(heat, small_field, few_points):
    recipe = tinns.Recipe(small_field, points=few_points, devices=99)
    with pytest.raises(tinns.UserError, match="devices=99, but JAX sees"):
        tinns.solve(heat, recipe, iterations=1, progress=False)
