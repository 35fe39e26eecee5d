"""/signup, /session, /me: signup, login and logout, and who the caller is.

``waypost login`` posts email and password to /session and stores the token in the answer.
"""

from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts import confirmations, password_login
from controlplane.api import authentication, person_tokens, schema, selling
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
    """Local accounts are disabled: people log in through the identity provider, in the portal."""

    code = "local_accounts.disabled"


class NotAPersonsToken(Conflict):
    """A tenant's token cannot log out: it is revoked in the tenant's list of tokens."""

    code = "session.tenant_token"


class SignupSerializer(StrictSerializer):
    """A new customer: the account of a person, and a tenant for the organization.

    An empty or absent `plan` chooses the plan with the lowest monthly fee. Without `legal_entity`
    and `currency` the main seller sells to the tenant, in its main currency.
    """

    # The email is also the user name, whose column holds 150 characters.
    email = serializers.EmailField(max_length=150)
    password = serializers.CharField(max_length=200, trim_whitespace=False)
    organization = serializers.CharField(max_length=200)
    plan = serializers.CharField(max_length=63, required=False, default="")
    legal_entity = serializers.CharField(max_length=63, required=False, default="")
    currency = serializers.CharField(max_length=3, required=False, default="")


class CredentialsSerializer(StrictSerializer):
    """The email and the password of a local account, and a code if it has a second factor.

    `code` is the one that the authenticator app shows, or a recovery code.
    """

    email = serializers.EmailField(max_length=150)
    # Not trimmed, because a password may begin or end with a space.
    password = serializers.CharField(max_length=200, trim_whitespace=False)
    code = serializers.CharField(max_length=20, required=False, allow_blank=True, default="")


class MembershipSerializer(serializers.Serializer[Any]):
    """A tenant to which the caller belongs, and the caller's role in this tenant."""

    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField()


class CallerSerializer(serializers.Serializer[Any]):
    """Who the caller is: a person or a tenant's token, with the caller's tenants and roles."""

    kind = serializers.ChoiceField(["person", "token"])
    name = serializers.CharField(help_text="A person's email, or a token's name.")
    is_staff = serializers.BooleanField()
    tenants = MembershipSerializer(many=True)


class SessionSerializer(CallerSerializer):
    """A new token of a person, to send as a bearer token until `expires_at`."""

    token = serializers.CharField()
    expires_at = serializers.DateTimeField()


class SignedUpSerializer(serializers.Serializer[Any]):
    """The result of a sign-up: a session, or a mail that was sent to confirm the address.

    `token` is null in the answer to a request that is repeated with its Idempotency-Key: log in
    then.
    """

    confirmation_sent = serializers.BooleanField()
    kind = serializers.CharField(required=False)
    name = serializers.CharField(required=False)
    is_staff = serializers.BooleanField(required=False)
    tenants = MembershipSerializer(many=True, required=False)
    token = serializers.CharField(required=False, allow_null=True)
    expires_at = serializers.DateTimeField(required=False)


class SignupView(PublicView):
    """Signs up a new person with a new tenant (POST)."""

    @schema.describe(
        "Sign up",
        request=SignupSerializer,
        response=SignedUpSerializer,
        status=201,
        parameters=[schema.IDEMPOTENCY_KEY],
        auth=[],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an account of a person, a tenant that the person owns, and its plan subscription.

        The answer has a token that acts for the person for twelve hours. Where email addresses must
        be confirmed, the answer has no token, and it is the same for an address that has an account
        already: open the link in the mail, then log in.
        """
        require_local_accounts()
        serializer = SignupSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        values = serializer.validated_data
        # Before the password is hashed: a refused attempt must cost little.
        throttling.require_signup(request, values["email"])
        wish = {
            "email": values["email"],
            "password": values["password"],
            "organization": values["organization"],
            "plan_key": values["plan"],
            "offer": selling.wanted(values),
        }
        if confirmations.are_required():
            confirmed_later = confirmations.sign_up(**wish)
            confirmations.send_mail(request._request, values["email"], confirmed_later)
            return Response({"confirmation_sent": True}, status=201)
        signed_up = tenants.sign_up(**wish)
        confirmations.send_mail(request._request, values["email"], signed_up)
        body = new_session(request, signed_up.user)
        return Response({**body, "confirmation_sent": False}, status=201)


class SessionView(ApiView):
    """Logs a person in (POST) and out (DELETE)."""

    @schema.describe(
        "Log in", request=CredentialsSerializer, response=SessionSerializer, status=201, auth=[]
    )
    def post(self, request: Request) -> Response:
        """Return a new token that acts for the person for twelve hours.

        A change of the password ends the token earlier. An account with a second factor needs
        `code`; without it the answer is 403, `login.second_factor_needed`.
        """
        require_local_accounts()
        serializer = CredentialsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        user = password_login.log_in(request._request, **serializer.validated_data)
        if user is None:
            # One message for both mistakes: it must not reveal who has an account.
            raise AuthenticationFailed("The email or the password is wrong.")
        return Response(new_session(request, user), status=201)

    @schema.describe("Log out", status=204)
    def delete(self, request: Request) -> Response:
        """Invalidate the person's token, or end the portal's session, that this request uses.

        A tenant's token is refused (409): revoke it in the tenant's list of tokens.
        """
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
        """Return the permission checks of this request: none for POST, which needs no login."""
        return [] if self.request.method == "POST" else [*super().get_permissions()]


class MeView(ApiView):
    """Answers who the caller is (GET)."""

    @schema.describe("Say who I am", response=CallerSerializer)
    def get(self, request: Request) -> Response:
        """Return the caller, the caller's tenants and the role in each of them."""
        return Response(caller_body(authentication.caller(request)))


def require_local_accounts() -> None:
    """Check that people may sign up and log in with a password.

    Raises:
        PasswordsOff: ``LOCAL_ACCOUNTS_ENABLED`` is off.
    """
    if not settings.LOCAL_ACCOUNTS_ENABLED:
        raise PasswordsOff("Log in through your identity provider in the portal.")


def new_session(request: Request, user: User) -> dict[str, Any]:
    """Issue a new token of ``user``; return the body that ``SessionSerializer`` describes.

    The caller must have authenticated the user.
    """
    token, expires_at = person_tokens.issue(user, timezone.now(), request._request)
    return {**caller_body(user), "token": token, "expires_at": expires_at}


def caller_body(caller: User | TokenPrincipal) -> dict[str, Any]:
    """Return the body that ``CallerSerializer`` describes, for ``caller``."""
    is_token = isinstance(caller, TokenPrincipal)
    return {
        "kind": "token" if is_token else "person",
        "name": caller.token.name if isinstance(caller, TokenPrincipal) else caller.email,
        "is_staff": caller.is_staff,
        "tenants": memberships_of(caller),
    }


def memberships_of(caller: User | TokenPrincipal) -> list[dict[str, str]]:
    """Return {slug, name, role} of each tenant of ``caller``, ordered by slug.

    ``role`` is the caller's role in the tenant. A tenant's token has exactly one tenant.
    """
    # A token belongs to one tenant and has, like a membership, a tenant and a role.
    rows = [caller.token] if isinstance(caller, TokenPrincipal) else queries.tenants_of(caller)
    found = [{"slug": row.tenant.slug, "name": row.tenant.name, "role": row.role} for row in rows]
    return sorted(found, key=lambda membership: membership["slug"])
