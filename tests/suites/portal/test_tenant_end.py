"""Staff suspend and restore a tenant; an owner exports, closes and keeps it. In portal and API."""

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from plans.models import PlanSubscription
from tenants.actions import closures, invitations
from tenants.models import Membership, Tenant
from tests.suites.portal.conftest import As
from tests.support.notifications import mails
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME, STAFF = "/t/acme-shipping/", "/staff/tenants/acme-shipping/"
PLAN = "/api/v1/tenants/acme-shipping/plan-subscription"
SPACES = "/api/v1/tenants/acme-shipping/address-spaces"
WANTED = {"name": "extra", "type": "brokered", "plan": "brokered-small"}


def test_staff_suspend_and_restore_a_tenant(world: World, as_: As) -> None:
    rows.active_space(world.tenant)
    staff, owner = as_(world.staff), as_(world.owner)

    staff.post(f"{STAFF}suspend", {"reason": "An invoice is unpaid."})
    page = owner.get(HOME).content.decode()
    refused = owner.post(f"{HOME}team/", {"email": "a@b.test", "role": "viewer"})
    api = owner.post(SPACES, WANTED, "application/json")
    listed = staff.get("/staff/tenants/").content.decode()
    staff.post(f"{STAFF}restore")

    assert "is suspended: An invoice is unpaid." in page
    assert refused.status_code == 403
    assert (api.status_code, api.json()["code"]) == (403, "tenant.suspended")
    assert ">suspended</span>" in listed
    assert "is suspended" not in owner.get(HOME).content.decode()
    assert owner.post(SPACES, WANTED, "application/json").status_code == 202
    to_owner = [mail.subject for mail in mails.delivered() if world.owner.email in mail.recipients]
    assert sorted(to_owner) == ["Acme Shipping is suspended", "Acme Shipping works again"]


@pytest.mark.parametrize(("reason", "status"), [(" ", 400), ("x" * 301, 400), ("a\x07b", 422)])
def test_a_suspension_without_a_valid_reason_is_refused(
    world: World, as_: As, reason: str, status: int
) -> None:
    """The form finds that it is empty or too long, the action that it is not printable."""
    answer = as_(world.staff).post(f"{STAFF}suspend", {"reason": reason})

    assert answer.status_code == status
    assert Tenant.objects.get(pk=world.tenant.pk).suspended_at is None


def test_what_the_page_says_can_still_be_changed_can_be(world: World, as_: As) -> None:
    owner = as_(world.owner)
    plan = PlanSubscription.objects.get(tenant=world.tenant, ends_at=None).plan.key
    page = owner.get(f"{HOME}close").content.decode()

    closures.request(tenant=world.tenant, by=SYSTEM)
    now = {"If-Match": owner.get(PLAN).headers["ETag"]}
    changed = owner.put(PLAN, {"plan": plan}, "application/json", headers=now)
    refused = owner.post(SPACES, WANTED, "application/json")

    assert "nothing can be changed" not in page
    assert "You can still change the plan and billing details, pay and take access away" in page
    assert changed.status_code == 200
    assert (refused.status_code, refused.json()["code"]) == (403, "tenant.closing")


def test_an_owner_exports_closes_and_keeps_the_tenant(world: World, as_: As) -> None:
    owner = as_(world.owner)
    export = owner.get(f"{HOME}export.json")

    wrong = owner.post(f"{HOME}close", {"confirmation": "something else"})
    closed = owner.post(
        f"{HOME}close", {"confirmation": "acme-shipping"}, follow=True
    ).content.decode()
    refused = owner.post(SPACES, WANTED, "application/json")
    owner.post(f"{HOME}close/undo")

    assert export.json()["organization"]["slug"] == "acme-shipping"
    assert export["Content-Disposition"] == 'attachment; filename="acme-shipping.json"'
    assert wrong.status_code == 400
    assert "will be erased on" in closed
    assert refused.json()["code"] == "tenant.closing"
    assert owner.post(SPACES, WANTED, "application/json").status_code == 202


def test_accepting_an_invitation_keeps_the_session_that_accepts(world: World, as_: As) -> None:
    """By the portal, and by a token of the command."""
    body = {"email": world.outsider.email, "password": rows.PASSWORD}
    login = "/api/v1/session"
    for surface in ("portal", "api"):
        client, other = as_(world.outsider), as_(world.outsider)
        mine = client.post(login, body, "application/json").json()["token"]
        EmailAddress.objects.filter(user=world.outsider).update(verified=False)
        Membership.objects.filter(user=world.outsider, tenant=world.tenant).delete()
        invitations.invite(
            tenant=world.tenant, email=world.outsider.email, role="viewer", by=SYSTEM
        )
        path = mails.newest_link("/invitations/")
        if surface == "portal":
            answer = client.post(path)
            kept = client.get(HOME)
        else:
            token = {"Authorization": f"Bearer {mine}"}
            answer = Client(headers=token).post(
                "/api/v1/invitations/accept",
                {"token": path.rpartition("/")[2]},
                "application/json",
            )
            kept = Client(headers=token).get(SPACES)

        assert answer.status_code in (201, 302), answer.content
        assert kept.status_code == 200
        assert other.get(HOME)["Location"].startswith("/login")


def test_pages_of_a_tenant_without_a_plan_open(world: World, as_: As) -> None:
    """While its last invoice is due, and after it is erased."""
    PlanSubscription.objects.filter(tenant=world.tenant).update(ends_at=timezone.now())
    staff, owner = as_(world.staff), as_(world.owner)

    page = staff.get(STAFF)
    own = [owner.get(HOME + path).status_code for path in ("", "settings/", "invoices/", "close")]
    override = {"resource": "spaces", "amount": 9, "reason": "x"}

    assert page.status_code == 200
    assert "Override a limit" not in page.content.decode()
    assert own == [200] * 4
    assert staff.post(STAFF, override).status_code == 400
