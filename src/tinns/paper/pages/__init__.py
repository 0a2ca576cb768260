"""Documents that are generated from the recorded runs: python -m tinns.paper.pages."""
