"""Models of what operators record about a tenant, and of its consent to their help."""

from django.db import models
from django.db.models import F, Q

from controlplane.core.models import Timestamped
from tenants.models.tenant import Role


class TenantNote(Timestamped):
    """A note of the operator's staff about a tenant. No tenant ever sees it."""

    tenant = models.ForeignKey("tenants.Tenant", on_delete=models.CASCADE, related_name="notes")
    text = models.TextField()
    written_by = models.CharField(max_length=255)  # the name of an actor: user:<email>


class SupportConsent(Timestamped):
    """A tenant's consent that staff act in its pages with ``role`` until ``expires_at``.

    It ends earlier if a member revokes it or gives another one (``revoked_at``).
    """

    tenant = models.ForeignKey(
        "tenants.Tenant", on_delete=models.CASCADE, related_name="support_consents"
    )
    role = models.CharField(max_length=12, choices=Role.choices)
    given_by = models.CharField(max_length=255)  # the name of an actor: user:<email>
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            # The other roles include rights over money, tokens or members.
            models.CheckConstraint(
                name="support_consent_role_limited",
                condition=Q(role__in=[Role.DEVELOPER, Role.VIEWER]),
            ),
            models.CheckConstraint(
                name="support_consent_ends_later", condition=Q(expires_at__gt=F("created_at"))
            ),
        ]
