"""Rows for reconcile tests, made through the product's own actions."""

import secrets

from controlplane.core.address_types import AddressSettings
from controlplane.core.audit import SYSTEM
from plans.catalog import publishing
from tenants.actions import address_spaces, addresses, messaging_users, tenants
from tenants.models import Address, AddressSpace, MessagingUser, Tenant

PASSWORD = "correct horse battery"


def make_tenant(plan: str = "business") -> Tenant:
    publishing.ensure_default(by=SYSTEM)
    mark = secrets.token_hex(4)
    signed_up = tenants.sign_up(
        email=f"owner-{mark}@example.org",
        password=secrets.token_hex(16),
        organization=f"Org {mark}",
        plan_key=plan,
        by=SYSTEM,
    )
    return signed_up.tenant


def make_space(
    tenant: Tenant, name: str = "orders", kind: str = "brokered", size: str = "small"
) -> AddressSpace:
    space, _operation = address_spaces.create(
        tenant=tenant, name=name, type=kind, space_plan=f"{kind}-{size}", by=SYSTEM
    )
    return space


def make_address(
    space: AddressSpace,
    address: str,
    kind: str = "queue",
    settings: AddressSettings | None = None,
    size: str = "small",
) -> Address:
    row, _operation = addresses.create(
        space=space,
        address=address,
        type=kind,
        address_plan=f"{space.type}-{size}-{kind}",
        settings=settings,
        by=SYSTEM,
    )
    return row


def make_user(space: AddressSpace, name: str, *permissions: tuple[str, str]) -> MessagingUser:
    """Make a user with (pattern, "send recv") permissions and the password of the cast."""
    row, _operation = messaging_users.create(
        space=space,
        name=name,
        password=PASSWORD,
        permissions=[
            {"addresses": [pattern], "operations": operations.split()}
            for pattern, operations in permissions
        ],
        by=SYSTEM,
    )
    return row
