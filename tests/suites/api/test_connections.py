"""Connections: listed to members only, filtered, in pages; closed by those who may, with audit."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent, Operation
from tenants.actions import messaging_users
from tenants.models import AddressSpace, ClientConnection, Disconnection
from tests.suites.api.conftest import Cast, problem
from workers.messaging.observed import ConnectionSeen, InstanceSnapshot
from workers.metering import connection_lists

PATH = "/address-spaces/main/connections"
AS_OF = datetime(2026, 11, 23, 10, tzinfo=UTC)


def seen(number: int, user: str, *addresses: str, sent: int = 0) -> ConnectionSeen:
    return ConnectionSeen(
        f"c{number:04}", user, "app", "10.0.0.1:5", "AMQP", addresses=addresses, sent=sent
    )


def store(
    space: AddressSpace,
    *connections: ConnectionSeen,
    instance: str = "broker-0",
    seconds: int = 0,
    boot: str = "boot-1",
) -> None:
    """Store a list that was read ``seconds`` after ``AS_OF``."""
    snapshots = {instance: InstanceSnapshot(boot, (), connections, 0)}
    as_of = AS_OF + timedelta(seconds=seconds)
    connection_lists.store(space.id, snapshots, existing=snapshots, as_of=as_of)


@pytest.fixture
def listed(space: AddressSpace) -> AddressSpace:
    store(space, seen(1, "alice", "orders"), seen(2, "alice"), seen(3, "bob", "orders", "news"))
    return space


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["c0001", "c0002", "c0003"]),
        ("?user=alice", ["c0001", "c0002"]),
        ("?address=orders", ["c0001", "c0003"]),
        ("?user=bob&address=other", []),
    ],
)
def test_list_is_filtered(
    cast: Cast, owner: APIClient, listed: AddressSpace, query: str, ids: list[str]
) -> None:
    answer = owner.get(cast.path(PATH + query)).json()

    assert [item["id"] for item in answer["items"]] == [f"broker-0.{name}" for name in ids]
    assert answer["instances"][0] | {"as_of": ""} == {
        "instance": "broker-0",
        "as_of": "",
        "total": 3,
        "listed": 3,
    }


def test_list_is_bounded_in_pages_and_its_total_is_right(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    store(space, *(seen(number, "alice") for number in range(1005)))
    owner.get(cast.path(PATH))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        first = owner.get(cast.path(PATH + "?limit=400")).json()
    second = owner.get(first["next"]).json()
    third = owner.get(second["next"]).json()

    assert [len(page["items"]) for page in (first, second, third)] == [400, 400, 200]
    assert third["next"] is None
    assert (first["instances"][0]["total"], first["instances"][0]["listed"]) == (1005, 1000)
    assert len(queries) <= 6


def test_next_cycle_takes_one_statement_and_forgets_what_ended(listed: AddressSpace) -> None:
    kept = ClientConnection.objects.get(name="broker-0.c0001")
    store(listed, seen(9, "eve"), instance="broker-7")  # and broker-0 does not exist any more
    gone = list(ClientConnection.objects.values_list("name", flat=True))
    store(listed, seen(1, "alice", "orders"), seen(2, "alice", sent=4))
    with CaptureQueriesContext(connection) as queries:
        store(listed, seen(1, "alice", "orders", sent=2))

    assert len(queries) == 1
    assert gone == ["broker-7.c0009"]
    row = ClientConnection.objects.get()
    assert (row.name, row.sent, row.messaging_user) == (kept.name, 2, "alice")


def test_product_and_tls_are_shown_once_they_are_known(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    def shown() -> list[tuple[str, str]]:
        rows = owner.get(cast.path(PATH)).json()["items"]
        return [(row["product"], row["tls"]) for row in rows]

    for seconds in (0, 3, 6):  # from the second reading on, nothing but product and TLS changes
        store(space, seen(1, "alice"), seconds=seconds)
    before = shown()
    store(space, replace(seen(1, "alice"), product="rhea 3.0.2", tls="TLSv1.3 TLS_AES"), seconds=9)

    assert before == [("", "")]
    assert shown() == [("rhea 3.0.2", "TLSv1.3 TLS_AES")]


def test_others_see_and_close_nothing(cast: Cast, listed: AddressSpace) -> None:
    outsider, viewer = cast.call("outsider"), cast.call("viewer")
    body = {"ids": ["broker-0.c0001"]}

    assert outsider.get(cast.path(PATH)).status_code == 404
    assert outsider.post(cast.path(PATH + "/close"), body).status_code == 404
    assert viewer.get(cast.path(PATH)).status_code == 200
    problem(viewer.post(cast.path(PATH + "/close"), body), 403, "denied")
    assert not Disconnection.objects.exists()


def test_ids_of_another_space_are_none_of_this_one(
    cast: Cast, owner: APIClient, space: AddressSpace, listed: AddressSpace
) -> None:
    other = AddressSpace.objects.create(
        tenant=space.tenant, name="second", type="brokered", space_plan=space.space_plan
    )
    path = cast.path(f"/address-spaces/{other.name}/connections/close")

    problem(owner.post(path, {"ids": ["broker-0.c0001"]}), 404, "connections.missing")


def test_close_begins_an_operation_and_is_audited(
    cast: Cast, owner: APIClient, listed: AddressSpace
) -> None:
    answer = owner.post(cast.path(PATH + "/close"), {"ids": ["broker-0.c0001", "broker-0.gone"]})

    assert answer.status_code == 202
    made = Disconnection.objects.get()
    assert made.targets == [{"instance": "broker-0", "boot_id": "boot-1", "id": "c0001"}]
    operation = Operation.objects.get(subject_id=made.pk)
    assert (operation.kind, operation.state) == ("connections.close", "Running")
    event = AuditEvent.objects.get(action="connections.close")
    assert event.after == {"space": "main", "connections": 1, "ids": ["broker-0.c0001"]}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "connections.invalid"),
        ({"ids": ["broker-0.c0001"], "user": "alice"}, 422, "connections.invalid"),
        ({"ids": ["broker-0.gone"]}, 404, "connections.missing"),
        ({"user": "nobody"}, 404, "messaging_user.missing"),
    ],
)
def test_refused_requests_say_why(
    cast: Cast, owner: APIClient, listed: AddressSpace, body: object, status: int, code: str
) -> None:
    problem(owner.post(cast.path(PATH + "/close"), body), status, code)


def test_all_of_a_user_are_closed_by_name(
    cast: Cast, owner: APIClient, listed: AddressSpace
) -> None:
    messaging_users.create(
        space=listed, name="alice", password="long-enough", permissions=[], by=SYSTEM
    )

    assert owner.post(cast.path(PATH + "/close"), {"user": "alice"}).status_code == 202
    assert Disconnection.objects.get().messaging_user == "alice"


def rates(space: AddressSpace) -> list[float | None]:
    rows = ClientConnection.objects.filter(space=space).order_by("name")
    return [row.sent_per_second for row in rows]


def test_rates_are_between_two_readings_of_one_incarnation(space: AddressSpace) -> None:
    store(space, seen(1, "alice", sent=100))
    first = rates(space)
    store(space, seen(1, "alice", sent=150), seen(2, "alice", sent=9), seconds=10)
    grown = rates(space)
    store(space, seen(1, "alice", sent=150), seen(2, "alice", sent=8), seconds=20)
    idle_and_shrunk = rates(space)
    store(space, seen(1, "alice", sent=900), seconds=30, boot="boot-2")

    assert first == [None]
    assert grown == [5.0, None]
    assert idle_and_shrunk == [0.0, None]
    assert rates(space) == [None]


def test_a_user_shows_what_its_connections_add_up_to(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    for name in ("alice", "bob"):
        messaging_users.create(
            space=space, name=name, password="correct-horse-8", permissions=[], by=SYSTEM
        )
    for seconds in (0, 10):
        both = [seen(number, "alice", sent=20 * seconds) for number in (1, 2)]
        store(space, *both, seconds=seconds)

    listed = owner.get(cast.path("/address-spaces/main/users")).json()["items"]
    shown = cast.call("developer").get(cast.path("/address-spaces/main/users/alice")).json()

    none = {
        "connections": 0,
        "links": 0,
        "sent_per_second": None,
        "received_per_second": None,
    }
    assert shown["live"] == {**none, "connections": 2, "sent_per_second": 40.0}
    assert [row["live"] for row in listed] == [shown["live"], none]
    refused = cast.call("outsider").get(cast.path("/address-spaces/main/users/alice"))
    assert refused.status_code == 404
