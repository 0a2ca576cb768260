"""The cache of compiled programs: filled once, then used; out of the way where it cannot be."""

import os

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.compilation_cache import compilation_cache

from tinns._runtime import compilation
from tinns._runtime.compilation import GPU_OPTIONS, kept_on_disk, options_for, thin_out


@pytest.fixture(autouse=True)
def no_folder_of_jax():
    """JAX as a user has it: without a cache folder of its own."""
    before = jax.config.values["jax_compilation_cache_dir"]
    jax.config.update("jax_compilation_cache_dir", None)
    yield
    jax.config.update("jax_compilation_cache_dir", before)
    compilation_cache.reset_cache()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TINNS_CACHE", str(tmp_path))
    return tmp_path


def kept(folder):
    return sorted(file.name for file in folder.rglob("*-cache"))


def compile_something():
    # A new function each time: JAX's own cache in memory must not answer.
    return jax.jit(lambda x: jnp.sin(x) + 41.0)(1.0)


def test_a_program_is_written_once_and_found_again(folder):
    with kept_on_disk():
        first = float(compile_something())
    files = kept(folder)
    assert files
    with kept_on_disk():
        assert float(compile_something()) == first
    assert kept(folder) == files


def test_jax_is_left_as_it_was(folder):
    before = jax.config.values["jax_compilation_cache_dir"]

    def fail_inside():
        with kept_on_disk():
            assert jax.config.values["jax_compilation_cache_dir"] != before
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert jax.config.values["jax_compilation_cache_dir"] == before


def test_a_folder_of_ones_own_is_respected(folder, tmp_path, monkeypatch):
    own = str(tmp_path / "own")
    jax.config.update("jax_compilation_cache_dir", own)
    try:
        with kept_on_disk():
            assert jax.config.values["jax_compilation_cache_dir"] == own
        assert not list(folder.glob("compiled"))
    finally:
        jax.config.update("jax_compilation_cache_dir", None)


def test_without_a_place_to_write_everything_still_runs(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("TINNS_CACHE", str(blocked))
    with kept_on_disk():
        assert compile_something() > 41


def test_the_least_recently_used_files_go_first(tmp_path):
    for number in range(4):
        file = tmp_path / f"{number}-cache"
        file.write_bytes(b"x" * 100)
        os.utime(file, (number, number))
    thin_out(tmp_path, most=400)
    assert len(list(tmp_path.iterdir())) == 4
    thin_out(tmp_path, most=399)
    assert {file.name for file in tmp_path.iterdir()} == {"3-cache"}


def test_options_that_this_compiler_does_not_know_are_left_out(monkeypatch):
    assert options_for("gpu") == GPU_OPTIONS
    monkeypatch.setattr(compilation, "GPU_OPTIONS", GPU_OPTIONS | {"xla_no_such_option": 1})
    assert options_for("gpu") == GPU_OPTIONS


def test_options_are_looked_up_at_the_first_call_of_a_program(monkeypatch):
    given = []

    def no_options(platform):
        given.append(platform)
        return {}

    monkeypatch.setattr(compilation, "options_for", no_options)
    square = compilation.jitted(lambda times, x: times * x**2, static_argnums=0)
    assert given == []
    assert float(square(3, jnp.asarray(2.0))) == 12.0
    assert given == [jax.default_backend()]


def test_options_reach_the_compiler(monkeypatch):
    monkeypatch.setattr(compilation, "options_for", lambda platform: {"xla_no_such_option": 1})
    with pytest.raises(Exception, match="xla_no_such_option"):
        compilation.jitted(lambda x: x + 1)(1.0)
    with pytest.raises(Exception, match="xla_no_such_option"):
        compilation.compiled(lambda x: x + 1, 1.0)
