"""Many changes in one request: each item has its own result, and limits are documented."""

from rest_framework.test import APIClient

from controlplane.api import bulk, schema
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent, Operation
from tenants.actions import messaging_users
from tenants.models import Address, AddressSpace, MessagingUser
from tests.suites.api.conftest import Cast, problem

BULK = "/address-spaces/main/bulk"
QUEUE = {"type": "queue", "plan": "brokered-small-queue"}


def test_each_address_is_created_or_refused_by_itself(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    items = [
        {"address": "news", "type": "topic", "plan": "brokered-small-topic"},
        {"address": "$cheat", **QUEUE},
        {
            "address": "mine",
            "type": "subscription",
            "plan": "brokered-small-subscription",
            "topic": "news",
        },
        {"address": "news", **QUEUE},
        {"address": "typo", **QUEUE, "color": "red"},
    ]

    body = owner.post(cast.path(f"{BULK}/create-addresses"), {"items": items}).json()

    assert [(item["name"], item["status"]) for item in body["items"]] == [
        ("news", 202),
        ("$cheat", 422),
        ("mine", 202),
        ("news", 409),
        ("typo", 422),
    ]
    assert (body["n_accepted"], body["n_refused"], body["next"]) == (2, 3, None)
    codes = [item["problem"] and item["problem"]["code"] for item in body["items"]]
    assert codes == [None, "address.invalid", None, "address.exists", "request.invalid"]
    assert list(body["items"][4]["problem"]["fields"]) == ["color"]
    assert set(Address.objects.values_list("address", flat=True)) == {"news", "mine"}
    assert Operation.objects.filter(kind="address.create").count() == 2
    events = AuditEvent.objects.filter(action="address.create")
    assert set(events.values_list("actor", flat=True)) == {"user:owner@a.test"}


def test_many_addresses_and_users_go(
    cast: Cast, owner: APIClient, space: AddressSpace, queue: Address
) -> None:
    messaging_users.create(
        space=space, name="app", password="long-enough-1", permissions=[], by=SYSTEM
    )

    gone = owner.post(
        cast.path(f"{BULK}/delete-addresses"), {"names": ["orders/new", "none"]}
    ).json()
    revoked = owner.post(cast.path(f"{BULK}/revoke-users"), {"names": ["app", "none"]}).json()

    for body in (gone, revoked):
        assert [item["status"] for item in body["items"]] == [202, 404]
    assert Address.objects.get().deletion_requested_at is not None
    assert MessagingUser.objects.get().deletion_requested_at is not None


def test_addresses_go_before_those_that_they_name(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    plans = {"topic": "topic", "subscription": "subscription"}
    items = [
        {"address": "dead-letters", "type": "deadletter", "plan": "brokered-small-deadletter"},
        {"address": "orders", "dead_letter": "dead-letters", **QUEUE},
        *(
            {"address": name, "type": kind, "plan": f"brokered-small-{kind}", **more}
            for name, kind, more in (
                ("news", plans["topic"], {}),
                ("zz", plans["subscription"], {"topic": "news"}),
            )
        ),
    ]
    made = owner.post(cast.path(f"{BULK}/create-addresses"), {"items": items}).json()
    assert made["n_refused"] == 0, made
    names = ["dead-letters", "none", "news", "orders", "zz"]

    body = owner.post(cast.path(f"{BULK}/delete-addresses"), {"names": names}).json()

    assert [(item["name"], item["status"]) for item in body["items"]] == [
        (name, 404 if name == "none" else 202) for name in names
    ]


def test_repeated_bulk_request_changes_nothing_more(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    path, body = cast.path(f"{BULK}/create-addresses"), {"items": [{"address": "a", **QUEUE}]}

    first = owner.post(path, body, HTTP_IDEMPOTENCY_KEY="b1")
    second = owner.post(path, body, HTTP_IDEMPOTENCY_KEY="b1")

    assert first.json() == second.json()
    assert second["Idempotent-Replayed"] == "true"
    assert Address.objects.count() == 1


def test_limits_are_refused_and_documented(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    many = {"items": [{"address": f"q{i}", **QUEUE} for i in range(bulk.MOST_CREATED + 1)]}
    names = {"names": [f"q{i}" for i in range(bulk.MOST_DELETED + 1)]}

    for path, body in (("create-addresses", many), ("delete-addresses", names)):
        refused = owner.post(cast.path(f"{BULK}/{path}"), body)
        assert list(problem(refused, 422, "request.invalid")["fields"]) == list(body)
    assert not Address.objects.exists()
    schemas = schema.document()["components"]["schemas"]
    assert schemas["BulkAddressesRequest"]["properties"]["items"]["maxItems"] == 100
    assert schemas["BulkNamesRequest"]["properties"]["names"]["maxItems"] == 500
