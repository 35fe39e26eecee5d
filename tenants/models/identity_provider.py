"""Models of the identity provider that a tenant may bring for its people."""

from django.db import models
from django.db.models import Q

from controlplane.core.models import Timestamped
from tenants.models.tenant import Role, Tenant, User


class IdentityProvider(Timestamped):
    """The OpenID provider of one tenant: people who log in through it become its members.

    ``sealed_secret`` is the client secret, encrypted. ``group_roles`` maps groups of
    ``groups_claim`` to roles; a person in none of these groups gets ``default_role``, and is
    refused if that is empty.
    """

    tenant = models.OneToOneField(Tenant, on_delete=models.CASCADE, related_name="provider")
    issuer = models.CharField(max_length=300)
    client_id = models.CharField(max_length=200)
    sealed_secret = models.TextField()
    groups_claim = models.CharField(max_length=100, default="groups", db_default="groups")
    group_roles = models.JSONField(default=dict, db_default={})
    default_role = models.CharField(max_length=12, blank=True, default="", db_default="")


class LoginDomain(Timestamped):
    """A domain of email addresses of a tenant's people, such as ``acme.example``, in lower case.

    The operator confirms that it is the tenant's (``confirmed_at``). Until then the tenant's
    provider creates no accounts for people with such addresses. A domain can be confirmed for one
    tenant only.
    """

    provider = models.ForeignKey(IdentityProvider, on_delete=models.CASCADE, related_name="domains")
    name = models.CharField(max_length=253)
    confirmed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "name"], name="login_domain_once"),
            models.UniqueConstraint(
                fields=["name"],
                condition=Q(confirmed_at__isnull=False),
                name="login_domain_confirmed_once",
            ),
        ]


class TenantIdentity(Timestamped):
    """The identity of a person at a tenant's provider: ``subject`` is ``<issuer>#<sub>``.

    It logs the person in to this tenant only. A person who has one is a member of no other tenant
    and never staff.
    """

    provider = models.ForeignKey(
        IdentityProvider, on_delete=models.CASCADE, related_name="identities"
    )
    user = models.OneToOneField(User, on_delete=models.CASCADE, related_name="tenant_identity")
    subject = models.CharField(max_length=400)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "subject"], name="tenant_identity_once")
        ]


# Roles that a provider may give. Only an owner makes another member an owner.
PROVIDER_ROLES = tuple(role for role in Role if role != Role.OWNER)
