"""Generate the documents that quote recorded runs.

    python -m tinns.paper.pages             write all pages
    python -m tinns.paper.pages --check     exit with status 1 if a page is out of date
    python -m tinns.paper.pages --pictures  also draw the pictures of the pages

Pages that are up to date are not written.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tinns._runtime.errors import UserError
from tinns._runtime.files import write_whole
from tinns.paper.pages.accuracy_page import accuracy_page, draw_accuracy
from tinns.paper.pages.checkout import COMMAND, Checkout
from tinns.paper.pages.gallery_page import gallery_page, pictures_folder, take_pictures
from tinns.paper.pages.optimizers_picture import draw_optimizers
from tinns.paper.pages.performance_page import performance_page
from tinns.paper.pages.readme_page import readme_page
from tinns.paper.pages.results_page import draw_results, results_page
from tinns.paper.script import exit_status


@dataclass(frozen=True)
class Page:
    """A generated document, and a function that draws its pictures."""

    path: str
    text: Callable[[Checkout], str]
    draw: Callable[[Checkout], Sequence[Path]] | None = None


PAGES = (
    Page("README.md", readme_page),
    Page("docs/accuracy.md", accuracy_page, draw_accuracy),
    Page("docs/gallery.md", gallery_page),
    Page("docs/performance.md", performance_page, draw_optimizers),
    Page("docs/results.md", results_page, draw_results),
)


def outdated(checkout: Checkout) -> dict[Path, str]:
    """Pages that differ from what the records give, with the text that they should have."""
    texts = {checkout.root / page.path: page.text(checkout) for page in PAGES}
    return {
        path: text
        for path, text in texts.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = _parser().parse_args(arguments)
    return exit_status(lambda: _check(given) if given.check else _generate(given))


def _check(given: argparse.Namespace) -> int:
    if given.pictures or given.gallery:
        raise UserError("--check writes nothing: leave --pictures and --gallery out")
    pages = outdated(Checkout(given.root))
    for path in pages:
        print(f"{path} is out of date; run {COMMAND}")
    return 1 if pages else 0


def _generate(given: argparse.Namespace) -> int:
    checkout = Checkout(given.root)
    if given.gallery:
        take_pictures(given.gallery, pictures_folder(checkout))
    if given.pictures:
        for path in (path for page in PAGES if page.draw for path in page.draw(checkout)):
            print(f"wrote {path}")
    for path, text in outdated(checkout).items():
        write_whole(path, lambda file, text=text: file.write_text(text, encoding="utf-8"))
        print(f"wrote {path}")
    return 0


def _parser() -> argparse.ArgumentParser:
    summary = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(COMMAND, description=summary)
    parser.add_argument("--check", action="store_true", help="name pages that are out of date")
    parser.add_argument("--pictures", action="store_true", help="also draw the pages' pictures")
    parser.add_argument(
        "--gallery",
        type=Path,
        metavar="FOLDER",
        help="take the gallery's pictures from runs recorded in this folder with --pictures",
    )
    parser.add_argument("--root", type=Path, default=Path(), help="the root of the checkout")
    return parser


if __name__ == "__main__":
    sys.exit(main())
