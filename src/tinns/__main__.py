"""`python -m tinns` is the command `tinns`."""

from tinns.cli import main

main()
