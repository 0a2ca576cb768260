"""Generated blocks inside documents that are written by hand."""

import re

from tinns._runtime.errors import UserError
from tinns.paper.pages.checkout import COMMAND, Checkout


def with_block(checkout: Checkout, path: str, name: str, content: str, text: str = "") -> str:
    """The document with the block between `<!-- name: ... -->` and `<!-- /name -->` replaced.

    `text` is the document if it is not to be read again.
    """
    text = text or (checkout.root / path).read_text(encoding="utf-8")
    start, end = f"<!-- {name}: {COMMAND} -->", f"<!-- /{name} -->"
    block = re.compile(rf"<!-- {name}:.*?<!-- /{name} -->", re.DOTALL)
    if not block.search(text):
        raise UserError(f"{path} has no block of {name}: add the lines {start} and {end}")
    return block.sub(lambda _: f"{start}\n{content}\n{end}", text)
