"""The OpenAPI document: valid 3.1, the same as the committed one, complete."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.validation import validate_schema
from rest_framework.test import APIClient

from controlplane.api import error_codes, idempotency, schema, urls
from controlplane.api.staff_payments import StaffRefundsView
from plans.models import QuotaOverride
from tenants.models import Address
from tests.suites.api.conftest import Cast
from tests.support.source_tree import ROOT

COMMITTED = ROOT / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return schema.document()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (name, operation) of every operation."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_served_document_is_the_committed_one(client: Client) -> None:
    served = client.get("/api/v1/openapi.json").json()

    assert served == json.loads(COMMITTED.read_text()), "run `make openapi` and commit the result"


def test_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    validate_schema(document)


def test_every_operation_is_named_described_and_lists_refusals(document: dict[str, Any]) -> None:
    found = dict(operations(document))
    names = [operation["operationId"] for operation in found.values()]

    assert len(set(names)) == len(names)
    for name, operation in found.items():
        assert operation["summary"], name
        assert operation["description"], name
        assert {"400", "500", "503"} <= set(operation["responses"]), name
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], name


def test_tenants_operations_list_401_403_and_404(document: dict[str, Any]) -> None:
    of_tenants = {
        name: operation for name, operation in operations(document) if "/tenants/{tenant}" in name
    }

    assert of_tenants
    for name, operation in of_tenants.items():
        assert {"401", "403", "404"} <= set(operation["responses"]), name


def test_every_change_of_desired_state_takes_its_headers(document: dict[str, Any]) -> None:
    headers = {
        name: {p["name"] for p in operation.get("parameters", []) if p["in"] == "header"}
        for name, operation in operations(document)
        if "/address-spaces" in name and "{tenant}" in name
    }
    changes = {
        name: found
        for name, found in headers.items()
        if name.startswith(("put", "patch", "delete"))
    }

    assert changes
    # A PUT of an address also creates it.
    both = {"If-Match", "If-None-Match"}
    assert {
        name: both if name.startswith("put") and "/addresses/" in name else {"If-Match"}
        for name in changes
    } == changes


def test_every_post_but_the_login_takes_an_idempotency_key(document: dict[str, Any]) -> None:
    """``Api.post`` of the REST client repeats requests, so it relies on that."""
    keyless = {
        name
        for name, operation in operations(document)
        if name.startswith("post ")
        and "Idempotency-Key" not in {p["name"] for p in operation.get("parameters", [])}
    }

    assert keyless == {"post /api/v1/session", "post /api/v1/session/device"}


def test_views_that_document_the_key_honor_it_and_no_others() -> None:
    views: list[Any] = [getattr(one.callback, "view_class", None) for one in urls.urlpatterns]
    posts = {view.__name__: view.post for view in views if hasattr(view, "post")}

    assert len(posts) > 10
    # The wrapper that ``idempotent`` returns is a function of that module.
    undecorated = {n for n, post in posts.items() if post.__globals__ is not vars(idempotency)}
    assert undecorated == {"SessionView", "DeviceSessionView", "StaffRefundsView"}
    # A refund is booked under the key, and then sent outside that transaction.
    assert StaffRefundsView._book.__globals__ is vars(idempotency)


def test_operations_list_slow_bodies_and_the_limit_of_requests(document: dict[str, Any]) -> None:
    found = dict(operations(document))

    slow = {name for name, operation in found.items() if "408" in operation["responses"]}
    limited = {name for name, operation in found.items() if "429" in operation["responses"]}
    assert slow == {name for name, operation in found.items() if "requestBody" in operation}
    assert limited == set(found)


def test_every_error_code_is_in_the_document(document: dict[str, Any]) -> None:
    text = document["components"]["schemas"]["Problem"]["description"]

    for entry in error_codes.CODES:
        assert f"`{entry.code}` ({entry.status})" in text


def test_facts_of_an_error_are_described_as_members_of_the_problem(
    cast: Cast, owner: APIClient, document: dict[str, Any]
) -> None:
    wanted = {"name": "two", "type": "brokered", "plan": "brokered-small"}
    QuotaOverride.objects.create(
        tenant=cast.tenant, resource="spaces", amount=0, reason="test", set_by="test"
    )
    answer = owner.post(cast.path("/address-spaces"), wanted).json()

    described = document["components"]["schemas"]["Problem"]
    assert (answer["code"], answer["limit"], answer["fields"]) == ("quota_exceeded", 0, {})
    assert "`limit`" in described["description"]
    assert "`incident`" in described["description"]
    assert "limit" not in described["properties"]["fields"]["description"]


@pytest.mark.parametrize(
    ("schema_name", "type_"), [("Session", "string"), ("SignedUp", ["string", "null"])]
)
def test_only_a_repeated_sign_up_has_no_token(
    document: dict[str, Any], schema_name: str, type_: object
) -> None:
    assert document["components"]["schemas"][schema_name]["properties"]["token"]["type"] == type_


@pytest.mark.parametrize(
    ("column", "causes"),
    [
        ("send_withdrawn", {"quota", "unpaid", "suspended", "closed"}),
        ("connections_refused", {"quota", "unpaid"}),
    ],
)
def test_restrictions_of_a_space_name_all_their_causes(
    document: dict[str, Any], column: str, causes: set[str]
) -> None:
    shown = document["components"]["schemas"]["AddressSpace"]["properties"][column]

    words = {"quota", "unpaid", "suspended", "closed"}
    assert {word for word in words if word in shown["description"]} == causes


def test_real_answers_fit_the_document(
    cast: Cast, owner: APIClient, queue: Address, document: dict[str, Any]
) -> None:
    import jsonschema

    for path, template in (
        ("", "/api/v1/tenants/{tenant}"),
        ("/address-spaces/main", "/api/v1/tenants/{tenant}/address-spaces/{space}"),
        ("/address-spaces", "/api/v1/tenants/{tenant}/address-spaces"),
        (
            "/address-spaces/main/addresses",
            "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses",
        ),
        ("/operations", "/api/v1/tenants/{tenant}/operations"),
        ("/quotas", "/api/v1/tenants/{tenant}/quotas"),
        ("/members", "/api/v1/tenants/{tenant}/members"),
        ("/audit-events", "/api/v1/tenants/{tenant}/audit-events"),
        ("/usage", "/api/v1/tenants/{tenant}/usage"),
        ("/invoices/preview", "/api/v1/tenants/{tenant}/invoices/preview"),
    ):
        answer = owner.get(cast.path(path))
        described = document["paths"][template]["get"]["responses"]["200"]
        wanted = described["content"]["application/json"]["schema"]
        rooted = {**wanted, "components": document["components"]}

        assert answer.status_code == 200, answer.content
        jsonschema.validate(answer.json(), rooted, jsonschema.Draft202012Validator)
