# Everything a developer or CI does; `make help` lists it.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
PROJECT := integration_project
DBT := cd $(PROJECT) && ../$(BIN)/dbt
LINEAGE := $(BIN)/lineage-post --project-dir $(PROJECT)
SAY := printf '\n--- %s\n'

export DBT_SEND_ANONYMOUS_USAGE_STATS := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1
.DEFAULT_GOAL := help
.PHONY: help install explorer demo test test-long test-matrix test-spark lint format bench bench-peers fuzz docs wheel chromium clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP) explorer ## make .venv with the pinned versions; does nothing when it is up to date

$(STAMP): pyproject.toml constraints.txt hatch_build.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Development needs Python 3.11 or newer: make PYTHON=python3.12 install"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing into .venv (a minute or two the first time) ..."
	@$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

explorer: $(STAMP) ## build the explorer's page, if its sources have changed
	@$(BIN)/python hatch_build.py

demo: install ## build the shop with the hook, make its docs and trace a number of it
	@$(DBT) deps --quiet
	$(DBT) build
	@$(SAY) 'The lineage is the one a person would draw: seeds/expected/expected_column_edges.csv'
	@$(DBT) test --quiet --select tag:after_hook && echo "It is."
	@$(DBT) docs generate --quiet
	@$(SAY) 'What is known'
	@$(LINEAGE) build
	@$(SAY) 'Where does the revenue of seven days come from?'
	@$(LINEAGE) show +fct_daily_revenue.revenue_7_days
	@$(SAY) 'What breaks if the unit price changes?'
	@$(LINEAGE) show raw_order_items.unit_price_cents+ --depth 2
	@$(SAY) 'The docs, with a lineage panel on every model page'
	@echo "make docs, then http://localhost:8080/#!/model/model.shop.fct_orders"

docs: $(PROJECT)/target/index.html ## serve the shop's docs on http://localhost:8080
	$(DBT) docs serve --no-browser

$(PROJECT)/target/index.html:
	@$(MAKE) demo

test: install ## run every test; starts its own Postgres
	$(BIN)/python -m pytest -q -n auto --dist loadfile -m "not long"

test-long: install ## run the tests that take minutes: walks over whole projects, killed loads
	$(BIN)/python -m pytest -q -m long

test-matrix: install ## run the tests on other versions of dbt, duckdb and sqlglot
	$(BIN)/python -m tests.matrix

test-spark: install ## run the hook, views, walks and imports on Spark, in an environment of its own; needs Java
	$(BIN)/python -m tests.matrix spark

lint: install ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install ## let ruff format the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: install ## time the tracing against sqlglot's own, and peers where they are installed
	$(BIN)/python -m tests.bench

bench-peers: install ## install the tools that bench compares with, each into an environment of its own
	$(BIN)/python -m tests.bench.peers

fuzz: install ## judge random queries by executing them, as long as one likes; ARGS="--help" tells more
	$(BIN)/python -m tests.oracle.fuzz $(ARGS)

wheel: install ## build the wheel and the source distribution into dist/
	LINEAGE_POST_EXPLORER=require $(BIN)/python -m hatchling build

chromium: ## install Debian's chromium for the browser tests, where that is possible
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing chromium ..."; \
	  { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } >/dev/null 2>&1 \
	    || echo "chromium could not be installed: the browser tests will be skipped"; \
	fi

clean: ## remove what builds and tests leave behind, but not .venv
	rm -rf dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf $(PROJECT)/target $(PROJECT)/logs $(PROJECT)/dbt_packages $(PROJECT)/*.duckdb
