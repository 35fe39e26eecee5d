"""/tenants/{tenant}/members: the members of a tenant, who are people, and their roles."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer, role_field
from controlplane.api.views import TenantView
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import memberships
from tenants.models import Membership
from tenants.permissions import Permission


class MemberCreateSerializer(StrictSerializer):
    """A member to add: the email of a person who has an account, and the role in the tenant."""

    email = serializers.EmailField(max_length=150)
    role = role_field()


class MemberRoleSerializer(StrictSerializer):
    """The new role of a member."""

    role = role_field()


class MemberSerializer(serializers.Serializer[Any]):
    """A member of a tenant: a person and the person's role."""

    email = serializers.EmailField(source="user.email")
    role = serializers.CharField()
    created_at = serializers.DateTimeField()


class MembersView(TenantView):
    """Lists the members of a tenant (GET) and adds one (POST)."""

    needs = {"GET": Permission.VIEW, "POST": Permission.MANAGE_TEAM}

    @schema.describe(
        "List members", response=schema.page_of(MemberSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the members ordered by email."""
        rows = queries.list_members(self.tenant)
        page = pagination.page(request, rows, "user__email")
        return Response(pagination.body(page, MemberSerializer))

    @schema.describe(
        "Add a member",
        request=MemberCreateSerializer,
        response=MemberSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Add a person who has an account. Others must sign up or log in once first.

        The role must not have permissions that you lack.
        """
        serializer = MemberCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # In addition to ``needs``: nobody may give a role with permissions that they do not have.
        permissions.require_may_give(self.role, serializer.validated_data["role"])
        row = memberships.add(tenant=self.tenant, by=self.actor, **serializer.validated_data)
        return Response(MemberSerializer(row).data, status=201)


class MemberView(TenantView):
    """Shows one member of a tenant (GET), changes the role (PUT), removes the member (DELETE)."""

    needs = {
        "GET": Permission.VIEW,
        "PUT": Permission.MANAGE_TEAM,
        "DELETE": Permission.MANAGE_TEAM,
    }

    @schema.describe("Get a member", response=MemberSerializer)
    def get(self, request: Request, tenant: str, email: str) -> Response:
        """Return the member with this email."""
        return Response(MemberSerializer(self.member(email)).data)

    @schema.describe(
        "Change a member's role", request=MemberRoleSerializer, response=MemberSerializer
    )
    def put(self, request: Request, tenant: str, email: str) -> Response:
        """Change the member's role. The last owner must remain an owner.

        Neither the old nor the new role may have permissions that you lack.
        """
        serializer = MemberRoleSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        before, role = self.member(email), serializer.validated_data["role"]
        # Both roles: callers may neither give nor take permissions that they do not have.
        permissions.require_may_give(self.role, before.role)
        permissions.require_may_give(self.role, role)
        row = memberships.change_role(membership=before, role=role, by=self.actor)
        return Response(MemberSerializer(row).data)

    @schema.describe("Remove a member", status=204)
    def delete(self, request: Request, tenant: str, email: str) -> Response:
        """Remove the member from the tenant; the account stays. The last owner cannot be removed.

        The member's role must not have permissions that you lack.
        """
        row = self.member(email)
        permissions.require_may_give(self.role, row.role)
        memberships.remove(membership=row, by=self.actor)
        return Response(status=204)

    def member(self, email: str) -> Membership:
        """Return the membership of the person with ``email``, in upper or lower case.

        Raises:
            Missing: nobody with this email is a member of the tenant.
        """
        # Emails are stored in lower case.
        row = queries.list_members(self.tenant).filter(user__email=email.lower()).first()
        if row is None:
            raise Missing(f"{email} is not a member.", code="membership.missing")
        return row
