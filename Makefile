# The front door. Every target sets up what it needs in .venv and is quick when nothing changed.
.DEFAULT_GOAL := help
.PHONY: help setup run tour test test-slow test-again check format docs bench clean

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { echo $$p; break; }; done)
BIN := .venv/bin
READY := .venv/ready

# Containers often set it. Without bytecode, each of the hundreds of processes that tests start compiles all of Tidings.
unexport PYTHONDONTWRITEBYTECODE

help:  ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "Tidings needs Python 3.11 or newer with venv (Debian: apt-get install python3 python3-venv)."; exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@scripts/need java default-jre-headless "Java 17 or newer (for Spark)"
	@echo "setting up .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[service,postgresql,dev,bench]'
	@echo "compiling kernels, once ..."
	@$(BIN)/tidings match examples/documents/subscriptions.jsonl examples/documents/articles --schema examples/documents/schema.json >/dev/null 2>&1 & \
	$(BIN)/tidings match examples/subscriptions.jsonl examples/events.jsonl --schema examples/schema.json >/dev/null 2>&1 && wait $$!
	@touch $(READY)

setup: $(READY)  ## make .venv and install everything into it

run: setup  ## the service at http://127.0.0.1:8080, with auctions, flights and subscriptions; it says how to log in
	@$(BIN)/tidings demo --data demo

tour: setup  ## without a service: a schema, filters, events, matches, an explanation
	@$(BIN)/python examples/tour.py

# Four at once on two cores: for part of the time a test waits for a disk, a process or a clock. Work is stolen
# rather than dealt out, so that neighbours stay together and share what they set up (Spark, PostgreSQL).
test: setup  ## all that is quick
	@$(BIN)/python -m pytest -n 4 --dist worksteal -m 'not slow' --durations 20

# Three at once: these wait less, and some start a whole cluster.
test-slow: setup  ## what takes long
	@$(BIN)/python -m pytest -n 3 --dist worksteal -m slow --durations 20

test-again: setup  ## what failed last time, one test at a time
	@$(BIN)/python -m pytest --last-failed --last-failed-no-failures none

check: setup  ## format, lint, types, import rules between the rooms, pages that follow from the code
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/reference --check

format: setup  ## put the code into shape
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

docs: setup  ## write the parts of docs/ that follow from the code
	@$(BIN)/python scripts/reference

bench: setup  ## how fast is it here
	@$(BIN)/python -m tidings.bench

clean:  ## remove what the other targets made
	rm -rf .venv .npm .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .numba-cache dist build
