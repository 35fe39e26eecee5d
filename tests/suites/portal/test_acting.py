"""An operator acts in the pages of a tenant: with its consent, with a banner, and audited."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.core.models import AuditEvent
from tenants.models import AddressSpace, SupportConsent
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
ACT = "/staff/tenants/acme-shipping/act"
CONSENT = HOME + "settings/support"
NEW_SPACE = {"name": "made-by-staff", "space_plan": "standard-small"}


def consent(world: World, as_: As, role: str) -> None:
    answer = as_(world.owner).post(CONSENT, {"role": role, "hours": "8"})
    assert answer["Location"] == CONSENT


def test_without_a_consent_nothing_opens(world: World, as_: As) -> None:
    staff = as_(world.staff)

    answer = staff.post(ACT, {"reason": "a ticket"})

    assert answer.status_code == 403
    assert "support_access.no_consent" in answer.content.decode()
    assert staff.get(HOME).status_code == 404
    assert "No member allows it now" in staff.get("/staff/tenants/acme-shipping/").content.decode()


def test_an_operator_acts_with_the_rights_of_the_consent_below_a_banner(
    world: World, as_: As
) -> None:
    consent(world, as_, "developer")
    staff = as_(world.staff)

    begun = staff.post(ACT, {"reason": "ticket 7"})
    page = staff.get(HOME).content.decode()
    staff.post(HOME + "spaces/-/new", NEW_SPACE)

    assert begun["Location"] == HOME
    assert "You act as the operator in the pages of Acme Shipping." in page
    assert AddressSpace.objects.get().name == "made-by-staff"
    for seen in ("usage/", "alarms/", "team/", "maintenance/", "search?q=a"):
        assert staff.get(HOME + seen).status_code == 200
    assert HOME + "notifications/" not in page
    for hidden in ("invoices/", "tokens/", "audit/", "settings/support"):
        assert staff.get(HOME + hidden).status_code == 403
    assert staff.get("/t/other-people/").status_code == 404
    audit = as_(world.owner).get(HOME + "audit/").content.decode()
    assert "Began to act in the pages of the organization" in audit
    assert "ticket 7" in audit
    assert world.staff.email not in audit


def test_one_who_may_look_changes_nothing(world: World, as_: As) -> None:
    consent(world, as_, "viewer")
    staff = as_(world.staff)
    staff.post(ACT, {"reason": "ticket 7"})

    answer = staff.post(HOME + "spaces/-/new", NEW_SPACE)

    assert answer.status_code == 403
    assert not AddressSpace.objects.exists()


def test_acting_needs_a_reason(world: World, as_: As) -> None:
    consent(world, as_, "viewer")
    staff = as_(world.staff)

    answer = staff.post(ACT, {"reason": ""})

    assert answer.status_code == 422
    assert staff.get(HOME).status_code == 404


@pytest.mark.parametrize("how", ["stopped", "revoked", "expired"])
def test_it_ends(world: World, as_: As, how: str) -> None:
    consent(world, as_, "viewer")
    staff = as_(world.staff)
    staff.post(ACT, {"reason": "ticket 7"})
    assert staff.get(HOME).status_code == 200

    if how == "stopped":
        staff.post("/staff/acting/stop")
    elif how == "revoked":
        as_(world.owner).post(CONSENT + "/revoke")
    else:
        now = timezone.now()
        SupportConsent.objects.update(created_at=now - timedelta(hours=9), expires_at=now)

    assert staff.get(HOME).status_code == 404


def test_another_operator_does_not_act_by_it(world: World, as_: As) -> None:
    """The consent is to staff as a whole, but each says first why they look."""
    consent(world, as_, "viewer")
    as_(world.staff).post(ACT, {"reason": "ticket 7"})
    second = rows.person("second@operator.example", is_staff=True)

    assert as_(second).get(HOME).status_code == 404


def test_only_an_owner_gives_consent_and_only_rights_that_are_offered(
    world: World, as_: As
) -> None:
    by_member = as_(world.member).post(CONSENT, {"role": "viewer", "hours": "8"})
    by_outsider = as_(world.outsider).post(CONSENT, {"role": "viewer", "hours": "8"})
    too_much = as_(world.owner).post(CONSENT, {"role": "owner", "hours": "8"})

    assert [by_member.status_code, by_outsider.status_code] == [403, 404]
    assert too_much.status_code == 400
    assert not SupportConsent.objects.exists()


def test_the_consent_itself_is_audited(world: World, as_: As) -> None:
    consent(world, as_, "viewer")
    as_(world.owner).post(CONSENT + "/revoke")

    events = AuditEvent.objects.filter(action__startswith="support_access").order_by("id")

    assert [event.action for event in events] == [
        "support_access.consent",
        "support_access.revoke",
    ]


def test_a_new_consent_replaces_the_former_and_needs_a_new_reason(world: World, as_: As) -> None:
    consent(world, as_, "developer")
    staff = as_(world.staff)
    staff.post(ACT, {"reason": "ticket 7"})

    consent(world, as_, "viewer")
    closed = staff.get(HOME).status_code
    staff.post(ACT, {"reason": "ticket 8"})
    refused = staff.post(HOME + "spaces/-/new", NEW_SPACE).status_code
    as_(world.owner).post(CONSENT + "/revoke")

    assert (closed, refused) == (404, 403)
    assert staff.get(HOME).status_code == 404
    begun = AuditEvent.objects.filter(action="support_access.begin").order_by("id")
    assert [event.reason for event in begun] == ["ticket 7", "ticket 8"]


def test_a_consent_in_force_is_revoked_by_a_new_one(world: World, as_: As) -> None:
    for role in ("developer", "viewer"):
        consent(world, as_, role)

    open_ones = SupportConsent.objects.filter(revoked_at__isnull=True)
    assert [row.role for row in open_ones] == ["viewer"]


def test_a_consent_after_an_ended_one_does_not_reopen_the_pages(world: World, as_: As) -> None:
    consent(world, as_, "viewer")
    staff = as_(world.staff)
    staff.post(ACT, {"reason": "ticket 7"})
    as_(world.owner).post(CONSENT + "/revoke")

    consent(world, as_, "viewer")

    assert staff.get(HOME).status_code == 404
