"""Who gets which kind of event by mail: the registry's default, the tenant's, each person's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tenants import permissions
from tenants.models import Membership, Tenant
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import CHOOSABLE
from tenants.notifications.models import PersonPreference, TenantPreference


@dataclass(frozen=True)
class Choice:
    """What a member gets of one kind.

    * ``by_mail``: the result.
    * ``person``, ``default``: what the member and the tenant chose; None: nothing.
    * ``is_fixed``: the member cannot change it.
    """

    kind: EventKind
    by_mail: bool
    person: bool | None
    default: bool | None

    @property
    def is_fixed(self) -> bool:
        return self.kind.is_required


def may_get(role: str, kind: EventKind) -> bool:
    """Return whether a member with ``role`` may get events of ``kind`` at all."""
    return permissions.has_permission(role, kind.needs)


def decide(role: str, kind: EventKind, person: bool | None, default: bool | None) -> bool:
    """Return whether a member with ``role`` gets ``kind`` by mail.

    A required kind goes to its roles. Otherwise the person's choice counts, then the tenant's, then
    whether the role is among those of the kind.
    """
    if not may_get(role, kind):
        return False
    if kind.is_required:
        return role in kind.roles
    chosen = person if person is not None else default
    return role in kind.roles if chosen is None else chosen


def choices(membership: Membership) -> list[Choice]:
    """Return the member's choices, one for each kind that the member's role may get."""
    mine = dict(
        PersonPreference.objects.filter(
            tenant=membership.tenant_id, user=membership.user_id
        ).values_list("kind", "by_mail")
    )
    defaults = of_tenant(membership.tenant)
    return [
        Choice(
            kind,
            decide(membership.role, kind, mine.get(kind.key), defaults.get(kind.key)),
            mine.get(kind.key),
            defaults.get(kind.key),
        )
        for kind in CHOOSABLE
        if may_get(membership.role, kind)
    ]


def of_tenant(tenant: Tenant) -> Mapping[str, bool]:
    """Return {kind: by mail} of the kinds for which the tenant has a default of its own."""
    rows = TenantPreference.objects.filter(tenant=tenant)
    return dict(rows.values_list("kind", "by_mail"))


def receivers(tenant: Tenant, kind: EventKind) -> Iterable[Membership]:
    """Return the members of the tenant who get ``kind`` by mail, by three queries."""
    default = of_tenant(tenant).get(kind.key)
    rows = PersonPreference.objects.filter(tenant=tenant, kind=kind.key)
    people = dict(rows.values_list("user_id", "by_mail"))
    members = Membership.objects.select_related("user").filter(tenant=tenant, user__is_active=True)
    return [
        member
        for member in members.order_by("id")
        if decide(member.role, kind, people.get(member.user_id), default)
    ]
