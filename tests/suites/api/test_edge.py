"""What guards the edge: headers of all responses, deadlocks, metrics of requests, the reference."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import OperationalError
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.api import schema
from tenants import queries
from tenants.models import Tenant
from tests.suites.api.conftest import Cast, problem


def test_browsers_stay_on_https_and_use_no_devices(client: Client, settings: Settings) -> None:
    plain = client.get("/healthz")
    settings.PUBLIC_URL = "https://waypost.example"
    secured = client.get("/healthz")

    assert not plain.has_header("Strict-Transport-Security")
    assert secured["Strict-Transport-Security"] == "max-age=31536000"
    assert "camera=()" in plain["Permissions-Policy"]


def deadlocks(times: int) -> Iterator[None]:
    for _ in range(times):
        error = OperationalError("deadlock detected")
        error.__cause__ = psycopg.errors.DeadlockDetected("deadlock detected")
        raise error
    yield None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("times", "status"), [(1, 200), (2, 503)])
def test_a_deadlock_is_tried_again_once_and_named(
    cast: Cast, owner: APIClient, monkeypatch: pytest.MonkeyPatch, times: int, status: int
) -> None:
    really, left = queries.list_spaces, [times]

    def list_spaces(tenant: Tenant) -> object:
        if left[0]:
            left[0] -= 1
            next(deadlocks(1))
        return really(tenant)

    monkeypatch.setattr(queries, "list_spaces", list_spaces)

    answer = owner.get(cast.path("/address-spaces"))

    assert answer.status_code == status
    if status == 503:
        assert "gave way" in problem(answer, 503, "database.deadlock")["detail"]
        assert answer["Retry-After"] == "1"


def test_requests_are_counted_and_timed_by_route(
    cast: Cast, owner: APIClient, client: Client, settings: Settings
) -> None:
    settings.METRICS_TOKEN = "let-me-in"
    for name in ("a", "b", "c"):
        owner.get(cast.path(f"/address-spaces/{name}"))
    client.get("/api/v1/no/such/path")

    text = client.get("/metrics", headers={"Authorization": "Bearer let-me-in"}).content.decode()

    route = 'route="api/v1/tenants/<slug:tenant>/address-spaces/<str:space>"'
    series = f'waypost_http_requests_total{{method="GET",{route},status="4xx"}}'
    (counted,) = (line for line in text.splitlines() if line.startswith(series))
    assert float(counted.split()[-1]) >= 3  # one series for all names
    assert f"waypost_http_request_seconds_count{{{route}}}" in text
    assert 'route="none"' in text
    assert "no/such/path" not in text


def test_the_reference_comes_from_this_server(client: Client, db: None) -> None:
    answer = client.get("/api/docs")

    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'spec-url="/api/v1/openapi.json"' in page
    assert 'src="/static/drf_spectacular_sidecar/redoc/bundles/redoc.standalone.js"' in page
    assert "http" not in page.replace("https://", "http").split("<script")[1]
    assert "script-src 'self';" in answer["Content-Security-Policy"]


def test_operation_ids_are_identifiers_and_tags_are_described() -> None:
    document = schema.document()
    operations = [o for methods in document["paths"].values() for o in methods.values()]

    assert all(operation["operationId"].isidentifier() for operation in operations)
    used = {tag for operation in operations for tag in operation["tags"]}
    assert used == {tag["name"] for tag in document["tags"]}


def test_a_summary_that_makes_no_identifier_is_refused() -> None:
    with pytest.raises(ValueError, match="no identifier"):
        schema.describe("Pause, resume or roll back")
