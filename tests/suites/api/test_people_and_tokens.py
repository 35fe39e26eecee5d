"""Members, roles and tokens: nobody hands out more than they have; a tenant keeps an owner."""

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from tenants.models import ApiToken, Membership
from tests.suites.api.conftest import Cast, bearer, problem


def test_member_is_added_and_can_get_in(cast: Cast, owner: APIClient) -> None:
    answer = owner.post(cast.path("/members"), {"email": "Outsider@B.test", "role": "developer"})

    assert answer.status_code == 201
    assert cast.call("outsider").get(cast.path()).status_code == 200


def test_removed_member_is_out_at_once(cast: Cast, owner: APIClient) -> None:
    developer = cast.call("developer")

    assert owner.delete(cast.path("/members/developer@a.test")).status_code == 204

    problem(developer.get(cast.path()), 404, "missing")


def test_changed_role_counts_at_once(cast: Cast, owner: APIClient) -> None:
    developer = cast.call("developer")

    owner.put(cast.path("/members/developer@a.test"), {"role": "viewer"})

    wish = {"name": "x", "type": "brokered", "plan": "brokered-small"}
    problem(developer.post(cast.path("/address-spaces"), wish), 403, "denied")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"email": "nobody@x.test", "role": "viewer"}, 404, "membership.no_account"),
        ({"email": "viewer@a.test", "role": "viewer"}, 409, "membership.exists"),
        ({"email": "outsider@b.test", "role": "king"}, 400, "request.invalid"),
    ],
)
def test_wrong_member_is_refused(
    cast: Cast, owner: APIClient, body: dict[str, str], status: int, code: str
) -> None:
    problem(owner.post(cast.path("/members"), body), status, code)
    assert Membership.objects.filter(tenant=cast.tenant).count() == 5


def test_last_owner_stays(cast: Cast, owner: APIClient) -> None:
    demoted = owner.put(cast.path("/members/owner@a.test"), {"role": "admin"})
    removed = owner.delete(cast.path("/members/owner@a.test"))

    problem(demoted, 409, "membership.last_owner")
    problem(removed, 409, "membership.last_owner")


def test_admin_cannot_make_or_unmake_owners(cast: Cast, owner: APIClient) -> None:
    admin = cast.call("admin")
    owner.post(cast.path("/members"), {"email": "outsider@b.test", "role": "owner"})

    answers = [
        admin.post(cast.path("/members"), {"email": "staff@op.test", "role": "owner"}),
        admin.put(cast.path("/members/admin@a.test"), {"role": "owner"}),
        admin.put(cast.path("/members/owner@a.test"), {"role": "viewer"}),
        admin.delete(cast.path("/members/owner@a.test")),
        admin.post(cast.path("/tokens"), {"name": "t", "role": "owner"}),
    ]

    for answer in answers:
        assert "owner" in problem(answer, 403, "denied")["detail"]


def test_admins_token_cannot_become_an_owner(cast: Cast) -> None:
    token = bearer(cast.token(cast.tenant, "admin"))

    problem(token.post(cast.path("/tokens"), {"name": "t", "role": "owner"}), 403, "denied")


def test_token_secret_is_shown_once_and_works(cast: Cast, owner: APIClient) -> None:
    made = owner.post(cast.path("/tokens"), {"name": "ci", "role": "viewer"})
    listed = owner.get(cast.path("/tokens")).json()["items"]

    token = made.json()["token"]
    assert bearer(token).get(cast.path()).status_code == 200
    assert [row["name"] for row in listed] == ["ci"]
    assert "token" not in listed[0]
    assert token.startswith(listed[0]["prefix"])
    assert "token_hash" not in listed[0]


def test_revoked_token_opens_nothing(cast: Cast, owner: APIClient) -> None:
    made = owner.post(cast.path("/tokens"), {"name": "ci", "role": "viewer"}).json()

    answer = owner.delete(cast.path(f"/tokens/{made['id']}"))

    assert answer.status_code == 204
    problem(bearer(made["token"]).get(cast.path()), 401, "credentials.invalid")
    assert owner.get(cast.path("/tokens")).json()["items"] == []


def test_token_of_another_tenant_is_missing(cast: Cast, owner: APIClient) -> None:
    cast.token(cast.other)
    foreign = ApiToken.objects.get()

    problem(owner.delete(cast.path(f"/tokens/{foreign.pk}")), 404, "api_token.missing")
    foreign.refresh_from_db()
    assert foreign.revoked_at is None


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (
            {"name": "x", "role": "viewer", "expires_at": "2020-01-01T00:00:00Z"},
            400,
            "api_token.invalid",
        ),
        (
            {"name": "x", "role": "viewer", "expires_at": "9999-01-01T00:00:00Z"},
            400,
            "request.invalid",
        ),
        ({"name": "x"}, 400, "request.invalid"),
        ({"name": "taken", "role": "viewer"}, 409, "api_token.exists"),
    ],
)
def test_wrong_token_is_refused(
    cast: Cast, owner: APIClient, body: dict[str, str], status: int, code: str
) -> None:
    owner.post(cast.path("/tokens"), {"name": "taken", "role": "viewer"})

    problem(owner.post(cast.path("/tokens"), body), status, code)
    assert ApiToken.objects.count() == 1


def test_last_use_is_shown(cast: Cast, owner: APIClient) -> None:
    token = cast.token(cast.tenant)
    before = owner.get(cast.path("/tokens")).json()["items"][0]["last_used_at"]

    bearer(token).get(cast.path())

    assert before is None
    assert owner.get(cast.path("/tokens")).json()["items"][0]["last_used_at"] is not None


@pytest.mark.parametrize(("proxies", "seen"), [(0, "127.0.0.1"), (1, "203.0.113.9")])
def test_audit_tells_the_address_behind_trusted_proxies(
    cast: Cast, owner: APIClient, settings: Settings, proxies: int, seen: str
) -> None:
    settings.TRUSTED_PROXIES = proxies
    headers = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}

    owner.post(cast.path("/tokens"), {"name": "ci", "role": "viewer"}, headers=headers)

    assert AuditEvent.objects.get(subject_name="ci").source_ip == seen
