"""Spaces, addresses and messaging users: create, read, change by full spec, delete."""

from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent, Operation
from plans.models import SpacePlan
from tenants.actions import messaging_users
from tenants.models import Address, AddressSpace, MessagingUser, User
from tests.suites.api.conftest import Cast, problem
from tests.support import domain

SPACES = "/address-spaces"
MAIN = "/address-spaces/main"
NEW = {"If-None-Match": "*"}
QUEUE = {"type": "queue", "plan": "brokered-small-queue"}
GRANT = [{"addresses": ["orders/#"], "operations": ["send", "recv"]}]


def test_created_space_answers_202_with_where_to_look(cast: Cast, owner: APIClient) -> None:
    wish = {"name": "main", "type": "brokered", "plan": "brokered-small"}

    answer = owner.post(cast.path(SPACES), wish)

    assert answer.status_code == 202
    operation = owner.get(answer["Location"]).json()
    assert operation == answer.json()
    assert (operation["kind"], operation["state"]) == ("address_space.create", "Running")
    assert operation["subject_name"] == "main"
    row = AddressSpace.objects.get()
    assert (row.tenant, row.type, row.space_plan.key) == (cast.tenant, "brokered", "brokered-small")
    assert AuditEvent.objects.get(action="address_space.create").actor == "user:owner@a.test"


def test_token_acts_in_its_own_name(cast: Cast) -> None:
    cast.call("token").post(
        cast.path(SPACES), {"name": "main", "type": "brokered", "plan": "brokered-small"}
    )

    event = AuditEvent.objects.get(action="address_space.create")
    assert event.actor.startswith("token:wp_")
    assert event.source_ip == "127.0.0.1"


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"name": "Not Legal"}, 422, "address_space.invalid"),
        ({"type": "magic"}, 422, "request.invalid"),
        ({"plan": "gold"}, 422, "space_plan.unknown"),
        ({"plan": "standard-small"}, 422, "address_space.plan_mismatch"),
        ({"name": "main"}, 409, "address_space.exists"),
        ({"size": 3}, 422, "request.invalid"),
    ],
)
def test_wrong_space_is_refused_and_nothing_is_made(
    cast: Cast,
    owner: APIClient,
    space: AddressSpace,
    changes: dict[str, Any],
    status: int,
    code: str,
) -> None:
    wish = {"name": "second", "type": "brokered", "plan": "brokered-small", **changes}

    answer = owner.post(cast.path(SPACES), wish)

    problem(answer, status, code)
    assert AddressSpace.objects.count() == 1


def test_an_unknown_type_is_refused_with_those_that_are_known(cast: Cast, owner: APIClient) -> None:
    wish = {"name": "main", "type": "magic", "plan": "brokered-small"}

    body = problem(owner.post(cast.path(SPACES), wish), 422, "request.invalid")

    assert body["fields"] == {"type": ['"magic" is none of: standard, brokered.']}


def test_standard_space_is_refused_where_no_routers_can_run(
    cast: Cast, owner: APIClient, settings: Settings
) -> None:
    settings.STANDARD_SPACES_OFFERED = False
    wish = {"name": "main", "type": "standard", "plan": "standard-small"}

    body = problem(owner.post(cast.path(SPACES), wish), 403, "space_type.not_offered")

    assert "`router.image`" in body["detail"]
    assert AddressSpace.objects.count() == 0


def test_space_shows_wish_observation_and_endpoints(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    space.endpoints.create(
        name="amqps", protocol="amqps", host="127.0.0.1", port=5671, certificate_pem="PEM"
    )
    when = "2026-01-01T01:00:00+01:00"
    condition = {"type": "Ready", "status": "True", "reason": "R", "message": "M", "since": when}
    AddressSpace.objects.update(phase="Active", observed_generation=1, conditions=[condition])

    answer = owner.get(cast.path(MAIN))

    body = answer.json()
    assert answer["ETag"] == '"1"'
    assert (body["name"], body["plan"], body["phase"]) == ("main", "brokered-small", "Active")
    shown = {**condition, "detail": "", "since": "2026-01-01T00:00:00.000000Z"}
    assert body["conditions"] == [shown]  # the detail is for staff
    assert body["endpoints"][0]["port"] == 5671


def test_changed_plan_answers_202_and_is_wished(
    cast: Cast, owner: APIClient, space: AddressSpace, queue: Address
) -> None:
    answer = owner.patch(cast.path(MAIN), {"plan": "brokered-medium"})

    assert answer.status_code == 202
    assert answer.json()["kind"] == "address_space.change_plan"
    assert answer.json()["restarts"] == ["broker-0"]
    shown = owner.get(cast.path(MAIN))
    assert (shown.json()["plan"], shown["ETag"]) == ("brokered-medium", '"2"')
    event = AuditEvent.objects.get(action="address_space.change_plan")
    assert (event.actor, event.source_ip) == ("user:owner@a.test", "127.0.0.1")


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({}, 422, "request.invalid"),
        ({"plan": "gold"}, 422, "space_plan.unknown"),
        ({"plan": "standard-medium"}, 422, "address_space.plan_mismatch"),
        ({"plan": "brokered-medium", "type": "standard"}, 422, "request.invalid"),
    ],
)
def test_wrong_plan_is_refused_and_nothing_changes(
    cast: Cast,
    owner: APIClient,
    space: AddressSpace,
    change: dict[str, Any],
    status: int,
    code: str,
) -> None:
    problem(owner.patch(cast.path(MAIN), change), status, code)

    assert AddressSpace.objects.get().generation == 1


def test_plan_too_small_says_what_is_too_much(
    cast: Cast, owner: APIClient, space: AddressSpace, queue: Address
) -> None:
    owner.patch(cast.path(MAIN), {"plan": "brokered-medium"})
    small = SpacePlan.objects.get(key="brokered-small")
    SpacePlan.objects.filter(pk=small.pk).update(
        definition={**small.definition, "max_addresses": 0}
    )

    answer = owner.patch(cast.path(MAIN), {"plan": "brokered-small"})

    fields = problem(answer, 409, "space_plan.too_small")
    assert fields["addresses"] == ["1 in use, 0 allowed."]


def test_plan_of_a_space_that_changed_since_is_412(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    change = {"plan": "brokered-medium"}

    first = owner.patch(cast.path(MAIN), change, headers={"If-Match": '"1"'})
    second = owner.patch(cast.path(MAIN), change, headers={"If-Match": '"1"'})

    assert first.status_code == 202
    problem(second, 412, "generation.changed")


def test_deleted_space_is_terminating_until_it_is_gone(
    cast: Cast, owner: APIClient, space: AddressSpace, queue: Address
) -> None:
    answer = owner.delete(cast.path(MAIN))

    assert answer.status_code == 202
    assert owner.get(cast.path(MAIN)).json()["phase"] == "Terminating"
    problem(
        owner.post(cast.path(f"{MAIN}/addresses"), {"address": "x", **QUEUE}),
        409,
        "address_space.terminating",
    )


def test_same_name_in_another_tenant_is_another_space(cast: Cast, space: AddressSpace) -> None:
    outsider = cast.call("outsider")

    answer = outsider.post(
        "/api/v1/tenants/other/address-spaces",
        {"name": "main", "type": "brokered", "plan": "brokered-small"},
    )

    assert answer.status_code == 202
    assert AddressSpace.objects.filter(name="main").count() == 2


def test_address_with_slashes_and_odd_characters_is_found_by_its_path(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    name = "orders/eu-1/ä?%&=;,'\"(x)"
    owner.post(cast.path(f"{MAIN}/addresses"), {"address": name, **QUEUE})

    answer = owner.get(cast.path(f"{MAIN}/addresses/{quote(name)}"))

    assert answer.json()["address"] == name


def test_put_creates_then_changes_then_does_nothing(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    path = cast.path(f"{MAIN}/addresses/orders/new")

    created = owner.put(path, {**QUEUE, "message_ttl_ms": 1000}, headers=NEW)
    same = owner.put(path, {**QUEUE, "message_ttl_ms": 1000})
    changed = owner.put(path, {**QUEUE, "max_delivery_attempts": 3})
    same_again = owner.put(path, {**QUEUE, "max_delivery_attempts": 3})

    assert [answer.status_code for answer in (created, same, changed, same_again)] == [
        202,
        200,
        202,
        200,
    ]
    assert (created.json()["restarts"], changed.json()["restarts"]) == (None, [])
    row = Address.objects.get()
    assert (row.settings, row.generation) == (AddressSettings(max_delivery_attempts=3), 2)
    assert same_again["ETag"] == '"2"'
    assert Operation.objects.filter(subject_type="address").count() == 2


def test_put_by_full_spec_unsets_what_is_left_out_and_keeps_zero(
    cast: Cast, owner: APIClient, queue: Address
) -> None:
    path = cast.path(f"{MAIN}/addresses/orders/new")
    owner.put(path, {**QUEUE, "redelivery_delay_ms": 0, "message_ttl_ms": 5})
    before = owner.get(path).json()

    owner.put(path, QUEUE)
    after = owner.get(path).json()

    assert (before["message_ttl_ms"], before["redelivery_delay_ms"]) == (5, 0)
    assert (after["message_ttl_ms"], after["redelivery_delay_ms"]) == (None, None)


@pytest.mark.parametrize(
    "changes",
    [{"type": "topic", "plan": "brokered-small-topic"}, {"plan": "brokered-medium-queue"}],
)
def test_put_refuses_what_is_fixed_at_creation(
    cast: Cast, owner: APIClient, queue: Address, changes: dict[str, str]
) -> None:
    answer = owner.put(cast.path(f"{MAIN}/addresses/orders/new"), {**QUEUE, **changes})

    problem(answer, 409, "address.fixed_at_creation")
    queue.refresh_from_db()
    assert queue.generation == 1


def test_subscription_names_its_topic(cast: Cast, owner: APIClient, space: AddressSpace) -> None:
    topic = {"type": "topic", "plan": "brokered-small-topic"}
    subscription = {"type": "subscription", "plan": "brokered-small-subscription", "topic": "news"}
    owner.put(cast.path(f"{MAIN}/addresses/news"), topic, headers=NEW)

    made = owner.put(cast.path(f"{MAIN}/addresses/mine"), subscription, headers=NEW)
    same = owner.put(cast.path(f"{MAIN}/addresses/mine"), subscription)

    assert (made.status_code, same.status_code) == (202, 200)
    assert same.json()["topic"] == "news"


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"address": "$cheat"}, 422, "address.invalid"),
        ({"address": "a::b"}, 422, "address.invalid"),
        ({"address": " padded "}, 422, "address.invalid"),
        ({"address": "orders/new"}, 409, "address.exists"),
        ({"plan": "gold"}, 422, "address_plan.unknown"),
        ({"plan": "standard-small-queue"}, 422, "address.plan_mismatch"),
        ({"type": "anycast"}, 422, "address.type_not_offered"),
        ({"message_ttl_ms": -1}, 422, "request.invalid"),
        ({"message_ttl_ms": 10**30}, 422, "request.invalid"),
        ({"max_delivery_attempts": 2**31}, 422, "request.invalid"),
        ({"max_delivery_attempts": 0}, 422, "address.invalid"),
        ({"message_ttl_ms": "soon"}, 422, "request.invalid"),
    ],
)
def test_wrong_address_is_refused_and_nothing_is_made(
    cast: Cast, owner: APIClient, queue: Address, changes: dict[str, Any], status: int, code: str
) -> None:
    answer = owner.post(cast.path(f"{MAIN}/addresses"), {"address": "x", **QUEUE, **changes})

    problem(answer, status, code)
    assert Address.objects.count() == 1


def test_deleting_an_address_twice_is_one_operation(
    cast: Cast, owner: APIClient, queue: Address
) -> None:
    first = owner.delete(cast.path(f"{MAIN}/addresses/orders/new"))
    second = owner.delete(cast.path(f"{MAIN}/addresses/orders/new"))

    assert first.json()["id"] == second.json()["id"]


@pytest.mark.parametrize("tag", ['"1"', "*", '"7", "1"'])
def test_matching_etag_lets_the_change_through(
    cast: Cast, owner: APIClient, queue: Address, tag: str
) -> None:
    answer = owner.put(
        cast.path(f"{MAIN}/addresses/orders/new"), {**QUEUE, "max_bytes": 10}, HTTP_IF_MATCH=tag
    )

    assert answer.status_code == 202


@pytest.mark.parametrize("tag", ['"2"', 'W/"1"', '"nonsense"', '""'])
def test_other_etag_is_412_and_changes_nothing(
    cast: Cast, owner: APIClient, queue: Address, space: AddressSpace, tag: str
) -> None:
    path = cast.path(f"{MAIN}/addresses/orders/new")

    put = owner.put(path, {**QUEUE, "max_bytes": 10}, HTTP_IF_MATCH=tag)
    delete = owner.delete(path, HTTP_IF_MATCH=tag)
    delete_space = owner.delete(cast.path(MAIN), HTTP_IF_MATCH=tag)

    assert problem(put, 412, "generation.changed")["generation"] == 1
    problem(delete, 412, "generation.changed")
    problem(delete_space, 412, "generation.changed")
    queue.refresh_from_db()
    assert queue.generation == 1


def test_etag_on_what_is_not_there_is_412(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    answer = owner.put(cast.path(f"{MAIN}/addresses/new"), QUEUE, HTTP_IF_MATCH="*")

    problem(answer, 412, "generation.changed")
    assert not Address.objects.exists()


def test_user_keeps_a_verifier_and_never_shows_it(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    wish = {"name": "app", "password": "a-secret-word", "permissions": GRANT}

    answer = owner.post(cast.path(f"{MAIN}/users"), wish)

    shown = owner.get(cast.path(f"{MAIN}/users/app"))
    row = MessagingUser.objects.get()
    assert answer.status_code == 202
    assert shown.json()["permissions"] == GRANT
    assert shown["ETag"] == '"1"'
    assert "a-secret-word" not in f"{row.verifiers} {AuditEvent.objects.values()} {shown.content}"
    assert "verifiers" not in shown.json()


def test_user_can_be_changed_and_revoked(cast: Cast, owner: APIClient, space: AddressSpace) -> None:
    path = cast.path(f"{MAIN}/users/app")
    owner.post(
        cast.path(f"{MAIN}/users"), {"name": "app", "password": "a-secret", "permissions": []}
    )
    before = MessagingUser.objects.get().verifiers

    granted = owner.put(path, {"permissions": GRANT})
    kept = MessagingUser.objects.get()
    new_password = owner.put(path, {"permissions": GRANT, "password": "another-secret"})
    stale = owner.delete(path, HTTP_IF_MATCH='"1"')
    revoked = owner.delete(path)

    assert (granted.status_code, kept.permissions, kept.verifiers) == (202, GRANT, before)
    assert new_password.status_code == 202
    assert MessagingUser.objects.get().verifiers != before
    problem(stale, 412, "generation.changed")
    assert (revoked.status_code, revoked.json()["kind"]) == (202, "messaging_user.revoke")


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"name": "Bad Name"}, 422, "messaging_user.invalid"),
        ({"password": "short"}, 422, "messaging_user.invalid"),
        (
            {"permissions": [{"addresses": ["a#"], "operations": ["send"]}]},
            422,
            "messaging_user.invalid",
        ),
        ({"permissions": [{"addresses": ["a"], "operations": []}]}, 422, "request.invalid"),
        ({"permissions": "all"}, 422, "request.invalid"),
        (
            {"permissions": [{"addresses": ["a"], "operations": ["send"], "x": 1}]},
            422,
            "request.invalid",
        ),
    ],
)
def test_wrong_user_is_refused_and_nothing_is_made(
    cast: Cast,
    owner: APIClient,
    space: AddressSpace,
    changes: dict[str, Any],
    status: int,
    code: str,
) -> None:
    wish = {"name": "app", "password": "long-enough", "permissions": GRANT, **changes}

    problem(owner.post(cast.path(f"{MAIN}/users"), wish), status, code)
    assert not MessagingUser.objects.exists()


def test_only_staff_read_what_the_platform_reports(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    words = {"type": "Ready", "status": "False", "reason": "BrokerDown", "message": "It is down."}
    detail = "broker-0: registry.internal.test does not have the image"
    space.conditions = [{**words, "since": "2026-11-23T00:00:00Z", "detail": detail}]
    space.save(update_fields=["conditions"])

    def found() -> tuple[str, str]:
        (condition,) = owner.get(cast.path(MAIN)).json()["conditions"]
        return condition["message"], condition["detail"]

    seen_by_member = found()
    User.objects.filter(username="owner@a.test").update(is_staff=True)

    assert seen_by_member == ("It is down.", "")
    assert found() == ("It is down.", detail)
    outsider = cast.call("outsider").get(cast.path(MAIN))
    assert (outsider.status_code, detail in outsider.content.decode()) == (404, False)


@pytest.mark.parametrize("kind", ["spaces", "addresses", "users"])
def test_lists_show_staff_the_detail_too_without_more_queries(
    cast: Cast, owner: APIClient, space: AddressSpace, kind: str
) -> None:
    words = {"type": "Ready", "status": "False", "reason": "BrokerDown", "message": "It is down."}
    condition = {**words, "since": "2026-11-23T00:00:00Z", "detail": "broker-0: no image"}
    path = {"spaces": "/address-spaces", "addresses": f"{MAIN}/addresses", "users": f"{MAIN}/users"}

    def more(name: str) -> None:
        row: AddressSpace | Address | MessagingUser = space
        if kind == "addresses":
            row = domain.address(space, name, "queue")
        elif kind == "users":
            row = messaging_users.create(
                space=space, name=name, password="correct-horse-8", permissions=[], by=SYSTEM
            )[0]
        row.conditions = [condition]
        row.save(update_fields=["conditions"])

    def details() -> set[str]:
        items = owner.get(cast.path(path[kind])).json()["items"]
        return {found["detail"] for item in items for found in item["conditions"]}

    more("first")
    seen_by_member = details()
    User.objects.filter(username="owner@a.test").update(is_staff=True)
    with CaptureQueriesContext(connection) as few:
        seen_by_staff = details()
    more("second")
    with CaptureQueriesContext(connection) as many:
        details()

    assert (seen_by_member, seen_by_staff) == ({""}, {"broker-0: no image"})
    assert len(many) == len(few)
    assert cast.call("outsider").get(cast.path(path[kind])).status_code == 404
