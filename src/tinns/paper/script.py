"""Commands of this package: user errors print one line and exit with status 2."""

import sys
from collections.abc import Callable

from tinns._runtime.errors import UserError


def exit_status(command: Callable[[], int]) -> int:
    """Run a command and return its exit status."""
    try:
        return command()
    except UserError as error:
        print(f"tinns: {error}", file=sys.stderr)
        return 2
