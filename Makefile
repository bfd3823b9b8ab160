# What can be done here. Each target makes its own environment; a second run starts at once.

PYTHON ?= python3
CXX ?= g++
SANITIZE_TESTS ?= tests
PYTEST_ARGS ?=
BENCH ?= core
BENCH_ARGS ?=

PIP = -m pip install --quiet --disable-pip-version-check
CORE = pyproject.toml CMakeLists.txt $(wildcard native/*/*)
NATIVE = $(wildcard native/*/*.cpp native/*/*.hpp)

.PHONY: help demo test engines faults lint docs bench sanitize format clean
.DEFAULT_GOAL := help
.NOTPARALLEL:

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.core  ## a short tour
	@.venv/bin/naively demo

test: .venv/.test  ## all tests, and every example in the sources and the documents
	.venv/bin/pytest $(PYTEST_ARGS)

engines: .venv/.engines  ## tests of databases, Spark (which needs Java), Dask and Ray, in a network of their own
	.venv/bin/python tests/engines/loopback.py .venv/bin/pytest tests -m engines -n 0 -p no:logging $(PYTEST_ARGS)

faults: .venv/.engines  ## tests of tasks, workers and drivers that fail, ten times in a row
	@for turn in 1 2 3 4 5 6 7 8 9 10; do echo "turn $$turn"; .venv/bin/python tests/engines/loopback.py \
	  .venv/bin/pytest tests/engines/test_faults.py tests/engines/test_clusters.py -m engines -n 0 -x -q -p no:logging \
	  $(PYTEST_ARGS) || exit 1; done

lint: .venv/.lint  ## style, types, layers; says all there is to say before it fails
	@failed=; \
	check() { echo "$$*" | cut -c 1-100; "$$@" || failed="$$failed, $${1##*/}$${2:+ $$2}"; }; \
	check .venv/bin/ruff check; \
	check .venv/bin/ruff format --check; \
	check .venv/bin/mypy; \
	check .venv/bin/clang-format --dry-run --Werror $(NATIVE); \
	check .venv/bin/lint-imports --no-logo; \
	if [ -n "$$failed" ]; then echo "make lint: failed: $${failed#, }"; exit 1; fi

docs: .venv/.core  ## write docs/reference.md and docs/architecture.svg
	@.venv/bin/python docs/make_reference.py
	@.venv/bin/python docs/make_drawing.py

bench: .venv/.bench  ## how fast the core is; with BENCH=text, tables, choosing, commands, rows, merging, streams or engines, those
	@.venv/bin/python bench/$(BENCH).py $(BENCH_ARGS)

# Python itself is not built with sanitizers, so they are loaded ahead of it. Their reports go past pytest.
sanitize: .venv-sanitize/.test  ## tests of the core with the address and undefined-behaviour sanitizers
	LD_PRELOAD="$(foreach lib,asan ubsan,$(shell $(CXX) -print-file-name=lib$(lib).so))" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	.venv-sanitize/bin/python -m pytest --capture=sys $(PYTEST_ARGS) $(SANITIZE_TESTS)

format: .venv/.lint  ## rewrite sources in the house style
	.venv/bin/ruff check --fix --exit-zero
	.venv/bin/ruff format
	.venv/bin/clang-format -i $(NATIVE)

clean:  ## remove everything made here
	rm -rf .venv .venv-sanitize build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

%/.made:
	@echo "making $(@D)"
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python $(PIP) 'pip>=23.1'
	@touch $@

# Python files are read from src/, so that only the core is ever built again.
.venv/.core: .venv/.made $(CORE)
	@echo "installing libraries and building the core in $(@D) (about two minutes)"
	@$(@D)/bin/python $(PIP) --config-settings=build-dir=build/venv --editable .
	@touch $@

# The extras of what is already there: nothing is built again.
.venv/.test .venv/.lint .venv/.bench .venv/.engines: .venv/.%: .venv/.core
	@echo "installing what make $* needs"
	@$(@D)/bin/python $(PIP) 'naively[$*]'
	@touch $@

.venv-sanitize/.test: .venv-sanitize/.made $(CORE)
	@echo "building the core with sanitizers in $(@D)"
	@CXX=$(CXX) $(@D)/bin/python $(PIP) --config-settings=build-dir=build/sanitize \
	  --config-settings=cmake.define.NAIVELY_SANITIZE=ON --config-settings=cmake.build-type=RelWithDebInfo \
	  --config-settings=install.strip=false --editable '.[test]'
	@touch $@
