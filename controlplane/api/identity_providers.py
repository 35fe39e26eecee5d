"""…/identity-provider: the OpenID provider through which the people of one tenant log in."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api import etags, schema
from controlplane.api.idempotency import idempotent
from controlplane.api.serializers import StrictSerializer
from controlplane.api.views import StaffView, TenantView
from controlplane.core.audit import Actor
from tenants import queries
from tenants.actions import identity_providers
from tenants.actions.identity_providers import Wish
from tenants.models import PROVIDER_ROLES, IdentityProvider, Tenant
from tenants.permissions import Permission

# Without ``owner``: only an owner makes another one.
_ROLES = [str(role) for role in PROVIDER_ROLES]


class IdentityProviderSerializer(StrictSerializer):
    """An OpenID provider, with Waypost as its client.

    `client_secret` can be left out of a change: the stored one stays. A new `issuer` needs a new
    one. People log in with email addresses of `domains`. `group_roles` maps groups of the claim
    `groups_claim` to roles; a person in none of these groups gets `default_role`. A person without
    a role cannot log in.
    """

    issuer = serializers.CharField(max_length=300)
    client_id = serializers.CharField(max_length=200)
    # Not trimmed: the provider chose it, and it may end with a space.
    client_secret = serializers.CharField(
        max_length=500, required=False, default="", allow_blank=True, trim_whitespace=False
    )
    domains = serializers.ListField(child=serializers.CharField(max_length=253), max_length=100)
    default_role = serializers.ChoiceField(_ROLES, required=False, default="", allow_blank=True)
    groups_claim = serializers.CharField(max_length=100, required=False, default="groups")
    group_roles = serializers.DictField(
        child=serializers.ChoiceField(_ROLES), required=False, default=dict
    )


class ShownProviderSerializer(serializers.Serializer[Any]):
    """The provider without its secret.

    Domains that are not in `confirmed_domains` wait for the operator. People with an email address
    of such a domain cannot log in until then, unless they have an account.
    """

    issuer = serializers.CharField()
    client_id = serializers.CharField()
    domains = serializers.ListField(child=serializers.CharField())
    confirmed_domains = serializers.ListField(child=serializers.CharField())
    default_role = serializers.CharField(allow_blank=True)
    groups_claim = serializers.CharField()
    group_roles = serializers.DictField(child=serializers.CharField())


class DomainsSerializer(StrictSerializer):
    """The domains to confirm: those that you have looked at."""

    domains = serializers.ListField(
        child=serializers.CharField(max_length=253), min_length=1, max_length=100
    )


class IdentityProviderView(TenantView):
    """Shows the provider of a tenant (GET), sets it (PUT) and removes it (DELETE)."""

    needs = {
        "GET": Permission.MANAGE_TENANT,
        "PUT": Permission.MANAGE_TENANT,
        "DELETE": Permission.MANAGE_TENANT,
    }

    @schema.describe("Get the identity provider", response=ShownProviderSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the tenant's own identity provider; 404 without one."""
        return etags.tagged(_body(identity_providers.get(self.tenant)))

    @schema.describe(
        "Set the identity provider",
        request=IdentityProviderSerializer,
        response=ShownProviderSerializer,
        parameters=[schema.IF_MATCH, schema.IF_NONE_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Set the tenant's own identity provider. The operator confirms new domains.

        With another issuer, people connect their accounts once more.
        """
        return _put(request, self.tenant, self.actor, confirms=False)

    @schema.describe("Remove the identity provider", status=204)
    def delete(self, request: Request, tenant: str) -> Response:
        """Remove the provider. The people stay members and log in with a password.

        Without a provider, nothing changes.
        """
        identity_providers.remove(tenant=self.tenant, by=self.actor)
        return Response(status=204)


class StaffProviderView(StaffView):
    """The same for the operator's staff, who vouch for the domains that they set."""

    @schema.describe("Get the identity provider of a tenant", response=ShownProviderSerializer)
    def get(self, request: Request, tenant: str) -> Response:
        """Return the identity provider that the tenant has; 404 without one."""
        return etags.tagged(_body(identity_providers.get(queries.get_tenant(tenant))))

    @schema.describe(
        "Set the identity provider of a tenant",
        request=IdentityProviderSerializer,
        response=ShownProviderSerializer,
        parameters=[schema.IF_MATCH, schema.IF_NONE_MATCH],
    )
    def put(self, request: Request, tenant: str) -> Response:
        """Set the identity provider of the tenant, and confirm its domains."""
        return _put(request, queries.get_tenant(tenant), self.actor, confirms=True)


class StaffDomainsView(StaffView):
    """Confirms the domains of a tenant's provider (POST)."""

    @schema.describe(
        "Confirm the domains of a tenant",
        request=DomainsSerializer,
        response=ShownProviderSerializer,
        parameters=[schema.IDEMPOTENCY_KEY],
    )
    @idempotent
    def post(self, request: Request, tenant: str) -> Response:
        """Confirm that the named domains of the tenant's identity provider are the tenant's.

        From then on its provider creates accounts for people with such email addresses. If it no
        longer has one of them, nothing is confirmed (`identity_provider.domains_changed`).
        """
        serializer = DomainsSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        row = identity_providers.confirm_domains(
            tenant=queries.get_tenant(tenant),
            domains=serializer.validated_data["domains"],
            by=self.actor,
        )
        return Response(_body(row))


def _put(request: Request, tenant: Tenant, by: Actor, *, confirms: bool) -> Response:
    serializer = IdentityProviderSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    wish = Wish(**serializer.validated_data)
    row = etags.change(
        request,
        tenant,
        # None without a provider: then If-None-Match: * holds, and If-Match does not.
        lambda: _body_or_none(tenant),
        lambda: identity_providers.save(tenant=tenant, wish=wish, by=by, confirms=confirms),
    )
    return etags.tagged(_body(row))


def _body(row: IdentityProvider) -> Any:
    # Without the secret. The ETag is a hash of this body, so a new secret alone keeps it.
    return ShownProviderSerializer(identity_providers.shown(row)).data


def _body_or_none(tenant: Tenant) -> Any:
    row = IdentityProvider.objects.filter(tenant=tenant).first()
    return _body(row) if row else None
