"""/tenants/{tenant}/members: the members of a tenant, who are people, and their roles."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer, role_field
from controlplane.api.views import TenantView, person
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import memberships
from tenants.models import Membership, Role, Tenant
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"email": ("user__email",), "created_at": ("created_at", "id"), "role": ("role", "id")},
    default="email",
    filters=(
        listing.choice("role", "Members with this role.", Role.values),
        listing.search("Part of the email.", "user__email"),
    ),
)


class MemberRoleSerializer(StrictSerializer):
    """The new role of a member."""

    role = role_field()


class TransferSerializer(StrictSerializer):
    """The member who becomes an owner."""

    email = serializers.EmailField(max_length=150)


class MemberSerializer(serializers.Serializer[Any]):
    """A member of a tenant: a person and the person's role."""

    email = serializers.EmailField(source="user.email")
    role = serializers.CharField()
    created_at = serializers.DateTimeField()


class MembersView(TenantView):
    """Lists the members of a tenant (GET). ``invitations`` adds members."""

    needs = {"GET": Permission.VIEW}

    @schema.describe(
        "List members",
        response=schema.page_of(MemberSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the members of the tenant."""
        rows = queries.list_members(self.tenant)
        page = _LISTING.page(request, rows)
        return Response(pagination.body(page, MemberSerializer))


class TransferView(TenantView):
    """Hands the ownership of a tenant over (POST)."""

    needs = {"POST": Permission.MANAGE_TENANT}

    @schema.describe(
        "Transfer ownership",
        request=TransferSerializer,
        response=MemberSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Make another member an owner, and yourself an admin."""
        serializer = TransferSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        following = find_member(self.tenant, serializer.validated_data["email"])
        mine = queries.membership(person(request), self.tenant.slug)
        row = memberships.transfer(owner=mine, to=following, by=self.actor)
        return Response(MemberSerializer(row).data)


class LeaveView(TenantView):
    """Ends the caller's own membership of a tenant (POST)."""

    needs = {"POST": Permission.VIEW}

    @schema.describe("Leave a tenant", status=204, parameters=[schema.IDEMPOTENCY_KEY])
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Leave the tenant; your account stays. The last owner must first transfer ownership."""
        mine = queries.membership(person(request), self.tenant.slug)
        memberships.remove(membership=mine, by=self.actor)
        return Response(status=204)


class MemberView(TenantView):
    """Shows one member of a tenant (GET), changes the role (PUT), removes the member (DELETE)."""

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_TEAM,
        "DELETE": Permission.MANAGE_TEAM,
    }
    ends_access = frozenset({"DELETE"})

    @schema.describe("Get a member", response=MemberSerializer)
    def get(self, request: Request, tenant: str, email: str) -> Response:
        """Return the member with this email."""
        return etags.tagged(MemberSerializer(find_member(self.tenant, email)).data)

    @schema.describe(
        "Change a member's role",
        request=MemberRoleSerializer,
        response=MemberSerializer,
        parameters=[schema.MUST_MATCH],
    )
    def put(self, request: Request, tenant: str, email: str) -> Response:
        """Change the member's role. The last owner must remain an owner.

        Neither the old nor the new role may have permissions that you lack.
        """
        serializer = MemberRoleSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        before, role = find_member(self.tenant, email), serializer.validated_data["role"]
        # Both roles: callers may neither give nor take permissions that they do not have.
        permissions.require_may_give(self.role, before.role)
        permissions.require_may_give(self.role, role)
        row = etags.change(
            request,
            self.tenant,
            lambda: MemberSerializer(find_member(self.tenant, email)).data,
            lambda: memberships.change_role(membership=before, role=role, by=self.actor),
        )
        return etags.tagged(MemberSerializer(row).data)

    @schema.describe("Remove a member", status=204)
    def delete(self, request: Request, tenant: str, email: str) -> Response:
        """Remove the member from the tenant; the account stays. The last owner cannot be removed.

        The member's role must not have permissions that you lack.
        """
        row = find_member(self.tenant, email)
        permissions.require_may_give(self.role, row.role)
        memberships.remove(membership=row, by=self.actor)
        return Response(status=204)


def find_member(tenant: Tenant, email: str) -> Membership:
    """Return the membership of the person with ``email``, in upper or lower case.

    Raises:
        Missing: nobody with this email is a member of the tenant.
    """
    # Emails are stored in lower case.
    row = queries.list_members(tenant).filter(user__email=email.lower()).first()
    if row is None:
        raise Missing(f"{email} is not a member.", code="membership.missing")
    return row
