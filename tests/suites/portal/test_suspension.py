"""Staff suspend a tenant and restore it; its members see why, and what they may still do."""

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants.actions import api_tokens, closures, suspensions, unpaid_stages
from tenants.models import AddressSpace, UnpaidStage
from tenants.notifications import rendering
from tenants.notifications.models import Event
from tests.suites.portal.conftest import As
from tests.support.notifications import notified
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
TENANT = "/staff/tenants/acme-shipping/"
HOME = "/t/acme-shipping/"
REASON = "The invoice EU-1 is not paid."


def suspend(world: World, as_: As) -> None:
    answer = as_(world.staff).post(TENANT + "suspend", {"reason": REASON})
    assert answer["Location"] == TENANT


def test_a_reason_without_a_full_stop_gets_one(world: World, as_: As) -> None:
    suspensions.suspend(tenant=world.tenant, reason="see ticket 42", by=SYSTEM)
    owner = as_(world.owner)

    page = owner.get(HOME).content.decode()
    refused = owner.post(HOME + "spaces/-/new", {"name": "more", "space_plan": "standard-small"})

    assert "is suspended: see ticket 42.</strong>" in page
    assert "suspended: see ticket 42. Ask the operator." in refused.content.decode()
    (event,) = Event.objects.filter(kind="tenant.suspended")
    assert "see ticket 42. Clients cannot send" in rendering.message(event).text
    asks = as_(world.staff).get(f"/staff/tenants/{world.other.slug}/suspend").content.decode()
    assert "Owners, admins and members with the role billing get a mail" in asks


def test_a_suspended_tenant_cannot_change_messaging_but_sees_everything(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant)
    owner = as_(world.owner)
    suspend(world, as_)

    page = owner.get(HOME + "spaces/orders/")
    refused = owner.post(HOME + "spaces/-/new", {"name": "more", "space_plan": "standard-small"})
    deletion = owner.post(HOME + "spaces/orders/addresses/-/delete")
    billing = owner.get(HOME + "settings/")

    assert page.status_code == 200
    assert f"Acme Shipping is suspended: {REASON}</strong>" in page.content.decode()
    assert "addresses/new" not in page.content.decode()
    assert "Sending blocked<" in page.content.decode()
    assert "blocked by the quota" not in page.content.decode()
    assert [refused.status_code, deletion.status_code, billing.status_code] == [403, 403, 200]
    assert "tenant.suspended" in refused.content.decode()
    assert REASON in refused.content.decode()
    assert AddressSpace.objects.count() == 1


def test_a_space_of_a_tenant_with_unpaid_invoices_does_not_blame_the_quota(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant)
    unpaid_stages.move(tenant=world.tenant, stage=UnpaidStage.LIMITED)
    limited = as_(world.owner).get(HOME + "spaces/orders/").content.decode()
    unpaid_stages.move(tenant=world.tenant, stage=UnpaidStage.SUSPENDED)
    suspended = as_(world.owner).get(HOME + "spaces/orders/").content.decode()

    assert "Sending blocked<" in limited
    assert "Connections refused<" in suspended
    assert "by the quota" not in limited + suspended


def test_members_of_a_suspended_tenant_take_access_away(world: World, as_: As) -> None:
    owner = as_(world.owner)
    row = rows.active_space(world.tenant)
    token, _ = api_tokens.issue(
        tenant=world.tenant, name="leaked", role="viewer", expires_at=None, by=SYSTEM
    )
    user = rows.messaging_user(row, "leaked-app")
    suspend(world, as_)

    tokens = owner.get(HOME + "tokens/").content.decode()
    users = owner.get(HOME + f"spaces/{row.name}/users").content.decode()
    rotated = owner.post(HOME + f"tokens/{token.pk}/rotate")
    revoked = owner.post(HOME + f"tokens/{token.pk}/revoke")
    url = HOME + f"spaces/{row.name}/users/{user.name}/revoke"
    owner.post(url, {"confirmation": user.name})

    assert "Revoke token leaked" in tokens
    assert "Rotate token" not in tokens
    assert "Revoke leaked-app" in users
    assert "New password of" not in users
    assert (rotated.status_code, revoked.status_code) == (403, 302)
    token.refresh_from_db()
    user.refresh_from_db()
    assert token.revoked_at is not None
    assert user.deletion_requested_at is not None


def test_a_restored_tenant_changes_messaging_again(world: World, as_: As) -> None:
    suspend(world, as_)
    shown = as_(world.staff).get(TENANT).content.decode()

    as_(world.staff).post(TENANT + "restore")

    owner = as_(world.owner)
    owner.post(HOME + "spaces/-/new", {"name": "more", "space_plan": "standard-small"})
    assert REASON in shown
    assert AddressSpace.objects.get().name == "more"
    assert "suspended" not in owner.get(HOME).content.decode()
    actions = AuditEvent.objects.filter(action__in=["tenant.suspend", "tenant.restore"])
    assert [event.reason for event in actions.order_by("id")] == [REASON, ""]


def test_other_tenants_are_not_suspended(world: World, as_: As) -> None:
    suspend(world, as_)

    form = as_(world.outsider).get("/t/other-people/spaces/-/new")

    assert form.status_code == 200


def test_a_suspended_tenant_reads_messages_but_deletes_none(world: World, as_: As) -> None:
    """The page of selected messages is open to whoever reads them, so each verb is checked."""
    queue = rows.address(rows.active_space(world.tenant))
    suspend(world, as_)
    page = f"{HOME}spaces/orders/addresses/{queue.pk}/messages"
    owner = as_(world.owner)

    seen = owner.get(page)
    refused = owner.post(page + "/change", {"verb": "delete", "message": "1", "confirmed": "on"})

    assert [seen.status_code, refused.status_code] == [200, 403]
    assert "tenant.suspended" in refused.content.decode()


def test_a_suspended_tenant_sees_its_team_and_tokens_without_forms(world: World, as_: As) -> None:
    owner = as_(world.owner)
    forms = ("Invite a person", "Issue a token")
    before = [owner.get(HOME + page).content.decode() for page in ("team/", "tokens/")]
    suspend(world, as_)

    after = [owner.get(HOME + page).content.decode() for page in ("team/", "tokens/")]

    assert [form in page for form, page in zip(forms, before, strict=True)] == [True, True]
    assert [form in page for form, page in zip(forms, after, strict=True)] == [False, False]
    assert world.member.email in after[0]


def test_members_read_who_suspended_them_and_why_in_their_audit_log(world: World, as_: As) -> None:
    suspend(world, as_)

    page = as_(world.owner).get(HOME + "audit/").content.decode()

    assert "Suspended the organization Acme Shipping" in page
    assert REASON in page
    assert "The operator" in page
    assert world.staff.email not in page


def test_notes_are_written_shown_to_staff_only_and_deleted(world: World, as_: As) -> None:
    staff = as_(world.staff)

    staff.post(TENANT + "notes", {"text": "Pays late.\nCall Olga."})
    page = staff.get(TENANT).content.decode()
    note = world.tenant.notes.get()
    of_other = staff.post(f"/staff/tenants/other-people/notes/{note.pk}/delete")
    staff.post(f"{TENANT}notes/{note.pk}/delete")

    assert "Pays late.\nCall Olga." in page
    assert of_other.status_code == 404
    assert not world.tenant.notes.exists()
    assert "Pays late" not in as_(world.owner).get(HOME + "audit/").content.decode()
    assert not AuditEvent.objects.filter(
        tenant_id=world.tenant.pk, action__startswith="tenant_note"
    )


@pytest.mark.parametrize(
    ("show", "found"),
    [("suspended", ["Acme Shipping"]), ("near", []), ("", ["Acme Shipping", "Other People"])],
)
def test_the_list_of_tenants_shows_a_part(
    world: World, as_: As, show: str, found: list[str]
) -> None:
    suspend(world, as_)

    page = as_(world.staff).get("/staff/tenants/", {"show": show}).content.decode()

    names = [name for name in ("Acme Shipping", "Other People") if f">{name}</a>" in page]
    assert names == found


@pytest.mark.parametrize("state", ["suspended", "is being closed"])
def test_the_pages_of_a_channel_offer_only_what_works(world: World, as_: As, state: str) -> None:
    owner = as_(world.owner)
    delivery = notified.delivery(notified.webhook(world.tenant))
    channel = HOME + f"notifications/channels/{delivery.channel_id}"
    log = HOME + f"notifications/deliveries/{delivery.pk}"
    changes = ("Send a test event", "New secret", "Change the channel", "Send again", "waypost")
    working = owner.get(channel).content.decode() + owner.get(log).content.decode()
    assert [text for text in changes if text not in working] == []
    assert "cannot be changed" not in working
    if state == "suspended":
        suspend(world, as_)
    else:
        closures.request(tenant=world.tenant, by=SYSTEM)

    pages = [owner.get(page).content.decode() for page in (channel, log)]

    for page in pages:
        assert [text for text in changes[:-1] if text in page] == []
        assert state in page
        assert "channels cannot be changed" in page
    assert f"{channel}/delete" in pages[0]
    assert owner.get(f"{channel}/delete").status_code == 200
    assert owner.post(f"{channel}/delete").status_code == 302
