"""Members, roles and tokens: nobody hands out more than they have; a tenant keeps an owner."""

from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from tenants.models import ApiToken, Invitation, Membership
from tests.suites.api.conftest import Cast, bearer, problem
from tests.support.notifications import mails


def invited(cast: Cast, email: str = "Outsider@B.test", role: str = "developer") -> str:
    """Invite a person; return the secret of the link in the mail."""
    cast.call("owner").post(cast.path("/invitations"), {"email": email, "role": role})
    return secret()


def secret() -> str:
    """Return the secret of the link in the newest mail."""
    return mails.newest_link("/invitations/").rpartition("/")[2]


def accepted(client: APIClient, token: str) -> Any:
    return client.post("/api/v1/invitations/accept", {"token": token})


def test_invited_person_accepts_once_and_can_get_in(cast: Cast) -> None:
    token, outsider = invited(cast), cast.call("outsider")
    before = outsider.get(cast.path()).status_code

    answers = [accepted(outsider, token) for _ in range(2)]

    assert mails.delivered()[-1].recipients == ["outsider@b.test"]
    assert before == 404
    assert (answers[0].status_code, answers[0].json()["role"]) == (201, "developer")
    problem(answers[1], 404, "invitation.missing")
    assert outsider.get(cast.path()).status_code == 200


def test_invitation_is_for_one_address_and_people_only(cast: Cast) -> None:
    token = invited(cast, "nobody@x.test")

    problem(accepted(cast.call("outsider"), token), 403, "invitation.other_address")
    problem(accepted(cast.call("other_token"), token), 403, "denied")
    problem(accepted(cast.call("anonymous"), token), 401, "credentials.missing")


def test_invitation_does_not_reveal_who_has_an_account(cast: Cast, owner: APIClient) -> None:
    bodies = []
    for email in ("outsider@b.test", "nobody@x.test"):
        answer = owner.post(cast.path("/invitations"), {"email": email, "role": "viewer"})
        bodies.append({**answer.json(), "id": 0, "email": "", "created_at": "", "expires_at": ""})

    assert bodies[0] == bodies[1]
    subjects = [mail.subject for mail in mails.delivered()]
    assert subjects == ["owner@a.test invites you to Acme"] * 2


def test_revoked_expired_and_renewed_invitations_open_nothing(cast: Cast, owner: APIClient) -> None:
    first = invited(cast)
    row = owner.get(cast.path("/invitations")).json()["items"][0]
    owner.post(cast.path(f"/invitations/{row['id']}/send"))
    renewed = secret()
    outsider = cast.call("outsider")
    Invitation.objects.update(expires_at=timezone.now())
    expired = accepted(outsider, renewed)
    owner.post(cast.path(f"/invitations/{row['id']}/send"))
    again = secret()
    owner.delete(cast.path(f"/invitations/{row['id']}"))

    for answer in (accepted(outsider, first), expired, accepted(outsider, again)):
        problem(answer, 404, "invitation.missing")
    assert owner.get(cast.path("/invitations")).json()["items"] == []


def test_another_tenants_invitation_is_not_there(cast: Cast) -> None:
    invited(cast, "nobody@x.test")
    pk = Invitation.objects.get().pk
    path = f"/api/v1/tenants/{cast.other.slug}/invitations/{pk}"

    problem(cast.call("outsider").delete(path), 404, "invitation.missing")
    problem(cast.call("outsider").post(f"{path}/send"), 404, "invitation.missing")
    assert Invitation.objects.get().revoked_at is None


def test_owner_hands_over_and_leaves(cast: Cast, owner: APIClient) -> None:
    stays = owner.post(cast.path("/leave"))
    answer = owner.post(cast.path("/transfer-ownership"), {"email": "admin@a.test"})
    role = owner.get(cast.path("/members/owner@a.test")).json()["role"]
    left = owner.post(cast.path("/leave"))

    problem(stays, 409, "membership.last_owner")
    assert (answer.status_code, answer.json()["role"], role) == (200, "owner", "admin")
    assert left.status_code == 204
    problem(owner.get(cast.path()), 404, "missing")


@pytest.mark.parametrize(
    ("who", "status"),
    [
        *((role, 204) for role in ("admin", "developer", "billing", "viewer")),
        ("outsider", 404),
        ("staff", 404),
        ("other_token", 404),
        ("anonymous", 401),
    ],
)
def test_every_member_may_leave_and_nobody_else(cast: Cast, who: str, status: int) -> None:
    before = Membership.objects.filter(tenant=cast.tenant).count()

    assert cast.call(who).post(cast.path("/leave")).status_code == status
    gone = before - Membership.objects.filter(tenant=cast.tenant).count()
    assert gone == (status == 204)


def test_token_is_no_member_that_leaves(cast: Cast) -> None:
    problem(cast.call("token").post(cast.path("/leave")), 403, "denied")


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
        ({"email": "no-address", "role": "viewer"}, 422, "request.invalid"),
        ({"email": "viewer@a.test", "role": "viewer"}, 409, "membership.exists"),
        ({"email": "outsider@b.test", "role": "king"}, 422, "request.invalid"),
    ],
)
def test_wrong_member_is_refused(
    cast: Cast, owner: APIClient, body: dict[str, str], status: int, code: str
) -> None:
    problem(owner.post(cast.path("/invitations"), body), status, code)
    assert mails.delivered() == []
    assert Membership.objects.filter(tenant=cast.tenant).count() == 5


def test_last_owner_stays(cast: Cast, owner: APIClient) -> None:
    demoted = owner.put(cast.path("/members/owner@a.test"), {"role": "admin"})
    removed = owner.delete(cast.path("/members/owner@a.test"))

    problem(demoted, 409, "membership.last_owner")
    problem(removed, 409, "membership.last_owner")


def test_admin_cannot_make_or_unmake_owners(cast: Cast) -> None:
    admin = cast.call("admin")
    token = invited(cast, role="owner")
    accepted(cast.call("outsider"), token)

    answers = [
        admin.post(cast.path("/invitations"), {"email": "staff@op.test", "role": "owner"}),
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
            422,
            "api_token.invalid",
        ),
        (
            {"name": "x", "role": "viewer", "expires_at": "9999-01-01T00:00:00Z"},
            422,
            "request.invalid",
        ),
        ({"name": "x"}, 422, "request.invalid"),
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
