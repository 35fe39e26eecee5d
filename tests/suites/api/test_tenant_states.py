"""Suspension by staff, closing by owners and the export, in the API and the command."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.api import schema
from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants.actions import closures, messaging_users
from tenants.models import AddressSpace, ApiToken, Tenant
from tests.suites.api.conftest import GRANT, Cast, problem
from tests.support import command
from tests.support.command import Ended

Run = Callable[..., Ended]
SUSPEND = "/api/v1/staff/tenants/acme/suspend"
RESTORE = "/api/v1/staff/tenants/acme/restore"
WHY = {"reason": "unpaid since May"}


@pytest.fixture
def run(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `waypost …` as somebody of the cast, the owner by default."""
    return command.as_people(cast.people, cast.tenant.slug, monkeypatch)


def test_staff_suspend_and_restore_a_tenant(
    cast: Cast, owner: APIClient, staff: APIClient, space: AddressSpace
) -> None:
    suspended = staff.post(SUSPEND, WHY)

    assert suspended.status_code == 200, suspended.content
    assert suspended.json()["suspension_reason"] == WHY["reason"]
    space.refresh_from_db()
    assert space.send_withdrawn
    shown = owner.get(cast.path("/address-spaces/main")).json()
    assert shown["send_withdrawn_reason"] == "suspension"
    body = {"name": "two", "type": "brokered", "plan": "brokered-small"}
    problem(owner.post(cast.path("/address-spaces"), body), 403, "tenant.suspended")
    assert owner.get(cast.path("/address-spaces")).status_code == 200
    again = staff.post(SUSPEND, {"reason": "another"}).json()
    assert again["suspension_reason"] == WHY["reason"]
    rows = staff.get("/api/v1/staff/tenants", {"suspended": "true"}).json()["items"]
    assert [row["slug"] for row in rows] == ["acme"]

    restored = staff.post(RESTORE)

    assert (restored.status_code, restored.json()["suspended_at"]) == (200, None)
    assert owner.post(cast.path("/address-spaces"), body).status_code == 202
    assert staff.get("/api/v1/staff/tenants", {"suspended": "true"}).json()["items"] == []
    events = AuditEvent.objects.filter(action__in=["tenant.suspend", "tenant.restore"])
    assert {event.actor for event in events} == {"user:staff@op.test"}
    assert events.count() == 2


@pytest.mark.parametrize("state", ["suspended", "closing"])
def test_access_is_taken_away_in_every_state(
    cast: Cast, owner: APIClient, space: AddressSpace, state: str
) -> None:
    """A leaked token, or a colleague who left, must not keep its access until somebody restores."""
    messaging_users.create(
        space=space, name="app", password="s3cret-pass", permissions=GRANT, by=SYSTEM
    )
    invited = {"email": "new@a.test", "role": "viewer"}
    invitation = owner.post(cast.path("/invitations"), invited).json()["id"]
    hook = {"name": "x", "kind": "webhook", "url": "https://hooks.example.com/x"}
    channel = owner.post(cast.path("/notification-channels"), hook).json()["id"]
    token = owner.post(cast.path("/tokens"), {"name": "leaked", "role": "viewer"}).json()["id"]
    columns = {"suspended": "suspended_at", "closing": "erase_at"}
    now = timezone.now()
    Tenant.objects.filter(pk=cast.tenant.pk).update(**{columns[state]: now + timedelta(days=9)})
    paths = (
        f"/tokens/{token}",
        "/members/developer@a.test",
        f"/invitations/{invitation}",
        f"/notification-channels/{channel}",
        "/address-spaces/main/users/app",
    )

    lower = [cast.call("viewer").delete(cast.path(path)).status_code for path in paths]
    foreign = [cast.call("outsider").delete(cast.path(path)).status_code for path in paths]
    answers = [owner.delete(cast.path(path)).status_code for path in paths]
    refused = owner.post(cast.path("/tokens"), {"name": "more", "role": "viewer"})

    assert (lower, foreign) == ([403] * 5, [404] * 5)
    assert answers == [204, 204, 204, 204, 202]
    problem(refused, 403, f"tenant.{state}")
    problem(owner.post(cast.path(f"/tokens/{token}/rotate")), 403, f"tenant.{state}")


def test_a_suspension_needs_a_reason_a_tenant_and_staff(cast: Cast, staff: APIClient) -> None:
    for wrong in ({}, {"reason": ""}, {"reason": "x" * 301}, {"why": "x"}):
        assert staff.post(SUSPEND, wrong).status_code == 422
    problem(staff.post("/api/v1/staff/tenants/none/suspend", WHY), 404, "missing")
    for name in ("owner", "outsider", "token"):
        assert cast.call(name).post(SUSPEND, WHY).status_code == 404
        assert cast.call(name).post(RESTORE).status_code == 404
    assert not Tenant.objects.filter(suspended_at__isnull=False).exists()


def test_an_owner_exports_closes_keeps_and_is_erased(
    cast: Cast, owner: APIClient, staff: APIClient, space: AddressSpace
) -> None:
    url = cast.path("/closure")
    assert owner.get(url).json() == {"erase_at": None}
    problem(owner.post(url, {"confirm": "other"}), 422, "request.invalid")
    exported = owner.get(cast.path("/export")).json()["document"]
    assert [row["name"] for row in exported["spaces"]] == ["main"]

    closing = owner.post(url, {"confirm": "acme"})

    assert closing.status_code == 200, closing.content
    space.refresh_from_db()
    assert space.send_withdrawn
    shown = owner.get(cast.path("/address-spaces/main")).json()
    assert shown["send_withdrawn_reason"] == "closure"
    problem(owner.delete(cast.path("/address-spaces/main")), 403, "tenant.closing")
    listed = staff.get("/api/v1/staff/tenants", {"closing": "true"}).json()["items"]
    assert [row["erase_at"] for row in listed] == [closing.json()["erase_at"]]
    assert owner.delete(url).json() == {"erase_at": None}
    owner.post(url, {"confirm": "acme"})
    end = timezone.now() + timedelta(days=400)
    AddressSpace.objects.update(deletion_requested_at=end, deleted_at=end)
    assert closures.erase_due(end, is_settled=lambda tenant: True) == 1
    shown = staff.get("/api/v1/staff/tenants/acme").json()
    assert shown["erased_at"] is not None
    assert owner.get(url).status_code == 404  # the memberships are gone
    assert not ApiToken.objects.filter(tenant=cast.tenant, revoked_at__isnull=True).exists()
    problem(staff.post(SUSPEND, WHY), 409, "tenant.wrong_state")


def test_a_tenant_whose_erasure_ended_its_plan_has_none_to_show_or_change(
    run: Run, cast: Cast, owner: APIClient
) -> None:
    """Members remain until every invoice is issued; the plan ends before that."""
    owner.post(cast.path("/closure"), {"confirm": "acme"})
    closures.erase_due(timezone.now() + timedelta(days=400), is_settled=lambda tenant: False)
    url = cast.path("/plan-subscription")

    shown = owner.get(url)
    changed = owner.put(url, {"plan": "pro"}, headers={"If-Match": "*"})

    for answer in (shown, changed):
        problem(answer, 409, "plan_subscription.missing")
        assert "being erased" in answer.json()["detail"]
    assert run("plans", "follow").error == "plan_subscription.missing"


def test_a_closure_says_that_people_go_after_the_last_invoice(run: Run) -> None:
    asked = " ".join(run("tenant", "close").stderr.split())
    described = schema.document()["paths"]["/api/v1/tenants/{tenant}/closure"]["post"]

    for text in (asked, " ".join(described["description"].split())):
        assert "once every invoice is issued" in text.lower()


def test_nobody_but_an_owner_closes_or_exports(cast: Cast) -> None:
    expected = {"admin": 403, "developer": 403, "outsider": 404, "staff": 404, "anonymous": 401}
    for name, status in expected.items():
        caller = cast.call(name)
        answers = (
            caller.post(cast.path("/closure"), {"confirm": "acme"}),
            caller.delete(cast.path("/closure")),
            caller.get(cast.path("/export")),
        )
        assert {answer.status_code for answer in answers} == {status}
    cast.tenant.refresh_from_db()
    assert cast.tenant.erase_at is None


def test_the_command_suspends_restores_closes_keeps_and_downloads(
    run: Run, cast: Cast, tmp_path: Path
) -> None:
    why = ("--reason", "unpaid", "--yes")
    suspended = run("staff", "tenants", "suspend", "acme", *why, by="staff")
    assert suspended.code == 0, suspended.stderr
    assert "unpaid" in run("staff", "tenants", "show", "acme", by="staff").stdout
    names = ("staff", "tenants", "list", "-o", "json")
    rows = json.loads(run(*names, "--suspended", by="staff").stdout)
    assert [row["slug"] for row in rows] == ["acme"]
    assert run("spaces", "create", "x").error == "tenant.suspended"
    assert run("staff", "tenants", "restore", "acme", by="staff").code == 0
    assert run("staff", "tenants", "suspend", "acme", *why).code == 4  # an owner is no staff

    file = tmp_path / "all.json"
    assert run("tenant", "download", "--to", str(file)).code == 0
    assert json.loads(file.read_text())["document"]["organization"]["slug"] == "acme"
    assert "will be erased at" in run("tenant", "close", "--yes").stdout
    assert json.loads(run(*names, "--closing", by="staff").stdout)[0]["slug"] == "acme"
    assert "stays" in run("tenant", "keep").stdout
    assert run("tenant", "close", "--yes", by="admin").code == 3
