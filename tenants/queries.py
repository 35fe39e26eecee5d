"""Queries for tenants and for the rows that belong to them. Nothing here changes a row.

A function that takes a tenant, or a row that belongs to one, reads that tenant's rows only. A
``get_…`` of another tenant's row raises Missing, as if the row did not exist. Only ``membership``
checks what the caller may see. Functions that read rows of all tenants are for staff and workers,
and say so. A row that is being deleted is not deleted yet, so it is listed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from controlplane.core import address_types
from controlplane.core.errors import Missing
from controlplane.core.models import AuditEvent, Operation
from tenants.models import (
    Address,
    AddressReading,
    AddressSpace,
    ApiToken,
    ClientConnection,
    Disconnection,
    InstanceConnections,
    Invitation,
    Membership,
    MessageRequest,
    MessageRequestKind,
    MessagingUser,
    Tenant,
    User,
)


def membership(user: User, tenant_slug: str) -> Membership:
    """Return the membership of ``user`` in the tenant with this slug.

    Raises:
        Missing: there is no such tenant, or ``user`` is not a member of it.
    """
    found = (
        Membership.objects.select_related("tenant", "user")
        .filter(user=user, tenant__slug=tenant_slug)
        .first()
    )
    if found is None:
        raise Missing(f"There is no tenant {tenant_slug!r} that you belong to.")
    return found


def tenants_of(user: User) -> QuerySet[Membership, Membership]:
    """Return the memberships of ``user``, each with its tenant loaded, sorted by tenant name."""
    return user.memberships.select_related("tenant").order_by("tenant__name", "tenant__slug")


def get_tenant(slug: str) -> Tenant:
    """Return any tenant by its slug, for staff; raise Missing if there is none."""
    found = Tenant.objects.filter(slug=slug).first()
    if found is None:
        raise Missing(f"There is no tenant {slug!r}.")
    return found


def list_tenants(search: str = "") -> QuerySet[Tenant, Tenant]:
    """Return all tenants whose name or slug contains ``search``, sorted by name, for staff.

    An empty ``search`` returns all. Upper and lower case are equal.
    """
    wanted = Q(name__icontains=search) | Q(slug__icontains=search)
    return Tenant.objects.filter(wanted).order_by("name", "slug")


def list_members(tenant: Tenant) -> QuerySet[Membership, Membership]:
    """Return the tenant's memberships, each with its user loaded, sorted by email."""
    return tenant.memberships.select_related("user").order_by("user__email")


def list_invitations(tenant: Tenant) -> QuerySet[Invitation, Invitation]:
    """Return the tenant's invitations that are neither accepted nor revoked, sorted by email.

    Expired ones are among them: they can be sent again.
    """
    return tenant.invitations.filter(accepted_at__isnull=True, revoked_at__isnull=True).order_by(
        "email"
    )


def get_invitation(tenant: Tenant, invitation_id: int) -> Invitation:
    """Return one of ``list_invitations`` by its id; raise Missing if there is none."""
    found = list_invitations(tenant).filter(pk=invitation_id).first()
    if found is None:
        raise Missing(
            "There is no such invitation; it is accepted or revoked.", code="invitation.missing"
        )
    return found


def list_tokens(tenant: Tenant) -> QuerySet[ApiToken, ApiToken]:
    """Return the tenant's API tokens that are not revoked, sorted by name; also expired ones."""
    return tenant.api_tokens.filter(revoked_at__isnull=True).order_by("name")


def list_spaces(tenant: Tenant) -> QuerySet[AddressSpace, AddressSpace]:
    """Return the tenant's spaces that are not deleted, sorted by name.

    Those that are being deleted are among them.
    """
    return (
        AddressSpace.objects.select_related("tenant", "space_plan")
        .filter(tenant=tenant, deleted_at__isnull=True)
        .order_by("name")
    )


def list_sampled_spaces() -> QuerySet[AddressSpace, AddressSpace]:
    """Return the spaces of all tenants that the regular sampling cycle reads, for workers.

    Those are the spaces that have been Active at least once and are not being deleted, sorted by
    id.
    """
    return AddressSpace.objects.filter(
        active_since__isnull=False, deletion_requested_at__isnull=True, deleted_at__isnull=True
    ).order_by("id")


def get_space(tenant: Tenant, name: str) -> AddressSpace:
    """Return the tenant's space ``name``, with its tenant and plan loaded.

    Raises:
        Missing: the tenant has no such space that is not deleted.
    """
    found = list_spaces(tenant).filter(name=name).first()
    if found is None:
        raise Missing(f"There is no address space {name!r} here.", code="address_space.missing")
    return found


def space_names(tenant: Tenant) -> dict[str, str]:
    """Return {space id: name} of every space of the tenant, deleted ones included."""
    return dict(AddressSpace.objects.filter(tenant=tenant).values_list("id", "name"))


def list_addresses(space: AddressSpace) -> QuerySet[Address, Address]:
    """Return the space's addresses that are not deleted, each with its plan and topic loaded.

    They are sorted by name. Addresses that are being deleted are among them.
    """
    return (
        Address.objects.select_related("address_plan", "topic")
        .filter(space=space, deleted_at__isnull=True)
        .order_by("address")
    )


def name_addresses(space: AddressSpace) -> QuerySet[Address, Address]:
    """Return the addresses of ``list_addresses`` with nothing but their id, name and type loaded.

    For forms that offer them: whole rows of a large space take longer than the rest of a page.
    """
    # Django refuses ``only`` without a relation that ``select_related`` loads.
    return list_addresses(space).select_related(None).only("address", "type")


def has_clients_addresses(space: AddressSpace) -> bool:
    """Return whether the space has an address that clients may send to.

    Dead-letter addresses do not count, because clients only receive from them.
    """
    read_only = [row.slug for row in address_types.REGISTRY if row.is_read_only]
    return list_addresses(space).exclude(type__in=read_only).exists()


def had_messages(space: AddressSpace) -> bool:
    """Return whether a message went to an address of the space, or a test message was requested."""
    sent = MessageRequest.objects.filter(space=space, kind=MessageRequestKind.SEND)
    counted = AddressReading.objects.filter(address__space=space, messages_in__gt=0)
    return counted.exists() or sent.exists()


def get_address(space: AddressSpace, address: str) -> Address:
    """Return the space's address with the name ``address``, its space and tenant loaded.

    Raises:
        Missing: the space has no such address that is not deleted.
    """
    found = list_addresses(space).select_related("space__tenant").filter(address=address).first()
    if found is None:
        raise Missing(f"There is no address {address!r} in this space.", code="address.missing")
    return found


def list_users(space: AddressSpace) -> QuerySet[MessagingUser, MessagingUser]:
    """Return the space's messaging users that are not deleted, sorted by name.

    Users that are being revoked are among them.
    """
    return MessagingUser.objects.filter(space=space, deleted_at__isnull=True).order_by("name")


def get_user(space: AddressSpace, name: str) -> MessagingUser:
    """Return the space's messaging user ``name``, with its space and tenant loaded.

    Raises:
        Missing: the space has no such user that is not deleted.
    """
    found = list_users(space).select_related("space__tenant").filter(name=name).first()
    if found is None:
        raise Missing(f"There is no user {name!r} in this space.", code="messaging_user.missing")
    return found


def list_message_requests(space: AddressSpace) -> QuerySet[MessageRequest, MessageRequest]:
    """Return the space's stored requests for operations on messages, newest first.

    Requests for deleted addresses are among them. Workers delete a browse some minutes and any
    other request 30 days after its end.
    """
    return (
        MessageRequest.objects.select_related("address__topic", "space__tenant")
        .filter(space=space)
        .order_by("-created_at", "-id")
    )


def get_message_request(space: AddressSpace, request_id: str) -> MessageRequest:
    """Return one request for an operation on messages of the space by the request's id.

    Raises:
        Missing: the space never had such a request, or a worker has deleted it after its end.
    """
    found = list_message_requests(space).filter(pk=request_id).first()
    if found is None:
        raise Missing(
            "There is no such request: its answer is deleted after some minutes; ask again.",
            code="message_request.missing",
        )
    return found


@dataclass(frozen=True)
class ConnectionFilter:
    """Selects connections by messaging user and by an address that they have links on.

    An empty value does not filter. Both values together must match.
    """

    user: str = ""
    address: str = ""


@dataclass(frozen=True)
class UserReading:
    """What the listed open connections of one messaging user add up to, as last read.

    Rates are messages per second; None if no connection has one yet.
    """

    connections: int = 0
    links: int = 0
    sent_per_second: float | None = None
    received_per_second: float | None = None


def list_connections(
    space: AddressSpace, wanted: ConnectionFilter
) -> QuerySet[ClientConnection, ClientConnection]:
    """Return the clients' connections that have a row and match ``wanted``, sorted by user.

    The rows show the connections as the sampler last saw them. An instance with very many
    connections has rows for only some of them (``list_instance_connections``).
    """
    rows = ClientConnection.objects.filter(space=space)
    if wanted.user:
        rows = rows.filter(messaging_user=wanted.user)
    if wanted.address:
        rows = rows.filter(addresses__contains=[wanted.address])
    return rows.order_by("messaging_user", "name")


def users_readings(space: AddressSpace, names: Iterable[str]) -> dict[str, UserReading]:
    """Return {name of a messaging user: what its open connections add up to}, by one query.

    A user without a listed connection is missing in the result.
    """
    rows = (
        ClientConnection.objects.filter(space=space, messaging_user__in=names)
        .values("messaging_user")
        .annotate(
            n_connections=Count("id"),
            n_links=Sum("links"),
            sent=Sum("sent_per_second"),
            received=Sum("received_per_second"),
        )
    )
    return {
        row["messaging_user"]: UserReading(
            row["n_connections"], row["n_links"], row["sent"], row["received"]
        )
        for row in rows.order_by()
    }


def list_instance_connections(
    space: AddressSpace,
) -> QuerySet[InstanceConnections, InstanceConnections]:
    """Return one row for each instance of the space whose connections were read, by instance.

    A row says when they were read, how many there are, and how many ``list_connections`` can list.
    """
    return InstanceConnections.objects.filter(space=space).order_by("instance")


def list_operations(tenant: Tenant, spaces: Sequence[str] = ()) -> QuerySet[Operation, Operation]:
    """Return the tenant's operations, running and ended ones, newest first.

    ``spaces`` limits them to those on spaces with these names, deleted ones included, and on what
    belongs to these spaces. Empty: all operations of the tenant.
    """
    rows = Operation.objects.filter(tenant_id=tenant.pk).order_by("-created_at", "-id")
    if not spaces:
        return rows
    # An operation names its subject by type and id, without a foreign key to join by.
    own = AddressSpace.objects.filter(tenant=tenant, name__in=spaces)
    within: Mapping[str, QuerySet[Any]] = {
        "address_space": own,
        "address": Address.objects.filter(space__in=own),
        "messaging_user": MessagingUser.objects.filter(space__in=own),
        "message_request": MessageRequest.objects.filter(space__in=own),
        "connections": Disconnection.objects.filter(space__in=own),
    }
    wanted = Q()
    for kind, subjects in within.items():
        wanted |= Q(subject_type=kind, subject_id__in=subjects.values("pk"))
    return rows.filter(wanted)


def get_operation(tenant: Tenant, operation_id: str, spaces: Sequence[str] = ()) -> Operation:
    """Return one of ``list_operations`` by its id; raise Missing if there is none."""
    found = list_operations(tenant, spaces).filter(pk=operation_id).first()
    if found is None:
        raise Missing(f"There is no operation {operation_id!r}.", code="operation.missing")
    return found


def is_started_by(token: ApiToken, operation_id: str) -> bool:
    """Return whether ``token`` started the operation, and may still see what it is about."""
    rows = list_operations(token.tenant, token.spaces)
    return rows.filter(pk=operation_id, token_id=str(token.pk)).exists()


def list_audit(tenant: Tenant) -> QuerySet[AuditEvent, AuditEvent]:
    """Return the tenant's audit events, newest first."""
    return AuditEvent.objects.filter(tenant_id=tenant.pk).order_by("-at", "-id")
