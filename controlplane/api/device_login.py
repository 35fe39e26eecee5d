"""/login-options, /session/device: the login of the command through the identity provider.

``waypost login --device`` reads the first, logs in at the provider, and posts the provider's tokens
to the second.
"""

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts import device_login, provider_logout
from controlplane.accounts.device_login import Tokens
from controlplane.api import person_tokens, schema
from controlplane.api.serializers import StrictSerializer
from controlplane.api.sessions import SessionSerializer, new_session
from controlplane.api.views import PublicView

_LONGEST_TOKEN = 20_000  # characters


class DeviceOptionSerializer(serializers.Serializer[Any]):
    """How a command begins a login at the identity provider (RFC 8628).

    `nonce` belongs into the device authorization request, and again into the body of
    `POST /session/device`. It can be used once, within an hour.
    """

    issuer = serializers.URLField()
    client_id = serializers.CharField()
    scope = serializers.CharField()
    nonce = serializers.CharField()


class LoginOptionsSerializer(serializers.Serializer[Any]):
    """How people can log in. `device` is null where the command cannot use the provider."""

    local_accounts = serializers.BooleanField()
    device = DeviceOptionSerializer(allow_null=True)


class DeviceTokensSerializer(StrictSerializer):
    """The tokens that the identity provider gave the command, and the nonce of this login."""

    id_token = serializers.CharField(max_length=_LONGEST_TOKEN)
    access_token = serializers.CharField(max_length=_LONGEST_TOKEN)
    nonce = serializers.CharField(max_length=500)


class LoginOptionsView(PublicView):
    """Says how people can log in (GET)."""

    @schema.describe("Get the login options", response=LoginOptionsSerializer, auth=[])
    def get(self, request: Request) -> Response:
        """Return whether people have passwords, and how a command uses the identity provider."""
        device = {
            "issuer": settings.OIDC_ISSUER,
            "client_id": settings.OIDC_DEVICE_CLIENT_ID,
            "scope": settings.OIDC_RP_SCOPES,
            "nonce": device_login.new_nonce(),
        }
        body = {
            "local_accounts": settings.LOCAL_ACCOUNTS_ENABLED,
            "device": device if device_login.is_offered() else None,
        }
        return Response(body)


class DeviceSessionView(PublicView):
    """Logs a person in with tokens of the identity provider (POST)."""

    @schema.describe(
        "Log in by device",
        request=DeviceTokensSerializer,
        response=SessionSerializer,
        status=201,
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Return a new token that acts for the person for twelve hours.

        The identity token must be one of the configured provider for the client of
        `GET /login-options`, with the nonce of this login. Whose account it is, and who is refused
        (403, `login.refused`), is decided as in the portal; a second factor is the provider's.
        """
        serializer = DeviceTokensSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        found = device_login.log_in(request._request, Tokens(**serializer.validated_data))
        body = new_session(request, found.user)
        # A logout at the provider ends this session too.
        provider_logout.remember(person_tokens.row_key(body["token"]), found.provider_session)
        return Response(body, status=201)
