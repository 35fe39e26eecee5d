"""/tenants/{tenant}/tokens: a tenant's bearer tokens, with which programs call the API."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import listing, pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.instants import InstantField
from controlplane.api.serializers import ChoiceOf, StrictSerializer, role_field
from controlplane.api.views import TenantView
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import api_tokens
from tenants.actions.api_tokens import TokenScope
from tenants.models import Role
from tenants.permissions import Permission

_LISTING = listing.Listing(
    sorts={"name": ("name",), "created_at": ("created_at", "id")},
    default="name",
    filters=(
        listing.choice("role", "Tokens with this role.", Role.values),
        listing.search("Part of the name.", "name"),
    ),
)


class TokenCreateSerializer(StrictSerializer):
    """A token to create.

    Without `expires_at` it expires in 90 days; null means never. `spaces` limits it to spaces with
    these names, `permissions` to these permissions of its role; empty lists do not limit.
    """

    name = serializers.CharField(max_length=100)
    role = role_field()
    expires_at = InstantField(required=False, allow_null=True)
    spaces = serializers.ListField(
        child=serializers.CharField(max_length=63), max_length=100, required=False, default=list
    )
    permissions = serializers.ListField(
        child=ChoiceOf([item.value for item in Permission]),
        max_length=len(Permission),
        required=False,
        default=list,
    )


class TokenSerializer(serializers.Serializer[Any]):
    """A token of a tenant without its secret; `prefix` is the beginning of the secret."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    role = serializers.CharField()
    prefix = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    spaces = serializers.ListField(child=serializers.CharField())
    permissions = serializers.ListField(child=serializers.CharField())


class NewTokenSerializer(TokenSerializer):
    """A new token. `token` is its secret. Only this answer shows it.

    `token` is null in the answer to a request that is repeated with its Idempotency-Key.
    """

    token = serializers.CharField(allow_null=True)


class TokensView(TenantView):
    """Lists the tokens of a tenant (GET) and creates one (POST)."""

    needs = {"GET": Permission.MANAGE_TOKENS, "POST": Permission.MANAGE_TOKENS}

    @schema.describe(
        "List tokens",
        response=schema.page_of(TokenSerializer),
        parameters=_LISTING.parameters,
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tokens that are not revoked, expired ones included."""
        page = _LISTING.page(request, queries.list_tokens(self.tenant))
        return Response(pagination.body(page, TokenSerializer))

    @schema.describe(
        "Create a token",
        request=TokenCreateSerializer,
        response=NewTokenSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Create a token for a program. Only this answer contains its secret.

        Its role must not have permissions that you lack.
        """
        serializer = TokenCreateSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        # As for members: a token must not have permissions that its creator lacks.
        permissions.require_may_give(self.role, serializer.validated_data["role"])
        values = serializer.validated_data
        row, token = api_tokens.issue(
            tenant=self.tenant,
            name=values["name"],
            role=values["role"],
            # Absent and null differ: null is a token without an end.
            expires_at=values.get("expires_at", timezone.now() + api_tokens.DEFAULT_LIFETIME),
            by=self.actor,
            scope=TokenScope(values["spaces"], values["permissions"]),
        )
        return Response({**TokenSerializer(row).data, "token": token}, status=201)


class TokenRotateView(TenantView):
    """Rotates one token of a tenant (POST)."""

    needs = {"POST": Permission.MANAGE_TOKENS}

    @schema.describe(
        "Rotate a token",
        response=NewTokenSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str, token: int) -> Response:
        """Replace the token: the same name, role, scope and lifetime, and a new secret.

        The former secret stops working at once. A token that never expires gets 90 days.
        """
        # Without revoked tokens, which have nothing to replace.
        row = queries.list_tokens(self.tenant).filter(pk=token).first()
        if row is None:
            raise Missing("There is no such token.", code="api_token.missing")
        # The caller learns the new secret, so the role must not have more than the caller has.
        permissions.require_may_give(self.role, row.role)
        following, clear = api_tokens.rotate(token=row, by=self.actor)
        return Response({**TokenSerializer(following).data, "token": clear}, status=201)


class TokenView(TenantView):
    """Revokes one token of a tenant (DELETE)."""

    needs = {"DELETE": Permission.MANAGE_TOKENS}
    ends_access = frozenset({"DELETE"})

    @schema.describe("Revoke a token", status=204)
    def delete(self, request: Request, tenant: str, token: int) -> Response:
        """Revoke the token, which is refused from now on. Revoking it again changes nothing."""
        # ``list_tokens`` leaves revoked tokens out; revoking one of these again changes nothing.
        row = self.tenant.api_tokens.filter(pk=token).first()
        if row is None:
            raise Missing("There is no such token.", code="api_token.missing")
        api_tokens.revoke(token=row, by=self.actor)
        return Response(status=204)
