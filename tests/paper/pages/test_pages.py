"""Generated pages are up to date, and the command that generates them."""

import re
import shutil
from pathlib import Path

import pytest

from tinns.paper.pages import __main__ as module
from tinns.paper.pages.__main__ import PAGES, main
from tinns.paper.pages.checkout import COMMAND, Checkout

ROOT = Path(__file__).parents[3]


@pytest.fixture
def root(tmp_path):
    """A checkout without records, whose pages are generated."""
    (tmp_path / "results").mkdir()
    (tmp_path / "docs").mkdir()
    for page in ("README.md", "docs/accuracy.md"):  # written by hand but for some blocks
        shutil.copyfile(ROOT / page, tmp_path / page)
    assert main(["--root", str(tmp_path)]) == 0
    return tmp_path


def test_the_pages_of_this_repository_are_up_to_date(capsys):
    assert main(["--check", "--root", str(ROOT)]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=[page.path for page in PAGES])
def test_pages_name_the_command_and_link_to_files_that_exist(page):
    text = (ROOT / page.path).read_text(encoding="utf-8")
    assert COMMAND in text
    for target in re.findall(r"\]\(([^)#]+)", text):
        if "://" not in target:
            assert ((ROOT / page.path).parent / target).exists(), target


def test_pages_are_generated_also_without_records(root):
    for page in PAGES:
        assert (root / page.path).exists()
    assert "No run is recorded yet." in (root / "docs/gallery.md").read_text()


def test_the_check_names_pages_that_are_out_of_date(root, capsys):
    check = ["--check", "--root", str(root)]
    capsys.readouterr()
    assert main(check) == 0
    assert not capsys.readouterr().out
    (root / "docs/gallery.md").write_text("older")
    (root / "docs/results.md").unlink()
    assert main(check) == 1
    printed = capsys.readouterr().out
    assert [name in printed for name in ("README", "gallery", "performance", "results")] == [
        False,
        True,
        False,
        True,
    ]
    assert not (root / "docs/results.md").exists()  # a check writes nothing


def test_only_pages_that_are_out_of_date_are_written(root, capsys):
    (root / "docs/gallery.md").write_text("older")
    capsys.readouterr()
    assert main(["--root", str(root)]) == 0
    assert capsys.readouterr().out == f"wrote {root / 'docs/gallery.md'}\n"


def test_pictures_are_drawn_on_request(root, monkeypatch, capsys):
    drawn = []
    page = module.Page("docs/gallery.md", lambda _: "text", lambda c: drawn.append(c) or [c.images])
    monkeypatch.setattr(module, "PAGES", (page,))
    assert main(["--root", str(root)]) == 0
    assert drawn == []
    assert main(["--root", str(root), "--pictures"]) == 0
    assert drawn == [Checkout(root)]
    assert f"wrote {root / 'docs/images'}\n" in capsys.readouterr().out


def test_user_errors_are_one_line(root, tmp_path, capsys):
    for options, message in (
        (["--root", str(tmp_path / "docs")], "is not a checkout"),
        (["--root", str(root), "--check", "--pictures"], "--check writes nothing"),
        (["--root", str(root), "--gallery", str(root / "docs")], "no pictures of recorded runs"),
    ):
        capsys.readouterr()
        assert main(options) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    (root / "README.md").write_text("no block")
    assert main(["--root", str(root)]) == 2
    assert "README.md has no block of results" in capsys.readouterr().err
