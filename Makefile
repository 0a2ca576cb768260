# make demo, make test: nothing else is needed on a machine with Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test docs clean

install: $(STAMP)

$(STAMP): pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing tinns and its tools into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: install
	$(BIN)/tinns solve burgers --out runs/burgers

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright --level error
	$(BIN)/lint-imports
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --maxprocesses=4 --dist loadfile --no-loadscope-reorder

docs: install
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) runs site .pytest_cache .ruff_cache .import_linter_cache
