"""Tenants with their people, spaces, addresses and users, as the actions make them."""

from dataclasses import dataclass
from itertools import count
from typing import Any

from django.utils import timezone

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM, Actor
from controlplane.core.phases import Phase
from plans.catalog import publishing
from plans.models import QuotaOverride
from tenants.actions import address_spaces, addresses, memberships, messaging_users, tenants
from tenants.models import Address, AddressSpace, MessagingUser, Role, Tenant, User

_numbers = count(1)
PASSWORD = "correct-horse-8"
EVERYTHING = [{"addresses": ["#"], "operations": ["send", "recv"]}]


@dataclass(frozen=True)
class Cast:
    """``tenant`` with its owner and a developer, and an outsider who owns ``other``."""

    tenant: Tenant
    owner: User
    member: User
    other: Tenant
    outsider: User

    @property
    def by(self) -> Actor:
        """The owner as the audit names them."""
        return Actor(f"user:{self.owner.email}")


def cast(plan: str = "team") -> Cast:
    """Return a new cast of three on ``plan`` of the default catalog."""
    publishing.ensure_default(by=SYSTEM)
    number = next(_numbers)
    mine = signed_up(f"owner-{number}@acme.test", f"Acme {number}", plan)
    theirs = signed_up(f"outsider-{number}@other.test", f"Other {number}", plan)
    member = person(f"member-{number}@acme.test")
    memberships.add(tenant=mine.tenant, email=member.email, role=Role.DEVELOPER, by=SYSTEM)
    return Cast(mine.tenant, mine.user, member, theirs.tenant, theirs.user)


def signed_up(email: str, organization: str, plan: str = "team") -> tenants.SignedUp:
    """Return a person without a password (hashing is slow) with a tenant of their own."""
    return tenants.sign_up(
        email=email, password=None, organization=organization, plan_key=plan, by=SYSTEM
    )


def person(email: str) -> User:
    """Return an account that belongs to no tenant."""
    return User.objects.create_user(email, email)


def space(tenant: Tenant, kind: str = "standard", size: str = "small") -> AddressSpace:
    """Return a new space that waits for the workers."""
    row, _ = address_spaces.create(
        tenant=tenant,
        name=f"space-{next(_numbers)}",
        type=kind,
        space_plan=f"{kind}-{size}",
        by=SYSTEM,
    )
    return row


def address(of: AddressSpace, name: str, kind: str = "queue", **settings: Any) -> Address:
    """Return a new small address of ``of``."""
    row, _ = addresses.create(
        space=of,
        address=name,
        type=kind,
        address_plan=f"{of.type}-small-{kind}",
        settings=AddressSettings(**settings),
        by=SYSTEM,
    )
    return row


def user(of: AddressSpace, name: str = "app") -> MessagingUser:
    """Return a new messaging user who may do everything."""
    row, _ = messaging_users.create(
        space=of, name=name, password=PASSWORD, permissions=EVERYTHING, by=SYSTEM
    )
    return row


def limit(tenant: Tenant, resource: str, amount: int) -> QuotaOverride:
    """Set the tenant's limit of a resource."""
    return QuotaOverride.objects.create(
        tenant=tenant, resource=resource, amount=amount, reason="test", set_by="test"
    )


def gone(row: AddressSpace | Address | MessagingUser) -> None:
    """Do what the workers do at the end of a deletion, asked for or not."""
    row.refresh_from_db()
    row.deletion_requested_at = row.deletion_requested_at or timezone.now()
    row.phase, row.deleted_at = Phase.TERMINATING, timezone.now()
    row.save()
