# Everything here needs only make and Python 3.11 or newer. `make` alone lists the targets.

.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

# A Python to make the environments from; where it is too old, a newer one on the path is looked for.
PYTHON ?= python3
# Processes that the tests run in.
WORKERS ?= 2
# The conversations of LoCoMo, for bench-locomo.
DATA ?= ../shared/data/locomo
# What bench-offline reads: developed, held_back or both.
HALF ?= both
# More for pytest, such as PYTEST_ARGS="-k queue".
PYTEST_ARGS ?=
# REQUIRE=1: a test that lacks an optional part (data, browser, database) fails instead of being skipped.
export REQUIRE

ADK2 := .venv
ADK1 := .venv-adk1
SDK2 := .venv-sdk2
ENVIRONMENT_OF_LOCKS := .venv-lock
PYTEST := -m pytest -n $(WORKERS) --dist loadfile -rfEs $(PYTEST_ARGS)

.PHONY: help demo test check test-all test-adk1 test-sdk2 train bench bench-locomo bench-offline lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(ADK2)/.stamp ## two customers of a coffee shop: what is remembered, from what, and for whom
	@$(ADK2)/bin/python -m samples.coffee_shop.demo

test: $(ADK2)/.stamp ## the tests, on the newest ADK 2.x
	$(ADK2)/bin/python $(PYTEST)

check: $(ADK2)/.stamp ## lint, format and types
	$(ADK2)/bin/ruff check .
	$(ADK2)/bin/ruff format --check .
	$(ADK2)/bin/basedpyright --project pyproject.toml

test-all: test-sdk2 test-adk1 test ## the tests, on the newest ADK 2.x and 1.x, and those of the oldest SDK

test-adk1: $(ADK1)/.stamp ## the tests, on the newest ADK 1.x
	$(ADK1)/bin/python $(PYTEST)

test-sdk2: $(SDK2)/.stamp ## the tests with Google's own client, on the oldest one that is supported
	$(SDK2)/bin/python $(PYTEST) tests/acceptance/test_official_sdk.py tests/acceptance/test_vertex_service.py

train: $(ADK2)/.stamp ## train the offline generator's judge anew on the sentences in training/
	$(ADK2)/bin/python -m training.train --check

bench: $(ADK2)/.stamp ## speed, side by side with Chroma alone and ADK's own memory
	$(ADK2)/bin/python -m tests.benchmarks.run

bench-locomo: $(ADK2)/.stamp ## how much of what questions need comes back: make bench-locomo DATA=folder with conv-*.json
	$(ADK2)/bin/python -m tests.benchmarks.locomo $(DATA)

bench-offline: $(ADK2)/.stamp ## how much of what was said is kept without a model: make bench-offline HALF=developed DETAILS=1
	$(ADK2)/bin/python -m tests.benchmarks.offline --half $(HALF) $(if $(DETAILS),--details)

lock: ## renew requirements/*.txt with the newest versions that pyproject.toml allows
	@$(call find_python,$(ENVIRONMENT_OF_LOCKS))
	@$(ENVIRONMENT_OF_LOCKS)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --upgrade uv
	$(COMPILE) --extra sdk --output-file requirements/dev.txt
	$(COMPILE) --extra sdk --constraint requirements/sdk2.in --output-file requirements/dev-sdk2.txt
	$(COMPILE) --constraint requirements/adk1.in --output-file requirements/dev-adk1.txt

clean: ## remove the environments and all that is made by running
	rm -rf $(ADK2) $(ADK1) $(SDK2) $(ENVIRONMENT_OF_LOCKS) build dist .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# An SDK newer than 2 and the SDK that ADK 1.x brings along overwrite each other's files; so only the first lock has it.
COMPILE = $(ENVIRONMENT_OF_LOCKS)/bin/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade \
	--quiet --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock'

# $(call find_python,FOLDER): makes a virtual environment there, unless there is one that can be used.
define find_python
usable() { "$$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }; \
if ! usable $1/bin/python; then \
	for python in '$(PYTHON)' python3 python3.14 python3.13 python3.12 python3.11 none; do \
		if usable "$$python"; then break; fi; \
	done; \
	if [ "$$python" = none ]; then \
		echo 'Python 3.11 or newer is needed, and none was found. Name one: make … PYTHON=/path/to/python3.11' >&2; exit 1; \
	fi; \
	"$$python" -m venv --clear $1 || { echo "$$python can't make virtual environments (on Debian: apt-get install python3-venv)" >&2; exit 1; }; \
fi
endef

# $(call environment,LOCK): fills the environment that the target's stamp lies in.
define environment
@$(call find_python,$(@D))
@echo 'Filling $(@D) from $1: a minute or two …' >&2
@$(@D)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --requirement $1
@$(@D)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
@touch $@
endef

$(ADK2)/.stamp: requirements/dev.txt pyproject.toml
	$(call environment,requirements/dev.txt)

$(SDK2)/.stamp: requirements/dev-sdk2.txt pyproject.toml
	$(call environment,requirements/dev-sdk2.txt)

$(ADK1)/.stamp: requirements/dev-adk1.txt pyproject.toml
	$(call environment,requirements/dev-adk1.txt)
