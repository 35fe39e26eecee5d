"""Who belongs to a tenant; a tenant always keeps an owner."""

import pytest
from django.utils import timezone

from controlplane.core.errors import Conflict, Denied, Invalid, Missing, QuotaExceeded
from controlplane.core.models import AuditEvent
from tenants import queries
from tenants.actions import memberships
from tenants.models import Membership, Role, Tenant, User
from tests.support import domain
from tests.support.domain import Cast

pytestmark = pytest.mark.django_db


def of(cast: Cast, user: User) -> Membership:
    return Membership.objects.get(tenant=cast.tenant, user=user)


def test_add_makes_a_member_and_tells_the_audit(cast: Cast) -> None:
    person = domain.person("new@acme.test")

    made = memberships.add(
        tenant=cast.tenant, email=" New@ACME.test ", role=Role.VIEWER, by=cast.by
    )

    assert (made.user, made.role) == (person, Role.VIEWER)
    event = AuditEvent.objects.filter(action="membership.add").latest("id")
    assert (event.subject_name, event.after) == ("new@acme.test", {"role": "viewer"})


def test_add_refuses_strangers_members_and_unknown_roles(cast: Cast) -> None:
    with pytest.raises(Missing, match="sign up or log in first") as refusal:
        memberships.add(tenant=cast.tenant, email="who@x.test", role=Role.VIEWER, by=cast.by)
    assert refusal.value.error_code == "membership.no_account"

    with pytest.raises(Conflict, match="already") as conflict:
        memberships.add(tenant=cast.tenant, email=cast.member.email, role=Role.OWNER, by=cast.by)
    assert conflict.value.error_code == "membership.exists"
    assert of(cast, cast.member).role == Role.DEVELOPER

    with pytest.raises(Invalid, match="choose one of: owner, admin") as invalid:
        memberships.add(tenant=cast.tenant, email=cast.outsider.email, role="king", by=cast.by)
    assert set(invalid.value.fields) == {"role"}


def test_add_counts_the_members_of_the_tenant(cast: Cast) -> None:
    domain.limit(cast.tenant, "members", 2)

    with pytest.raises(QuotaExceeded) as refusal:
        memberships.add(tenant=cast.tenant, email=cast.outsider.email, role=Role.VIEWER, by=cast.by)

    assert (refusal.value.fields["resource"], refusal.value.fields["used"]) == ("members", 2)


def test_change_role_tells_before_and_after(cast: Cast) -> None:
    changed = memberships.change_role(membership=of(cast, cast.member), role=Role.ADMIN, by=cast.by)

    assert changed.role == of(cast, cast.member).role == Role.ADMIN
    event = AuditEvent.objects.get(action="membership.change_role")
    assert (event.before, event.after) == ({"role": "developer"}, {"role": "admin"})


def test_the_last_owner_can_neither_step_down_nor_leave(cast: Cast) -> None:
    owner = of(cast, cast.owner)

    with pytest.raises(Conflict, match="another member an owner first") as refusal:
        memberships.change_role(membership=owner, role=Role.ADMIN, by=cast.by)
    assert refusal.value.error_code == "membership.last_owner"
    with pytest.raises(Conflict):
        memberships.remove(membership=owner, by=cast.by)

    assert memberships.change_role(membership=owner, role=Role.OWNER, by=cast.by).role == "owner"


def test_an_owner_may_leave_when_there_is_another(cast: Cast) -> None:
    memberships.change_role(membership=of(cast, cast.member), role=Role.OWNER, by=cast.by)

    memberships.remove(membership=of(cast, cast.owner), by=cast.by)

    assert [row.user for row in queries.list_members(cast.tenant)] == [cast.member]


def test_an_owner_of_another_tenant_does_not_count(cast: Cast) -> None:
    memberships.add(tenant=cast.other, email=cast.owner.email, role=Role.OWNER, by=cast.by)

    with pytest.raises(Conflict):
        memberships.remove(membership=of(cast, cast.owner), by=cast.by)


def test_remove_ends_a_membership_once(cast: Cast) -> None:
    member = of(cast, cast.member)

    memberships.remove(membership=member, by=cast.by)
    memberships.remove(membership=member, by=cast.by)

    assert AuditEvent.objects.filter(action="membership.remove").count() == 1
    with pytest.raises(Missing, match="not a member any more"):
        memberships.change_role(membership=member, role=Role.ADMIN, by=cast.by)


@pytest.mark.parametrize(
    ("frozen", "code"), [("suspended_at", "tenant.suspended"), ("erase_at", "tenant.closing")]
)
def test_a_frozen_tenant_takes_no_members(cast: Cast, frozen: str, code: str) -> None:
    # The row that the caller has read is older than the lock.
    Tenant.objects.filter(pk=cast.tenant.pk).update(**{frozen: timezone.now()})

    with pytest.raises(Denied) as refused:
        memberships.add(tenant=cast.tenant, email=cast.outsider.email, role=Role.VIEWER, by=cast.by)

    assert refused.value.error_code == code
    assert not Membership.objects.filter(tenant=cast.tenant, user=cast.outsider).exists()
