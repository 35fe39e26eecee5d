"""Every PUT and PATCH says which state it changes: 428 without, 412 if stale, 400 if malformed."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.api import person_tokens, schema
from controlplane.core.audit import SYSTEM
from tenants.actions import identity_providers, messaging_users, spend_caps
from tenants.models import Address, AddressSpace
from tests.suites.api.conftest import Cast, problem
from tests.support.notifications import notified

OVERRIDE = "/staff/tenants/acme/quotas/spaces"
PROVIDER: dict[str, Any] = {
    "issuer": "https://login.acme.example",
    "client_id": "waypost",
    "client_secret": "the-secret-of-the-client",
    "domains": ["acme.example"],
    "default_role": "viewer",
}
# The path, below the tenant unless it is one for staff -> a change.
BODIES = {
    "/billing-details": {
        "billing_name": "Acme Ltd",
        "billing_email": "a@a.test",
        "billing_address": "1 Street",
        "billing_country": "DE",
    },
    "/plan-subscription": {"plan": "team"},
    "/spend-cap": {"amount_minor": 6000, "action": "notify"},
    "/maintenance-windows": {"windows": [{"weekday": 1, "starts_at": "02:00", "minutes": 60}]},
    "/members/viewer@a.test": {"role": "developer"},
    "/address-spaces/main": {"plan": "brokered-medium"},
    "/address-spaces/main/addresses/orders/new": {
        "type": "queue",
        "plan": "brokered-small-queue",
        "message_ttl_ms": 1000,
    },
    "/address-spaces/main/users/app": {"permissions": []},
    "/address-spaces/main/alarms/alm_one": {"threshold": 7},
    "/notification-channels/chn_one": {"name": "other"},
    "/notification-preferences": {"budget_minor": 500},
    "/notification-preferences/me": {"choices": {"alarm.raised": False}},
    "/identity-provider": {**PROVIDER, "default_role": "developer"},
    "/staff/tenants/acme/identity-provider": {**PROVIDER, "default_role": "billing"},
    OVERRIDE: {"amount": 300, "reason": "launch"},
}


@pytest.fixture
def scene(cast: Cast, space: AddressSpace, queue: Address) -> Cast:
    """One of every resource that can be changed."""
    messaging_users.create(
        space=space, name="app", password="long-enough-1", permissions=[], by=SYSTEM
    )
    spend_caps.set_cap(tenant=cast.tenant, amount_minor=5000, action="notify", by=SYSTEM)
    notified.alarm(queue, id="alm_one")
    notified.webhook(cast.tenant, id="chn_one")
    wish = identity_providers.Wish(**PROVIDER)
    identity_providers.save(tenant=cast.tenant, wish=wish, by=SYSTEM)
    body = {"amount": 250, "reason": "first"}
    cast.call("staff").put(path_of(cast, OVERRIDE), body, headers={"If-None-Match": "*"})
    return cast


def changeable() -> Iterator[str]:
    for path, methods in schema.document()["paths"].items():
        if {"put", "patch"} & set(methods):
            yield path


def who_changes(name: str) -> str:
    return "staff" if name.startswith("/staff/") else "owner"


def path_of(cast: Cast, name: str) -> str:
    return f"/api/v1{name}" if who_changes(name) == "staff" else cast.path(name)


def send(cast: Cast, name: str, headers: dict[str, str]) -> Any:
    """Send the change with exactly these conditions: a plain client adds none."""
    person = cast.people[who_changes(name)]
    token = person_tokens.issue(person, timezone.now())[0]
    is_patched = name == "/address-spaces/main" or name.startswith("/notification-")
    method = "patch" if is_patched else "put"
    sent = {"Authorization": f"Bearer {token}", **headers}
    return getattr(APIClient(), method)(
        path_of(cast, name), BODIES[name], format="json", headers=sent
    )


def read(cast: Cast, name: str) -> str:
    answer = cast.call(who_changes(name)).get(path_of(cast, name))
    assert answer.status_code == 200, answer.content
    return str(answer["ETag"])


def test_every_operation_that_changes_is_in_the_table() -> None:
    assert len(list(changeable())) == len(BODIES)


@pytest.mark.parametrize("name", BODIES)
def test_change_needs_the_present_tag(scene: Cast, name: str) -> None:
    first = read(scene, name)

    problem(send(scene, name, {}), 428, "if_match.missing")
    problem(send(scene, name, {"If-Match": "7"}), 400, "if_match.malformed")
    problem(send(scene, name, {"If-Match": '"other"'}), 412, "generation.changed")
    problem(send(scene, name, {"If-Match": f"W/{first}"}), 412, "generation.changed")
    problem(send(scene, name, {"If-None-Match": "*"}), 412, "generation.changed")
    assert read(scene, name) == first  # nothing has changed
    changed = send(scene, name, {"If-Match": f'"other", {first}'})
    assert changed.status_code in (200, 202), changed.content
    assert read(scene, name) != first
    problem(send(scene, name, {"If-Match": first}), 412, "generation.changed")


@pytest.mark.parametrize("name", BODIES)
def test_star_changes_any_state(scene: Cast, name: str) -> None:
    assert send(scene, name, {"If-Match": "*"}).status_code in (200, 202)


def test_missing_override_is_created_only_on_request(scene: Cast, staff: APIClient) -> None:
    path = path_of(scene, OVERRIDE.replace("spaces", "brokers"))
    body = {"amount": 300, "reason": "launch"}

    problem(staff.get(path), 404, "quota_override.missing")
    problem(staff.put(path, body, headers={"If-Match": "*"}), 412, "generation.changed")
    made = staff.put(path, body, headers={"If-None-Match": "*"})

    assert (made.status_code, made["ETag"]) == (200, staff.get(path)["ETag"])


@pytest.mark.parametrize("tag", ["xxxx", '"1', "1", '"1" "2"', "W/1", ""])
def test_malformed_condition_never_counts_as_none(scene: Cast, owner: APIClient, tag: str) -> None:
    path = scene.path("/address-spaces/main/addresses/orders/new")

    problem(owner.delete(path, headers={"If-Match": tag}), 400, "if_match.malformed")
    assert not Address.objects.filter(deletion_requested_at__isnull=False).exists()
