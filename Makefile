# Two commands do everything, on a machine with python3 (3.11 or newer) and make: `make demo` and `make test`.
# Each makes its own .venv from the pinned constraints, once. The oldest mypy that the plugin supports lies beside the
# pinned one, for the tests that run both.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
CORES := $(shell $(PYTHON) -c "import os; print(os.cpu_count())")

.PHONY: demo test slow bench prove docs lint format clean

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-build-isolation --editable ".[torch,verify,test,dev]"
	$(BIN)/python -m pip install --quiet --no-deps --target $(VENV)/mypy-oldest mypy==1.15.0
	touch $@

demo: $(INSTALLED)
	@echo "== examples/: mypy with the plugin finds nothing to report"
	$(BIN)/mypy --config-file examples/mypy.ini --exclude '/broken/' examples
	@echo
	@echo "== examples/broken/: one fault in each file"
	$(BIN)/mypy --config-file examples/mypy.ini examples/broken; test $$? -eq 1
	@echo
	@echo "== examples/gradients/: backwards that are right, for every size and value, and wrong ones"
	$(BIN)/shaped verify examples/gradients/right.py
	$(BIN)/shaped verify examples/gradients/wrong.py; test $$? -eq 1

test: lint
	$(BIN)/python -m pytest -n $(CORES)

slow: $(INSTALLED)
	SHAPED_RANDOM=1 $(BIN)/python -m pytest -n $(CORES)
	SHAPED_RANDOM=1 $(BIN)/python -m pytest -n $(CORES) -m slow

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.mypy_plugin
	$(BIN)/python -m benchmarks.initializers
	$(BIN)/python -m benchmarks.checked
	$(BIN)/python -m benchmarks.trainer

# Writes the ledger of proofs and its certificates.
prove: $(INSTALLED)
	$(BIN)/shaped prove --quiet proofs

docs: $(INSTALLED)
	$(BIN)/python -m docs.generate

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict shaped

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
