# The commands of the house; CONTRIBUTING.md says more. Everything works in a fresh clone.
PYTHON ?= python3
# Where nobody has named a Python, the set-up looks for the best one.
SETUP := $(PYTHON) tools/setup.py $(if $(filter file,$(origin PYTHON)),--find-python)
RUN := .venv/bin
# Some machines forbid Python to keep what it compiled. Tests start hundreds of processes, which would all compile again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help up demo setup venue test proof mutants check format conformance protocol lock core web pictures bench clean

help:          ## Show this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

up: setup      ## Start the whole platform; Ctrl-C stops it
	@$(RUN)/openspot up

demo: setup    ## … with bots that quote and trade on every market
	@$(RUN)/openspot up --demo

setup:         ## Make .venv, install the locked packages, build the pages, and the fast core if Rust is there
	@$(SETUP)

venue:         ## Install the library that the venue adapter needs
	@$(SETUP) --venue

test:          ## Set up for development, check most house rules, run the tests; ARGS=tests/unit/http for a part
	@$(SETUP) --development
	@$(RUN)/python tools/check.py --quick
	@$(RUN)/python -m pytest -n auto -m "not proof" $(ARGS)

proof:         ## Set up for development, run the checks and tests that take longer; ARGS=tests/e2e for a part
	@$(SETUP) --development
	@$(if $(ARGS),,$(RUN)/python tools/check.py --costly)
	@$(RUN)/python -m pytest -n auto -m proof $(ARGS)
	@$(if $(ARGS),,$(RUN)/python tools/mutants.py --changed)

mutants:       ## Change the rules in every small way, for hours, and see that tests notice; ARGS=margin, SAMPLE=60, SEED=1
	@$(SETUP) --development
	@$(RUN)/python tools/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(ARGS)

check: setup   ## Format, lint, types, layers, generated code
	@$(SETUP) --development
	@$(RUN)/python tools/check.py

format:        ## Format the code
	@$(RUN)/ruff check --fix --quiet . ; $(RUN)/ruff format . ; $(RUN)/python tools/web.py format

conformance:   ## Write docs/conformance.md (facts and their tests), the settings page, the table of processes
	@$(RUN)/python tools/conformance.py && $(RUN)/python tools/settings_page.py && $(RUN)/python tools/process_table.py

protocol:      ## Generate the gRPC code from proto/, the HTTP pages from the routes, and parts of the client
	@$(RUN)/python tools/generate_protocol.py && $(RUN)/python tools/http_pages.py
	@$(RUN)/python tools/websocket_document.py && $(RUN)/python tools/order_connection_document.py
	@$(RUN)/python tools/client_records.py && $(RUN)/python tools/client_sync.py && $(RUN)/python tools/web.py generate

lock:          ## Renew requirements/*.lock from pyproject.toml
	@$(RUN)/python tools/lock.py && $(RUN)/python tools/web.py lock

web:           ## Build the browser pages of web/, failing if they cannot be built
	@$(PYTHON) tools/web.py build

core:          ## Build and install the Rust core
	@$(SETUP) --core

pictures:      ## Draw the pictures of trading screen and console again, in docs/pictures
	@$(RUN)/python tools/page_pictures.py

bench:         ## Run the benchmarks that docs/performance.md quotes
	@$(RUN)/python benchmarks/run_all.py

clean:         ## Remove the virtual environment and build leftovers; the data in .openspot stays
	@rm -rf .venv web/node_modules web/dist web/browser/node_modules rust/matching/target rust/matching/dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .external
