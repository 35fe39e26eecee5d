"""Every list filters and sorts, has one shape, and refuses parameters that it does not know."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.api import schema
from controlplane.core import audit
from tenants.actions import addresses, messaging_users
from tenants.models import Address, AddressSpace
from tests.suites.api.conftest import Cast, problem

PARAMETERS = {"tenant": "acme", "space": "main", "address": "orders/new"}
MISSING = ("invoice", "back_test", "run", "reading")  # the scene has none
# Lists of what the scene has none of, or that cannot be made in it.
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
LOOSE_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")


@pytest.fixture
def scene(cast: Cast, space: AddressSpace, queue: Address) -> Cast:
    """A space with an address, a user and a token, and what their making has left behind."""
    messaging_users.create(
        space=space, name="app", password="long-enough-1", permissions=[], by=audit.SYSTEM
    )
    cast.token(cast.tenant)
    return cast


def lists() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield (path, query parameters) of every operation that answers with a page."""
    for path, methods in schema.document()["paths"].items():
        names = [p for p in methods.get("get", {}).get("parameters", []) if p["in"] == "query"]
        if "cursor" in {p["name"] for p in names}:
            yield path.format(**PARAMETERS, **dict.fromkeys(MISSING, "none")), names


LISTS = dict(lists())


def caller_of(cast: Cast, path: str) -> APIClient:
    return cast.call("staff" if "/staff/" in path else "owner")


def answered(client: APIClient, path: str, **query: str) -> Any:
    answer = client.get(path, query)
    # Lists below a row that the scene lacks; the tests of each of these resources make one.
    if "/none/" in path:
        assert answer.status_code == 404, (path, answer.content)
        assert answer.json()["code"].endswith("missing")
        return {"items": [], "next": None}
    assert answer.status_code == 200, (path, query, answer.content)
    return answer.json()


@pytest.mark.parametrize("path", LISTS)
def test_list_sorts_both_ways_and_filters_by_each_choice(scene: Cast, path: str) -> None:
    client = caller_of(scene, path)
    by_name = {parameter["name"]: parameter for parameter in LISTS[path]}

    for order in by_name["sort"]["schema"]["enum"]:
        there = answered(client, path, sort=order)["items"]
        back = answered(client, path, sort=f"-{order}".replace("--", ""))["items"]
        assert there == back[::-1], order
    for name, parameter in by_name.items():
        for value in parameter["schema"].get("enum", []):
            if name != "sort":
                rows = answered(client, path, **{name: value})["items"]
                assert all(row.get(name, value) == value for row in rows)


@pytest.mark.parametrize("path", LISTS)
def test_list_pages_in_every_order(scene: Cast, path: str) -> None:
    client = caller_of(scene, path)
    for order in next(p for p in LISTS[path] if p["name"] == "sort")["schema"]["enum"]:
        whole = answered(client, path, sort=order)["items"]
        found, following = [], f"{path}?limit=1&sort={order}"
        while following and "/none/" not in path:
            body = client.get(following).json()
            found += body["items"]
            following = body["next"]
        assert found == whole


@pytest.mark.parametrize("path", LISTS)
def test_list_refuses_what_it_does_not_know(scene: Cast, path: str) -> None:
    client = caller_of(scene, path)

    unknown = problem(client.get(path, {"foo": "1"}), 422, "query.unknown")
    twice = problem(client.get(f"{path}?limit=1&limit=2"), 422, "query.unknown")

    assert list(unknown["fields"]) == ["foo"]
    for parameter in LISTS[path]:
        assert parameter["name"] in unknown["detail"]
    assert list(twice["fields"]) == ["limit"]
    if "/none/" not in path:
        order = problem(client.get(path, {"sort": "color"}), 422, "request.invalid")
        assert list(order["fields"]) == ["sort"]


def test_most_lists_were_found() -> None:
    assert len(LISTS) >= 16


@pytest.mark.parametrize(
    ("path", "query", "expected"),
    [
        ("/address-spaces", {"phase": "Failed"}, []),
        ("/address-spaces", {"phase": "Pending", "type": "brokered"}, ["main"]),
        ("/address-spaces", {"search": "AI"}, ["main"]),
        ("/address-spaces", {"plan": "brokered-medium"}, []),
        ("/address-spaces/main/addresses", {"type": "queue"}, ["orders/new"]),
        ("/address-spaces/main/addresses", {"search": "nothing"}, []),
        ("/members", {"role": "owner"}, ["owner@a.test"]),
        ("/members", {"search": "view"}, ["viewer@a.test"]),
        ("/operations", {"kind": "address.create"}, ["orders/new"]),
        ("/operations", {"state": "Failed"}, []),
        ("/audit-events", {"action": "messaging_user.create"}, ["app"]),
        ("/audit-events", {"until": "2020-01-01T00:00:00Z"}, []),
    ],
)
def test_filters_select(
    scene: Cast, owner: APIClient, path: str, query: dict[str, str], expected: list[str]
) -> None:
    rows = owner.get(scene.path(path), query).json()["items"]

    names = ("name", "address", "email", "subject_name")
    assert [next(row[name] for name in names if name in row) for row in rows] == expected


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/address-spaces", {"phase": "Broken"}),
        ("/address-spaces", {"search": "a\x00"}),
        ("/address-spaces", {"plan": "x" * 300}),
        ("/audit-events", {"since": "yesterday"}),
    ],
)
def test_wrong_filter_is_named(
    scene: Cast, owner: APIClient, path: str, query: dict[str, str]
) -> None:
    body = problem(owner.get(scene.path(path), query), 422, "request.invalid")

    assert list(body["fields"]) == list(query)


def test_cursor_of_another_order_is_refused(
    cast: Cast, owner: APIClient, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    make_spaces(cast.tenant, 3)
    following = owner.get(cast.path("/address-spaces?limit=1")).json()["next"]

    problem(owner.get(f"{following}&sort=-name"), 400, "cursor.invalid")


def test_operation_without_parameters_refuses_all(scene: Cast, owner: APIClient) -> None:
    refused = owner.delete(scene.path("/address-spaces/main/addresses/orders/new?force=1"))

    assert "force" in problem(refused, 422, "query.unknown")["fields"]
    assert not Address.objects.filter(deletion_requested_at__isnull=False).exists()


def texts(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, except in documents of invoices."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, part in value.items():
            if name != "document":
                yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def test_every_time_has_one_form(scene: Cast, owner: APIClient, space: AddressSpace) -> None:
    condition = {"type": "Ready", "status": "True", "reason": "R", "message": "M"}
    since = {"since": "2026-01-01T00:00:00+00:00"}
    AddressSpace.objects.update(conditions=[{**condition, **since}])
    Address.objects.update(conditions=[{**condition, **since}])
    rest = ["/address-spaces/main", "/plan-subscription", "/usage", "/invoices/preview", "/quotas"]

    found = []
    for path in [*LISTS, *(scene.path(path) for path in rest)]:
        answer = caller_of(scene, path).get(path)
        found += [text for text in texts(answer.json()) if LOOSE_INSTANT.match(text)]

    assert len(found) > 20
    assert [text for text in found if not INSTANT.fullmatch(text)] == []


def test_addresses_page_by_the_plan_of_two_spaces(
    scene: Cast, owner: APIClient, space: AddressSpace
) -> None:
    addresses.create(
        space=space,
        address="events",
        type="topic",
        address_plan="brokered-small-topic",
        by=audit.SYSTEM,
    )

    rows = owner.get(scene.path("/address-spaces/main/addresses?sort=-type")).json()["items"]

    assert [row["type"] for row in rows] == ["topic", "queue"]
