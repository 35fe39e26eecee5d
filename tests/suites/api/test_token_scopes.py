"""Tokens of programs that are limited to spaces and to permissions, and their lifetimes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from tenants.models import Address, AddressSpace, ApiToken
from tests.suites.api.conftest import Cast, bearer, problem

_NEW = {"If-None-Match": "*"}


def issued(cast: Cast, **changes: Any) -> dict[str, Any]:
    body = {"name": "ci", "role": "owner", **changes}
    answer = cast.call("owner").post(cast.path("/tokens"), body)
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def client(cast: Cast, **scope: Any) -> APIClient:
    return bearer(issued(cast, **scope)["token"])


@pytest.fixture
def two(cast: Cast, queue: Address, make_spaces: Callable[..., list[AddressSpace]]) -> Cast:
    """The tenant has the space ``main`` with a queue, and ``s00000``."""
    make_spaces(cast.tenant, 1)
    return cast


def test_a_token_of_a_space_sees_this_space_only(two: Cast) -> None:
    limited = client(two, spaces=["main"])

    names = [row["name"] for row in limited.get(two.path("/address-spaces")).json()["items"]]

    assert names == ["main"]
    assert limited.get(two.path("/address-spaces/main/addresses/orders/new")).status_code == 200
    for path in ("/address-spaces/s00000", "/address-spaces/s00000/users"):
        problem(limited.get(two.path(path)), 404, "address_space.missing")


@pytest.mark.parametrize(
    "path",
    ["", "/members", "/tokens", "/invoices", "/usage", "/audit-events", "/invitations", "/metrics"],
)
def test_a_token_of_a_space_gets_nothing_that_belongs_to_no_space(two: Cast, path: str) -> None:
    problem(client(two, spaces=["main"]).get(two.path(path)), 403, "api_token.out_of_scope")


def test_a_token_of_a_space_changes_and_watches_this_space_only(two: Cast) -> None:
    limited, owner = client(two, spaces=["main", "next"]), two.call("owner")
    wish = {"type": "brokered", "plan": "brokered-small"}
    body = {"type": "queue", "plan": "brokered-small-queue"}

    made = limited.put(two.path("/address-spaces/main/addresses/a"), body, headers=_NEW)
    elsewhere = limited.put(two.path("/address-spaces/s00000/addresses/a"), body, headers=_NEW)
    foreign = owner.put(two.path("/address-spaces/s00000/addresses/a"), body, headers=_NEW)
    own_new = limited.post(two.path("/address-spaces"), {"name": "next", **wish})
    other_new = limited.post(two.path("/address-spaces"), {"name": "third", **wish})

    assert (made.status_code, own_new.status_code) == (202, 202)
    problem(elsewhere, 404, "address_space.missing")
    problem(other_new, 403, "api_token.out_of_scope")
    assert limited.get(made["Location"]).status_code == 200
    problem(limited.get(foreign["Location"]), 404, "operation.missing")
    listed = {row["id"] for row in limited.get(two.path("/operations")).json()["items"]}
    assert made.json()["id"] in listed
    assert foreign.json()["id"] not in listed


def test_a_token_of_permissions_does_only_these(two: Cast) -> None:
    limited = client(two, role="developer", permissions=["view", "send_messages"])

    read = limited.get(two.path("/address-spaces/main"))
    sent = limited.post(
        two.path("/address-spaces/main/messages/send"), {"address": "orders/new", "body": "x"}
    )
    purged = limited.post(
        two.path("/address-spaces/main/messages/purge"), {"address": "orders/new"}
    )
    deleted = limited.delete(two.path("/address-spaces/main"))

    assert (read.status_code, sent.status_code) == (200, 202)
    problem(purged, 403, "api_token.out_of_scope")
    problem(deleted, 403, "api_token.out_of_scope")


def test_a_token_for_addresses_makes_no_messaging_user_and_deletes_no_space(two: Cast) -> None:
    limited = client(two, spaces=["main"], permissions=["manage_addresses"])
    body = {"type": "queue", "plan": "brokered-small-queue"}
    login = {
        "name": "worker",
        "password": "long-enough",
        "permissions": [{"addresses": ["#"], "operations": ["recv"]}],
    }

    made = limited.put(two.path("/address-spaces/main/addresses/a"), body, headers=_NEW)
    many = limited.post(
        two.path("/address-spaces/main/bulk/create-addresses"),
        {"items": [{"name": "b", **body}]},
    )
    user = limited.post(two.path("/address-spaces/main/users"), login)
    revoked = limited.post(
        two.path("/address-spaces/main/bulk/revoke-users"), {"names": ["worker"]}
    )
    deleted = limited.delete(two.path("/address-spaces/main"))

    assert (made.status_code, many.status_code) == (202, 200), many.content
    for refused in (user, revoked, deleted):
        problem(refused, 403, "api_token.out_of_scope")


def test_a_token_for_all_of_messaging_also_makes_addresses_and_messaging_users(two: Cast) -> None:
    limited = client(two, permissions=["manage_messaging"])
    body = {"type": "queue", "plan": "brokered-small-queue"}
    login = {
        "name": "worker",
        "password": "long-enough",
        "permissions": [{"addresses": ["#"], "operations": ["recv"]}],
    }

    made = limited.put(two.path("/address-spaces/main/addresses/a"), body, headers=_NEW)
    user = limited.post(two.path("/address-spaces/main/users"), login)

    assert (made.status_code, user.status_code // 100) == (202, 2)


@pytest.mark.parametrize("scope", [{"spaces": ["main"]}, {"permissions": ["view"]}])
def test_a_limited_token_makes_no_other_token_and_invites_nobody(
    two: Cast, scope: dict[str, Any]
) -> None:
    limited = client(two, **scope)

    answers = [
        limited.post(two.path("/tokens"), {"name": "more", "role": "owner"}),
        limited.post(two.path("/invitations"), {"email": "a@b.test", "role": "owner"}),
    ]

    for answer in answers:
        problem(answer, 403, "api_token.out_of_scope")
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        (
            {"role": "viewer", "permissions": ["manage_messaging"]},
            "api_token.invalid",
            "permissions",
        ),
        ({"permissions": ["manage_tokens"]}, "api_token.invalid", "permissions"),
        ({"permissions": ["everything"]}, "request.invalid", "permissions.0"),
        ({"spaces": ["x" * 64]}, "request.invalid", "spaces.0"),
    ],
)
def test_a_scope_beyond_the_role_is_refused(
    cast: Cast, owner: APIClient, changes: dict[str, Any], code: str, field: str
) -> None:
    body = {"name": "ci", "role": "owner", **changes}

    assert field in problem(owner.post(cast.path("/tokens"), body), 422, code)["fields"]


def test_a_permission_that_does_not_exist_is_refused_with_those_that_do(
    cast: Cast, owner: APIClient
) -> None:
    body = {"name": "ci", "role": "owner", "permissions": ["resend_message"]}

    refused = problem(owner.post(cast.path("/tokens"), body), 422, "request.invalid")

    said = refused["fields"]["permissions.0"][0]
    assert said.startswith('"resend_message" is none of: view, ')
    assert "resend_messages" in said


def test_a_token_of_another_tenant_with_the_same_space_name_sees_nothing(two: Cast) -> None:
    body = {"name": "ci", "role": "owner", "spaces": ["main"]}
    path = f"/api/v1/tenants/{two.other.slug}/tokens"
    token = two.call("outsider").post(path, body).json()["token"]

    problem(bearer(token).get(two.path("/address-spaces/main")), 404, "missing")


def test_a_token_expires_in_90_days_unless_it_says_otherwise(cast: Cast) -> None:
    usual, never = issued(cast), issued(cast, name="old", expires_at=None)

    ends = parse_datetime(usual["expires_at"])

    assert ends is not None
    assert abs(ends - timezone.now() - timedelta(days=90)) < timedelta(hours=1)
    assert never["expires_at"] is None


def test_a_rotated_token_keeps_its_scope_and_the_former_secret_ends(two: Cast) -> None:
    first = issued(two, spaces=["main"])
    owner = two.call("owner")

    answer = owner.post(two.path(f"/tokens/{first['id']}/rotate"))

    assert answer.status_code == 201
    body = answer.json()
    same = ("name", "role", "spaces", "permissions")
    assert {key: body[key] for key in same} == {key: first[key] for key in same}
    assert bearer(body["token"]).get(two.path("/address-spaces/main")).status_code == 200
    problem(
        bearer(first["token"]).get(two.path("/address-spaces/main")), 401, "credentials.invalid"
    )
    assert AuditEvent.objects.filter(action="api_token.rotate").count() == 1
    problem(owner.post(two.path(f"/tokens/{first['id']}/rotate")), 404, "api_token.missing")
