"""A lakehouse in a bucket of a real server, for each server that there is."""

import os
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.support.charts import tools
from tests.support.object_store import servers
from tests.support.object_store.servers import Proxy, Server
from tests.unit.workers.metering.conftest import play, readers, space
from workers.metering.roots import ObjectStore

__all__ = ["play", "readers", "space"]

# Spark on a store needs 700 MB of JARs: `make test-s3` fetches them and runs it. CI does not.
WITH_SPARK = bool(os.environ.get("WAYPOST_TEST_S3"))
collect_ignore = [] if WITH_SPARK else ["test_spark_on_a_store.py"]

# Building versitygw takes two minutes: `make test-s3` does, and then `make test` runs it too.
SERVERS = ["moto", *(["versitygw"] if tools.has_go_program(servers.VERSITYGW) else [])]


def pytest_report_header() -> str:
    """Say which servers the tests run against, and whether Spark is among what runs."""
    spark = "run" if WITH_SPARK else "not run (make test-s3)"
    return f"object stores: {', '.join(SERVERS)}; Spark on a store: {spark}"


@pytest.fixture(scope="session", params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A server with an empty bucket."""
    with getattr(servers, request.param)(tmp_path_factory.mktemp(request.param)) as running:
        yield running


@pytest.fixture(scope="session")
def running_proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with servers.proxy(server, tmp_path_factory.mktemp("proxy")) as made:
        yield made


@pytest.fixture
def proxy(running_proxy: Proxy) -> Proxy:
    """A proxy before the server that passes everything yet."""
    running_proxy.passes()
    return running_proxy


@pytest.fixture
def root(proxy: Proxy, request: pytest.FixtureRequest, settings: Settings) -> ObjectStore:
    """The lakehouse of this test: a prefix of its own, through the proxy."""
    return use(proxy.server.store(prefix=_prefix(request)), settings)


@pytest.fixture
def near(server: Server, request: pytest.FixtureRequest, settings: Settings) -> ObjectStore:
    """The lakehouse of this test, with no proxy before it: for thousands of requests."""
    return use(server.store(prefix=_prefix(request)), settings)


def _prefix(request: pytest.FixtureRequest) -> str:
    return str(request.node.name).replace("[", "-").strip("]")


def use(store: ObjectStore, settings: Settings) -> ObjectStore:
    """Make ``store`` the lakehouse of the settings."""
    settings.LAKEHOUSE_ROOT, settings.LAKEHOUSE_ENDPOINT = store.url, store.endpoint
    settings.LAKEHOUSE_REGION = store.region
    settings.LAKEHOUSE_ACCESS_KEY = store.access_key
    settings.LAKEHOUSE_SECRET_KEY = store.secret_key
    return store
