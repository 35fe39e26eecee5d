"""/signup, /session, /me: signup, login and logout, and who the caller is.

``waypost login`` posts email and password to /session and stores the token of the answer.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, logout
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
    """Local accounts are disabled: people log in through the identity provider only."""

    code = "local_accounts.disabled"


class NotAPersonsToken(Conflict):
    """A tenant's token cannot log out: it is revoked in the tenant's list of tokens."""

    code = "session.tenant_token"


class SignupSerializer(StrictSerializer):
    """A new customer: the person's account and the tenant."""

    # The email is also the user name, whose column holds 150 characters.
    email = serializers.EmailField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False)
    organization = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")


class CredentialsSerializer(StrictSerializer):
    """A local account's email and password."""

    email = serializers.EmailField(max_length=150)
    # Not trimmed, because a password may begin or end with a space.
    password = serializers.CharField(max_length=200, trim_whitespace=False)


class MembershipSerializer(serializers.Serializer[Any]):
    """A tenant of the caller, and the caller's role in it."""

    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField()


class CallerSerializer(serializers.Serializer[Any]):
    """The caller and its tenants."""

    kind = serializers.ChoiceField(["person", "token"])
    name = serializers.CharField(help_text="A person's email, or a token's name.")
    is_staff = serializers.BooleanField()
    tenants = MembershipSerializer(many=True)


class SessionSerializer(CallerSerializer):
    """A new session: send ``token`` as a bearer token."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()


class SignupView(PublicView):
    """Signs up a new person with a new tenant."""

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
        """Create an account, its tenant and the tenant's plan subscription, and log in."""
        require_local_accounts()
        serializer = SignupSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # Before the password is hashed: a refused attempt must cost little.
        throttling.require_signup(request, values["email"])
        signed_up = tenants.sign_up(
            email=values["email"],
            password=values["password"],
            organization=values["organization"],
            plan_key=values["plan"],
            by=None,
        )
        return Response(new_session(signed_up.user), status=201)


class SessionView(ApiView):
    """Logs a person in (POST) and out (DELETE)."""

    @schema.describe(
        "Log in", request=CredentialsSerializer, response=SessionSerializer, status=201, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Return a token that acts for the person for twelve hours."""
        require_local_accounts()
        serializer = CredentialsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # Before the password is checked: every guess counts, and a refused one costs little.
        throttling.require_login(request, values["email"])
        # User names are emails in lower case.
        user = authenticate(None, username=values["email"].lower(), password=values["password"])
        if not isinstance(user, User):
            # One message for both mistakes: it must not reveal who has an account.
            raise AuthenticationFailed("The email or the password is wrong.")
        return Response(new_session(user), status=201)

    @schema.describe("Log out", status=204)
    def delete(self, request: Request) -> Response:
        """Invalidate the token of this request, or end the portal's session that it uses."""
        if request.auth is None:
            # The session at the identity provider stays. Only a browser can end it: it follows the
            # redirect of the portal's log-out form.
            logout(request._request)
        elif str(request.auth).startswith(person_tokens.PREFIX):
            person_tokens.end(str(request.auth))
        else:
            raise NotAPersonsToken("Revoke a tenant's token under /tenants/{tenant}/tokens.")
        return Response(status=204)

    def get_permissions(self) -> list[Any]:
        """Return no permissions for POST, because who logs in is anonymous; else the usual ones."""
        return [] if self.request.method == "POST" else [*super().get_permissions()]


class MeView(ApiView):
    """Shows who the caller is."""

    @schema.describe("Say who I am", response=CallerSerializer)
    def get(self, request: Request) -> Response:
        """Return the caller, its tenants and its role in each."""
        return Response(caller_body(authentication.caller(request)))


def require_local_accounts() -> None:
    """Raise PasswordsOff if local accounts are disabled."""
    if not settings.LOCAL_ACCOUNTS_ENABLED:
        raise PasswordsOff("Log in through your identity provider in the portal.")


def new_session(user: User) -> dict[str, Any]:
    """Issue a token of ``user``; return the body that ``SessionSerializer`` describes."""
    token, expires_at = person_tokens.issue(user, timezone.now())
    return {**caller_body(user), "token": token, "expires_at": expires_at}


def caller_body(caller: User | TokenPrincipal) -> dict[str, Any]:
    """Return the body that ``CallerSerializer`` describes: the caller and its tenants."""
    is_token = isinstance(caller, TokenPrincipal)
    return {
        "kind": "token" if is_token else "person",
        "name": caller.token.name if isinstance(caller, TokenPrincipal) else caller.email,
        "is_staff": caller.is_staff,
        "tenants": memberships_of(caller),
    }


def memberships_of(caller: User | TokenPrincipal) -> list[dict[str, str]]:
    """Return the tenants of ``caller`` with the caller's role in each, ordered by slug."""
    # A token belongs to one tenant and has, like a membership, a tenant and a role.
    rows = [caller.token] if isinstance(caller, TokenPrincipal) else queries.tenants_of(caller)
    found = [{"slug": row.tenant.slug, "name": row.tenant.name, "role": row.role} for row in rows]
    return sorted(found, key=lambda membership: membership["slug"])
