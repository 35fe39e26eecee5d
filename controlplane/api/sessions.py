"""/signup, /session, /me: how people get in.

``waypost login`` posts email and password to /session and keeps the answer's token.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import authentication, person_tokens, schema
from controlplane.api.authentication import TokenPrincipal
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import ApiView, PublicView
from controlplane.core import throttling
from controlplane.core.errors import Conflict, Denied
from tenants import queries
from tenants.actions import tenants
from tenants.models import User


class PasswordsOff(Denied):
    """Local accounts are switched off: only the identity provider lets people in."""

    code = "local_accounts.disabled"


class NotAPersonsToken(Conflict):
    """A tenant's token is ended in the tenant's list of tokens."""

    code = "session.tenant_token"


class SignupSerializer(StrictSerializer):
    """What a new customer says."""

    email = serializers.EmailField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False)
    organisation = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")


class CredentialsSerializer(StrictSerializer):
    """A local account's email and password."""

    email = serializers.EmailField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False)


class MembershipSerializer(serializers.Serializer[Any]):
    """A tenant that the caller may work in, and as what."""

    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField()


class CallerSerializer(serializers.Serializer[Any]):
    """Who calls."""

    kind = serializers.ChoiceField(["person", "token"])
    name = serializers.CharField(help_text="A person's email, or a token's name.")
    is_staff = serializers.BooleanField()
    tenants = MembershipSerializer(many=True)


class SessionSerializer(CallerSerializer):
    """A new session: send ``token`` as a bearer token."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()


class SignupView(PublicView):
    """A new person with a new tenant."""

    @schema.describe(
        "Sign up",
        request=SignupSerializer,
        response=SessionSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
        auth=[],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Make an account, its tenant and the tenant's plan subscription, and log in."""
        _require_local_accounts()
        asked = SignupSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        throttling.require_signup(request, values["email"])
        signed_up = tenants.sign_up(
            email=values["email"],
            password=values["password"],
            organisation=values["organisation"],
            plan_key=values["plan"],
            by=None,
        )
        return Response(_session(signed_up.user), status=201)


class SessionView(ApiView):
    """Log in and out."""

    @schema.describe(
        "Log in", request=CredentialsSerializer, response=SessionSerializer, status=201, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Answer a token that stands for the person for twelve hours."""
        _require_local_accounts()
        asked = CredentialsSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        values = asked.validated_data
        throttling.require_login(request, values["email"])
        user = authenticate(None, username=values["email"].lower(), password=values["password"])
        if not isinstance(user, User):
            raise AuthenticationFailed("This email and password do not belong together.")
        return Response(_session(user), status=201)

    @schema.describe("Log out", status=204)
    def delete(self, request: Request) -> Response:
        """End the token that this request was sent with."""
        token = str(request.auth or "")
        if not token.startswith(person_tokens.PREFIX):
            raise NotAPersonsToken("Revoke a tenant's token under /tenants/{tenant}/tokens.")
        person_tokens.end(token)
        return Response(status=204)

    def get_permissions(self) -> list[Any]:
        """Anyone may log in."""
        return [] if self.request.method == "POST" else [*super().get_permissions()]


class MeView(ApiView):
    """The caller."""

    @schema.describe("Say who I am", response=CallerSerializer)
    def get(self, request: Request) -> Response:
        """Answer who calls and in which tenants they may work."""
        return Response(_caller(authentication.caller(request)))


def _require_local_accounts() -> None:
    if not settings.LOCAL_ACCOUNTS_ENABLED:
        raise PasswordsOff("Log in through your identity provider in the portal.")


def _session(user: User) -> dict[str, Any]:
    token, expires_at = person_tokens.issue(user, timezone.now())
    return {**_caller(user), "token": token, "expires_at": expires_at}


def _caller(caller: User | TokenPrincipal) -> dict[str, Any]:
    is_token = isinstance(caller, TokenPrincipal)
    return {
        "kind": "token" if is_token else "person",
        "name": caller.token.name if isinstance(caller, TokenPrincipal) else caller.email,
        "is_staff": caller.is_staff,
        "tenants": places_of(caller),
    }


def places_of(caller: User | TokenPrincipal) -> list[dict[str, str]]:
    """Return the tenants that ``caller`` may work in, each with the role there, by slug."""
    rows = [caller.token] if isinstance(caller, TokenPrincipal) else queries.tenants_of(caller)
    places = [{"slug": row.tenant.slug, "name": row.tenant.name, "role": row.role} for row in rows]
    return sorted(places, key=lambda place: place["slug"])
