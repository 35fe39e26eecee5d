"""Reads of tenants and of the rows that belong to them.

A function that takes a tenant, or a row that belongs to one, reads that tenant's rows only. A
``get_…`` of another tenant's row raises Missing, as if it did not exist. Functions that read rows
of all tenants are for staff and workers, and say so.
"""

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from controlplane.core import address_types
from controlplane.core.errors import Missing
from controlplane.core.models import AuditEvent, Operation
from tenants.models import (
    Address,
    AddressSpace,
    ApiToken,
    ClientConnection,
    InstanceConnections,
    Membership,
    MessageRequest,
    MessagingUser,
    Tenant,
    User,
)


def membership(user: User, tenant_slug: str) -> Membership:
    """Return the user's membership of the tenant with this slug; raise Missing without one."""
    found = (
        Membership.objects.select_related("tenant", "user")
        .filter(user=user, tenant__slug=tenant_slug)
        .first()
    )
    if found is None:
        raise Missing(f"There is no tenant {tenant_slug!r} that you belong to.")
    return found


def tenants_of(user: User) -> QuerySet[Membership, Membership]:
    """Return the user's memberships with their tenants, by tenant name."""
    return user.memberships.select_related("tenant").order_by("tenant__name", "tenant__slug")


def get_tenant(slug: str) -> Tenant:
    """Return any tenant by its slug, for staff; raise Missing if there is none."""
    found = Tenant.objects.filter(slug=slug).first()
    if found is None:
        raise Missing(f"There is no tenant {slug!r}.")
    return found


def list_tenants(search: str = "") -> QuerySet[Tenant, Tenant]:
    """Return the tenants whose name or slug contains ``search``, by name, for staff."""
    wanted = Q(name__icontains=search) | Q(slug__icontains=search)
    return Tenant.objects.filter(wanted).order_by("name", "slug")


def list_members(tenant: Tenant) -> QuerySet[Membership, Membership]:
    """Return the tenant's members with their users, by email."""
    return tenant.memberships.select_related("user").order_by("user__email")


def list_tokens(tenant: Tenant) -> QuerySet[ApiToken, ApiToken]:
    """Return the tenant's API tokens that are not revoked, by name."""
    return tenant.api_tokens.filter(revoked_at__isnull=True).order_by("name")


def list_spaces(tenant: Tenant) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the tenant's spaces that are not deleted, by name."""
    return (
        AddressSpace.objects.select_related("tenant", "space_plan")
        .filter(tenant=tenant, deleted_at__isnull=True)
        .order_by("name")
    )


def list_sampled_spaces() -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of all tenants that the regular sampling cycle reads, by id, for workers.

    Those are the spaces that have ever been Active and are not being deleted.
    """
    return AddressSpace.objects.filter(
        active_since__isnull=False, deletion_requested_at__isnull=True, deleted_at__isnull=True
    ).order_by("id")


def get_space(tenant: Tenant, name: str) -> AddressSpace:
    """Return the tenant's space ``name``; raise Missing if there is none or it is deleted."""
    found = list_spaces(tenant).filter(name=name).first()
    if found is None:
        raise Missing(f"There is no address space {name!r} here.", code="address_space.missing")
    return found


def space_names(tenant: Tenant) -> dict[str, str]:
    """Return {id: name} of every space of the tenant, deleted ones included."""
    return dict(AddressSpace.objects.filter(tenant=tenant).values_list("id", "name"))


def list_addresses(space: AddressSpace) -> QuerySet[Address, Address]:
    """Return the space's addresses that are not deleted, by address."""
    return (
        Address.objects.select_related("address_plan", "topic")
        .filter(space=space, deleted_at__isnull=True)
        .order_by("address")
    )


def has_clients_addresses(space: AddressSpace) -> bool:
    """Return whether the space has an address that clients may send to.

    The address for dead letters, which a new space begins with, is none.
    """
    read_only = [row.slug for row in address_types.REGISTRY if row.is_read_only]
    return list_addresses(space).exclude(type__in=read_only).exists()


def get_address(space: AddressSpace, address: str) -> Address:
    """Return the space's address ``address``; raise Missing if there is none or it is deleted."""
    found = list_addresses(space).select_related("space__tenant").filter(address=address).first()
    if found is None:
        raise Missing(f"There is no address {address!r} in this space.", code="address.missing")
    return found


def list_users(space: AddressSpace) -> QuerySet[MessagingUser, MessagingUser]:
    """Return the space's messaging users that are not deleted, by name."""
    return MessagingUser.objects.filter(space=space, deleted_at__isnull=True).order_by("name")


def get_user(space: AddressSpace, name: str) -> MessagingUser:
    """Return the space's user ``name``; raise Missing if there is none or it is deleted."""
    found = list_users(space).select_related("space__tenant").filter(name=name).first()
    if found is None:
        raise Missing(f"There is no user {name!r} in this space.", code="messaging_user.missing")
    return found


def list_message_requests(space: AddressSpace) -> QuerySet[MessageRequest, MessageRequest]:
    """Return the space's requests for operations on messages, newest first."""
    return (
        MessageRequest.objects.select_related("address__topic", "space__tenant")
        .filter(space=space)
        .order_by("-created_at", "-id")
    )


def get_message_request(space: AddressSpace, request_id: str) -> MessageRequest:
    """Return one request of the space by its id; raise Missing if there is none any more."""
    found = list_message_requests(space).filter(pk=request_id).first()
    if found is None:
        raise Missing(
            "There is no such request: its answer is deleted after some minutes; ask again.",
            code="message_request.missing",
        )
    return found


@dataclass(frozen=True)
class ConnectionFilter:
    """Which connections to list; an empty value does not filter."""

    user: str = ""
    address: str = ""


def list_connections(
    space: AddressSpace, wanted: ConnectionFilter
) -> QuerySet[ClientConnection, ClientConnection]:
    """Return the listed connections of the space's clients, by user."""
    rows = ClientConnection.objects.filter(space=space)
    if wanted.user:
        rows = rows.filter(messaging_user=wanted.user)
    if wanted.address:
        rows = rows.filter(addresses__contains=[wanted.address])
    return rows.order_by("messaging_user", "name")


def list_instance_connections(
    space: AddressSpace,
) -> QuerySet[InstanceConnections, InstanceConnections]:
    """Return when each instance's connections were read, and how many there are, by instance."""
    return InstanceConnections.objects.filter(space=space).order_by("instance")


def list_operations(tenant: Tenant) -> QuerySet[Operation, Operation]:
    """Return the tenant's operations, newest first."""
    return Operation.objects.filter(tenant_id=tenant.pk).order_by("-created_at", "-id")


def get_operation(tenant: Tenant, operation_id: str) -> Operation:
    """Return one operation of the tenant by its id; raise Missing if there is none."""
    found = list_operations(tenant).filter(pk=operation_id).first()
    if found is None:
        raise Missing(f"There is no operation {operation_id!r}.", code="operation.missing")
    return found


def list_audit(tenant: Tenant) -> QuerySet[AuditEvent, AuditEvent]:
    """Return the tenant's audit events, newest first."""
    return AuditEvent.objects.filter(tenant_id=tenant.pk).order_by("-at", "-id")
