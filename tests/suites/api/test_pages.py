"""Cursor pages: complete, ordered, stable, and as many queries for 1,000 rows as for 10."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient

from controlplane.core import audit, operations
from controlplane.core.models import AuditEvent, Operation
from tenants.models import AddressSpace
from tests.suites.api.conftest import Cast, problem


def walk(client: Client, path: str | None) -> list[list[dict[str, Any]]]:
    """Return the pages from ``path`` to the last."""
    pages = []
    while path:
        body = client.get(path).json()
        pages.append(body["items"])
        path = body["next"]
    return pages


def test_pages_hold_every_row_once_in_order(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 25)

    pages = walk(owner, cast.path("/address-spaces?limit=10"))

    assert [len(page) for page in pages] == [10, 10, 5]
    assert [row["name"] for page in pages for row in page] == [f"s{i:05}" for i in range(25)]


def test_exactly_full_page_is_the_last(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 10)

    assert [len(page) for page in walk(owner, cast.path("/address-spaces?limit=10"))] == [10]


def test_rows_that_come_and_go_do_not_shift_a_page(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 6)
    first = owner.get(cast.path("/address-spaces?limit=3")).json()
    AddressSpace.objects.filter(name="s00001").delete()
    AddressSpace.objects.filter(name="s00005").update(name="aaa")

    second = owner.get(first["next"]).json()

    assert [row["name"] for row in second["items"]] == ["s00003", "s00004"]


def test_next_keeps_the_other_parameters(
    cast: Cast, staff: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    answer = staff.get("/api/v1/staff/tenants?limit=1&search=e").json()

    assert answer["items"][0]["slug"] == "acme"
    assert "search=e" in answer["next"]
    assert staff.get(answer["next"]).json()["items"][0]["slug"] == "other"


def test_ties_in_time_are_broken_by_id(cast: Cast, owner: APIClient) -> None:
    for i in range(5):
        subject = ("address_space", f"s{i}", f"s{i}")
        operations.begin(
            tenant_id=cast.tenant.pk, kind="k", subject=subject, generation=1, by=audit.SYSTEM
        )
    Operation.objects.update(created_at="2026-01-01T00:00:00Z")

    pages = walk(owner, cast.path("/operations?limit=2"))

    ids = [row["id"] for page in pages for row in page]
    assert ids == sorted(ids, reverse=True)
    assert len(set(ids)) == 5


def test_people_and_audit_page_too(cast: Cast, owner: APIClient) -> None:
    subject = audit.Subject("t", "1", "", cast.tenant.pk)
    for _ in range(3):
        audit.record(audit.SYSTEM, "test", subject)

    people = walk(owner, cast.path("/members?limit=2"))
    events = walk(owner, cast.path("/audit-events?limit=2"))

    assert [row["role"] for page in people for row in page] == [
        "admin",
        "billing",
        "developer",
        "owner",
        "viewer",
    ]
    assert sum(map(len, events)) == AuditEvent.objects.filter(tenant_id=cast.tenant.pk).count()


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "x", "", "1e3", "٣", "9" * 30])
def test_wrong_limit_is_422(cast: Cast, owner: APIClient, limit: str) -> None:
    answer = owner.get(cast.path("/address-spaces"), {"limit": limit})

    assert list(problem(answer, 422, "request.invalid")["fields"]) == ["limit"]


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


WRONG_VALUES: list[list[Any]] = [
    [None],
    [{}],
    ["a\x00b"],
    ["\ud800"],
    ["a", "b", "c"],
    [1.5],
    [True],
]


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "!!!",
        "é",
        "null",
        encoded(None),
        encoded([]),
        encoded({}),
        encoded("s00001"),
        *(
            encoded([order, *values])
            for order in ("name", "-created_at")
            for values in WRONG_VALUES
        ),
        encoded(["created_at", "s00001"]),
        "W" * 100_000,
    ],
)
def test_cursor_of_somebody_else_is_400(cast: Cast, owner: APIClient, cursor: str) -> None:
    for path in ("/address-spaces", "/operations", "/tokens"):
        problem(owner.get(cast.path(path), {"cursor": cursor}), 400, "cursor.invalid")


@pytest.mark.parametrize(
    "when", ["yesterday", "2026-01-01T00:00:00", "2026-01-01", "9999-99-99T00:00:00Z", 5, ""]
)
def test_cursor_with_no_instant_is_400(cast: Cast, owner: APIClient, when: int | str) -> None:
    answer = owner.get(
        cast.path("/operations"), {"cursor": encoded(["-created_at", when, "opn_x"])}
    )

    problem(answer, 400, "cursor.invalid")


@pytest.mark.parametrize("number", [10**40, -(10**40), "many"])
def test_cursor_with_a_number_beyond_reason_breaks_nothing(
    cast: Cast, owner: APIClient, number: int | str
) -> None:
    answer = owner.get(
        cast.path("/audit-events"), {"cursor": encoded(["-at", "2026-01-01T00:00:00Z", number])}
    )

    assert answer.status_code in {200, 400}


@given(cursor=st.one_of(st.text(), st.binary().map(lambda b: base64.urlsafe_b64encode(b).decode())))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_cursor_breaks_the_server(cast: Cast, owner: APIClient, cursor: str) -> None:
    answer = owner.get(cast.path("/operations"), {"cursor": cursor})

    assert answer.status_code in ({200} if not cursor else {400})


def n_queries(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    assert answer.status_code == 200
    return len(queries)


def test_list_of_1000_spaces_costs_as_many_queries_as_of_10(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    path = cast.path("/address-spaces?limit=1000")
    make_spaces(cast.tenant, 10)
    owner.get(path)
    few = n_queries(owner, path)
    AddressSpace.objects.all().delete()
    make_spaces(cast.tenant, 1000)

    many = n_queries(owner, path)

    assert len(owner.get(path).json()["items"]) == 1000
    assert many == few
    assert many <= 8


@pytest.mark.parametrize("path", ["/staff/tenants", "/staff/invoices"])
def test_staff_lists_cost_a_constant_number_of_queries(
    cast: Cast, staff: APIClient, path: str
) -> None:
    from plans.models import Invoice
    from tenants.models import Tenant

    few = n_queries(staff, f"/api/v1{path}")
    made = Tenant.objects.bulk_create(Tenant(name=f"t{i}", slug=f"t{i}") for i in range(30))
    Invoice.objects.bulk_create(
        Invoice(tenant=row, starts_at="2026-01-01T00:00:00Z", ends_at="2026-02-01T00:00:00Z")
        for row in made
    )

    assert n_queries(staff, f"/api/v1{path}") <= few + 1  # a prefetch runs only with rows


def test_list_of_addresses_costs_a_constant_number_of_queries(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    (few_space,) = make_spaces(cast.tenant, 1, addresses_each=2)
    few = n_queries(owner, cast.path(f"/address-spaces/{few_space.name}/addresses"))
    few_space.addresses.all().delete()
    few_space.delete()
    (many_space,) = make_spaces(cast.tenant, 1, addresses_each=500)

    path = cast.path(f"/address-spaces/{many_space.name}/addresses?limit=1000")

    assert n_queries(owner, path) == few
