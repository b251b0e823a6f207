# One command for each thing one does here. Needs Python 3.11 or later and make; everything else goes into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SOURCE := app pages engine examples tests benchmarks
SERVER := tests/support/langgraph_server
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup
# Runs a part under a name, and says how long it took.
TIMED  := @bash -c 'TIMEFORMAT="$$0: %1R s"; time "$$@"'

.PHONY: run test check lint format constraints server-requirements clean
.DEFAULT_GOAL := run

run: $(VENV)/.app  ## Open the dashboard on sample data
	$(BIN)/mnemoscope demo

test: $(VENV)/.test  ## Every test, those in a real browser too
	$(TIMED) "every test" $(PYTEST)

check: lint  ## What a commit needs: format, lint, types, layers, and the tests without a browser
	$(TIMED) "quick tests" $(PYTEST) -m "not browser and not slow" --hypothesis-profile=quick

lint: $(VENV)/.test  ## What needs no test to be run: format, lint, layers, types
	$(TIMED) format $(BIN)/ruff format --check $(SOURCE)
	$(TIMED) lint $(BIN)/ruff check $(SOURCE)
	$(TIMED) layers $(BIN)/lint-imports --no-logo
	$(TIMED) types $(BIN)/mypy engine app

format: $(VENV)/.test  ## Let ruff put the source in order
	$(BIN)/ruff check --fix $(SOURCE)
	$(BIN)/ruff format $(SOURCE)

constraints:  ## Resolve every dependency afresh and write their versions to constraints.txt
	rm -rf build/resolve && $(PYTHON) -m venv build/resolve
	build/resolve/bin/python -m pip install --quiet ".[app,postgres,test]"
	build/resolve/bin/python -c 'from importlib.metadata import distributions; \
	    pins = {d.name.lower().replace("_", "-"): d.version for d in distributions()}; \
	    print(*(f"{name}=={pins[name]}" for name in sorted(pins.keys() - {"mnemoscope", "pip", "setuptools"})), sep="\n")' \
	    > constraints.txt

server-requirements: constraints.txt  ## Resolve the environment of the LangGraph server afresh
	rm -rf build/resolve && $(PYTHON) -m venv build/resolve
	build/resolve/bin/python -m pip install --quiet 'langgraph-cli[inmem]' \
	    $$(grep -E '^(langchain|langchain-core|langgraph|langgraph-sdk|numpy|orjson|snowballstemmer|lazy-loader)==' constraints.txt)
	{ grep '^#' $(SERVER)/requirements.txt; build/resolve/bin/python -m pip freeze; } > build/requirements.txt
	mv build/requirements.txt $(SERVER)/requirements.txt

clean:  ## Remove what make made
	rm -rf $(VENV) build dist *.egg-info

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo "There is no '$(PYTHON)' here. Install Python 3.11 or later, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Mnemoscope needs Python 3.11 or later; '$(PYTHON)' is $$($(PYTHON) -V). Name a newer one: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "'$(PYTHON)' cannot make virtual environments. Install its venv package (Debian: apt install python3-venv)."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.app: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[app]"
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[app,postgres,test]"
	@touch $@ $(VENV)/.app

# The tests of a LangGraph server are skipped without it. It has an environment of its own: it is no dependency of ours.
$(VENV)/.server: $(VENV)/.made $(SERVER)/requirements.txt
	$(PYTHON) -m venv $(VENV)/server
	$(VENV)/server/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(SERVER)/requirements.txt
	@touch $@
