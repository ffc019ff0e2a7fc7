# The commands of the house; CONTRIBUTING.md says more. Everything works in a fresh clone.
PYTHON ?= python3
RUN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help up setup venue test check format conformance protocol lock core bench clean

help:          ## Show this list
	@grep -E '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

up: setup      ## Start the whole platform; Ctrl-C stops it
	@$(RUN)/openspot up

setup:         ## Make .venv, install the locked packages, build the fast core if Rust is there
	@$(PYTHON) tools/setup.py

venue:         ## Install the library that the venue adapter needs
	@$(PYTHON) tools/setup.py --venue

test:          ## Set up for development, check the house rules, run all tests
	@$(PYTHON) tools/setup.py --development
	@$(RUN)/python tools/check.py
	@$(RUN)/python -m pytest -n 2

check: setup   ## Format, lint, types, layers, generated code
	@$(PYTHON) tools/setup.py --development
	@$(RUN)/python tools/check.py

format:        ## Format the code
	@$(RUN)/ruff check --fix --quiet . ; $(RUN)/ruff format .

conformance:   ## Write docs/conformance.md (facts and their tests), the settings page, the table of processes
	@$(RUN)/python tools/conformance.py && $(RUN)/python tools/settings_page.py && $(RUN)/python tools/process_table.py

protocol:      ## Generate the gRPC code from proto/, and the HTTP pages from the routes
	@$(RUN)/python tools/generate_protocol.py && $(RUN)/python tools/http_pages.py

lock:          ## Renew requirements/*.lock from pyproject.toml
	@$(RUN)/python tools/lock.py

core:          ## Build and install the Rust core
	@$(PYTHON) tools/setup.py --core

bench:         ## Run the benchmarks that docs/performance.md quotes
	@$(RUN)/python benchmarks/run_all.py

clean:         ## Remove the virtual environment and build leftovers; the data in .openspot stays
	@rm -rf .venv rust/matching/target rust/matching/dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
