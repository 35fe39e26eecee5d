"""/tenants/{tenant}/tokens: a tenant's bearer tokens, with which programs call the API."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import pagination, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer, role_field
from controlplane.api.views import TenantView
from controlplane.api.windows import InstantField
from controlplane.core.errors import Missing
from tenants import permissions, queries
from tenants.actions import api_tokens
from tenants.permissions import Permission


class TokenCreateSerializer(StrictSerializer):
    """A token to create. Without `expires_at` it never expires."""

    name = serializers.CharField(max_length=100)
    role = role_field()
    expires_at = InstantField(required=False, allow_null=True, default=None)


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


class NewTokenSerializer(TokenSerializer):
    """A new token. `token` is its secret. Only this answer shows it."""

    token = serializers.CharField()


class TokensView(TenantView):
    """Lists the tokens of a tenant (GET) and creates one (POST)."""

    needs = {"GET": Permission.MANAGE_TOKENS, "POST": Permission.MANAGE_TOKENS}

    @schema.describe(
        "List tokens", response=schema.page_of(TokenSerializer), parameters=schema.PAGE
    )
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tokens that are not revoked, expired ones included, ordered by name."""
        page = pagination.page(request, queries.list_tokens(self.tenant), "name")
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
        row, token = api_tokens.issue(
            tenant=self.tenant, by=self.actor, **serializer.validated_data
        )
        return Response({**TokenSerializer(row).data, "token": token}, status=201)


class TokenView(TenantView):
    """Revokes one token of a tenant (DELETE)."""

    needs = {"DELETE": Permission.MANAGE_TOKENS}

    @schema.describe("Revoke a token", status=204)
    def delete(self, request: Request, tenant: str, token: int) -> Response:
        """Revoke the token, which is refused from now on. Revoking it again changes nothing."""
        # ``list_tokens`` leaves revoked tokens out; revoking one of these again changes nothing.
        row = self.tenant.api_tokens.filter(pk=token).first()
        if row is None:
            raise Missing("There is no such token.", code="api_token.missing")
        api_tokens.revoke(token=row, by=self.actor)
        return Response(status=204)
