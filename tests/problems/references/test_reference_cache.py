"""Spectral references are lazy, computed once, and survive a bad cache."""

import jax
import numpy as np
import pytest

import tinns
from tinns._runtime.compilation import kept_on_disk
from tinns._runtime.files import cache_folder, prepared_folder
from tinns.problems.references import kdv_spectral, korteweg_de_vries
from tinns.problems.references.cache import cache_path

DISPERSION = 0.02  # smooth and quick to compute


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TINNS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def computations(monkeypatch):
    """One entry for each time the solver runs."""
    runs = []
    solve = kdv_spectral.solve_kdv

    def counted(dispersion, modes):
        runs.append(dispersion)
        return solve(dispersion, modes)

    monkeypatch.setattr(kdv_spectral, "solve_kdv", counted)
    return runs


def value():
    return korteweg_de_vries(DISPERSION).on_grid(x=np.array([0.3]), t=np.array([0.4])).item()


def test_building_computes_nothing_and_evaluating_computes_once(folder, computations):
    reference = korteweg_de_vries(DISPERSION)
    assert computations == []
    assert not folder.exists()
    first = reference(x=0.3, t=0.4)
    again = reference(x=0.3, t=0.4)
    assert first == again
    np.testing.assert_allclose(value(), first, rtol=1e-13)
    assert computations == [DISPERSION]


def test_file_names_tell_problem_parameters_and_format(folder, computations):
    value()
    assert [file.name for file in folder.iterdir()] == ["korteweg-de-vries-dispersion=0.02-v1.npz"]


@pytest.mark.parametrize("damage", ["empty", "text", "truncated", "flipped", "wrong arrays"])
def test_damaged_file_is_computed_again_and_replaced(folder, computations, damage):
    expected = value()
    file = cache_path("korteweg-de-vries", {"dispersion": DISPERSION})
    whole = file.read_bytes()
    if damage == "empty":
        file.write_bytes(b"")
    elif damage == "text":
        file.write_text("not an archive")
    elif damage == "truncated":
        file.write_bytes(whole[: len(whole) // 2])
    elif damage == "flipped":
        middle = len(whole) // 2
        file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :])
    else:
        np.savez(file, edges=np.array([0.0, 1.0]), coefficients=np.full((1, 3, 2), np.nan))
    assert value() == expected
    assert len(computations) == 2
    assert value() == expected
    assert len(computations) == 2


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path, monkeypatch, computations):
    obstacle = tmp_path / "file"
    obstacle.write_text("a file where the folder should be")
    monkeypatch.setenv("TINNS_CACHE", str(obstacle / "cache"))
    assert np.isfinite(value())
    assert len(computations) == 1


def test_no_home_directory_is_no_obstacle(monkeypatch, computations):
    def unknown(_):
        raise KeyError("no such user")

    for name in ("HOME", "TINNS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    before = jax.config.values["jax_compilation_cache_dir"]
    with kept_on_disk():
        assert jax.config.values["jax_compilation_cache_dir"] == before
        assert np.isfinite(value())
    assert len(computations) == 1
    with pytest.raises(tinns.UserError, match="cannot write"):
        prepared_folder(cache_folder())


def test_first_use_may_be_inside_a_trace(folder, computations):
    reference = korteweg_de_vries(DISPERSION)
    with jax.enable_x64(True):
        traced = jax.jit(lambda x, t: reference.formula(x=x, t=t))(0.3, 0.4)
    # Nothing traced may have been kept: a later plain call sees concrete arrays.
    np.testing.assert_allclose(reference(x=0.3, t=0.4), traced, rtol=1e-13)
    assert len(computations) == 1


def test_folder_is_chosen_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("TINNS_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    monkeypatch.delenv("TINNS_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "tinns"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder().parts[-2:] == (".cache", "tinns")
