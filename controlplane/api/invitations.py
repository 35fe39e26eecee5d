"""/tenants/{tenant}/invitations: people who are invited to a tenant by mail; and accepting."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.members import MemberSerializer
from controlplane.api.serializers import StrictSerializer, role_field
from controlplane.api.views import ApiView, TenantView, person
from tenants import permissions, queries
from tenants.actions import invitations
from tenants.models import Role
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"email": ("email", "id"), "created_at": ("created_at", "id")},
    default="email",
    filters=(
        listing.choice("role", "Invitations with this role.", Role.values),
        listing.search("Part of the email.", "email"),
    ),
)


class InvitationCreateSerializer(StrictSerializer):
    """A person to invite: an email address, with or without an account, and a role."""

    email = serializers.EmailField(max_length=150)
    role = role_field()


class InvitationSerializer(serializers.Serializer[Any]):
    """An invitation that is not accepted yet. Its link is in the mail only."""

    id = serializers.IntegerField()
    email = serializers.EmailField()
    role = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class AcceptSerializer(StrictSerializer):
    """The last part of an invitation's link."""

    token = serializers.CharField(max_length=100)


class InvitationsView(TenantView):
    """Lists the open invitations of a tenant (GET) and invites a person (POST)."""

    needs = {"GET": Permission.MANAGE_TEAM, "POST": Permission.MANAGE_TEAM}

    @schema.describe(
        "List invitations",
        response=schema.page_of(InvitationSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the invitations that are neither accepted nor revoked."""
        page = _LISTING.page(request, queries.list_invitations(self.tenant))
        return Response(pagination.body(page, InvitationSerializer))

    @schema.describe(
        "Invite a person",
        request=InvitationCreateSerializer,
        response=InvitationSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Send a mail with a link that works once, for seven days.

        The role must not have permissions that you lack. The answer does not say whether the
        address has an account.
        """
        serializer = InvitationCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # In addition to ``needs``: nobody may give a role with permissions that they do not have.
        permissions.require_may_give(self.role, serializer.validated_data["role"])
        row = invitations.invite(tenant=self.tenant, by=self.actor, **serializer.validated_data)
        return Response(InvitationSerializer(row).data, status=201)


class InvitationView(TenantView):
    """Revokes one open invitation of a tenant (DELETE)."""

    needs = {"DELETE": Permission.MANAGE_TEAM}
    ends_access = frozenset({"DELETE"})

    @schema.describe("Revoke an invitation", status=204)
    def delete(self, request: Request, tenant: str, invitation: int) -> Response:
        """Revoke the invitation: its link stops working."""
        row = queries.get_invitation(self.tenant, invitation)
        invitations.revoke(invitation=row, by=self.actor)
        return Response(status=204)


class InvitationSendView(TenantView):
    """Sends one open invitation of a tenant again (POST)."""

    needs = {"POST": Permission.MANAGE_TEAM}

    @schema.describe(
        "Send an invitation again",
        response=InvitationSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, invitation: int) -> Response:
        """Send a mail with a new link for seven days; the former link stops working."""
        row = queries.get_invitation(self.tenant, invitation)
        permissions.require_may_give(self.role, row.role)
        renewed = invitations.renew(invitation=row, by=self.actor)
        return Response(InvitationSerializer(renewed).data)


class AcceptView(ApiView):
    """Accepts an invitation (POST)."""

    @schema.describe(
        "Accept an invitation",
        request=AcceptSerializer,
        response=MemberSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Become a member of the tenant that invited you. The invitation must be for your email."""
        serializer = AcceptSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = invitations.accept(
            clear=serializer.validated_data["token"],
            user=person(request),
            by=self.actor,
            session_key=authentication.session_key(request),
        )
        return Response(MemberSerializer(row).data, status=201)
