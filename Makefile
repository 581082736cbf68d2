# Every target makes the environment it needs. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
OUT ?= results/$(shell date -u +%Y%m%d-%H%M%S)
CODE := $(wildcard harness models interpreter tests benchmarks)
PACKAGES := $(wildcard harness models interpreter)
# What to pass on to the harness or to pytest: make bench ARGS="--models 'Llama*'"
ARGS ?=
# Optional parts to install: make install EXTRAS=test,dev,hf,cuda (with clean before it, once installed)
EXTRAS ?= test,dev
# Processes that run tests; a file's tests share one, and with it what is costly to set up. JOBS=0: no others.
JOBS ?= logical
PARALLEL := -n $(JOBS) --dist loadfile
# Pythons that `make test-versions` looks for, besides the one of the environment.
VERSIONS ?= 3.11 3.12 3.13

# $(call need,FILE): one line and status 1 where the machinery behind a target isn't part of this checkout.
need = @test -e $(1) || { echo "make $@: needs $(1), which this checkout does not have" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help install bench bench-all bench-peers benchmarks test test-long test-python test-versions lint typecheck \
        compare coverage nightly baseline lookaside clean

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | expand -t 16

install: $(INSTALLED) ## make .venv from the pins in constraints.txt

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"make: $(PYTHON) is Python {v[0]}.{v[1]}, 3.11 or later is needed: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --editable '.[$(EXTRAS)]' --constraint constraints.txt
	@touch $@

bench: $(INSTALLED) ## run the zoo: forward, train and decode, eager executor, tiny scale (ARGS, OUT)
	$(call need,harness/__main__.py)
	$(BIN)/python -m harness run --out $(OUT) $(ARGS)

bench-all: $(INSTALLED) ## all workloads, executors and dtypes: hours; ARGS="--shard 1/8" is a part (ARGS, OUT)
	$(call need,harness/__main__.py)
	$(BIN)/python -m harness run --workloads all --executors all --dtype float32 bfloat16 float16 --out $(OUT) $(ARGS)

bench-peers: $(INSTALLED) ## the interpreter beside torch.compile, in one process and in turn (ARGS)
	$(call need,benchmarks/peers.py)
	$(BIN)/python benchmarks/peers.py $(ARGS)

benchmarks: $(INSTALLED) ## first calls, warm calls, prologues and cells with pytest-benchmark, saved (ARGS)
	$(call need,benchmarks/jit)
	$(BIN)/python -m pytest benchmarks --benchmark-only --benchmark-autosave $(ARGS)

test: $(INSTALLED) ## the tests (ARGS)
	$(BIN)/python -m pytest $(PARALLEL) -m "not long and not bench" $(ARGS)

test-long: $(INSTALLED) ## also the tests that take minutes (ARGS)
	$(BIN)/python -m pytest $(PARALLEL) -m "not bench" $(ARGS)

test-python: $(INSTALLED) ## CPython's own tests in the virtual machine, all of them (ARGS)
	$(call need,tests/vm/cpython.py)
	$(BIN)/python tests/vm/cpython.py $(ARGS)

test-versions: ## the virtual machine and the lookasides on each of VERSIONS, without torch
	$(call need,tests/vm)
	@status=0; for version in $(VERSIONS); do \
	    python=$$(command -v python$$version || true); \
	    if [ -z "$$python" ] || ! "$$python" -c '' 2>/dev/null; then python=$$(ls -d $$HOME/.pyenv/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); fi; \
	    if [ -z "$$python" ]; then echo "make test-versions: no python$$version on this machine" >&2; status=1; continue; fi; \
	    echo "== Python $$version ($$python)"; \
	    venv=.venv-$$version; \
	    if [ ! -e $$venv/.installed ] || [ constraints.txt -nt $$venv/.installed ]; then \
	        "$$python" -m venv $$venv && \
	        $$venv/bin/python -m pip install --quiet --constraint constraints.txt pytest hypothesis && \
	        touch $$venv/.installed || { status=1; continue; }; \
	    fi; \
	    $$venv/bin/python -m pytest $(wildcard tests/vm tests/lookasides) -m "not long and not bench" $(ARGS) || status=1; \
	done; exit $$status

lint: $(INSTALLED) typecheck ## ruff and mypy
	$(BIN)/ruff check $(CODE)

typecheck: $(INSTALLED)
	$(BIN)/mypy $(PACKAGES)

compare: $(INSTALLED) ## two runs or git revisions side by side: make compare BASE=... HEAD=...
	$(call need,harness/__main__.py)
	@test -n "$(BASE)" -a -n "$(HEAD)" || { echo "make compare: say what to compare: make compare BASE=main HEAD=HEAD" >&2; exit 2; }
	$(BIN)/python -m harness compare $(BASE) $(HEAD) $(ARGS)

coverage: $(INSTALLED) ## lookaside coverage of the last run (ARGS: a run, or two revisions)
	$(call need,harness/__main__.py)
	$(BIN)/python -m harness coverage $(ARGS)

nightly: $(INSTALLED) ## this commit beside the last nightly's, with a report and a line of history
	$(call need,harness/__main__.py)
	$(BIN)/python -m harness nightly $(ARGS)

baseline: $(INSTALLED) ## write the exact facts of a fresh run into results/baseline
	$(call need,harness/__main__.py)
	$(BIN)/python -m harness baseline $(ARGS)

lookaside: $(INSTALLED) ## a skeleton for a lookaside and its test: make lookaside NAME=itertools.chain
	$(call need,interpreter/lookasides/new.py)
	@test -n "$(NAME)" || { echo "make lookaside: say which callable: make lookaside NAME=itertools.chain" >&2; exit 2; }
	$(BIN)/python -m interpreter.lookasides.new $(NAME)

clean: ## remove the environments and the caches, keep the results
	rm -rf .venv .venv-* build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
	find harness models interpreter tests -name __pycache__ -type d -prune -exec rm -rf {} +
