"""Give and revoke a tenant's consent to the help of staff, and begin and end that help."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from controlplane.core import audit
from controlplane.core.audit import Actor
from controlplane.core.errors import Denied, Invalid
from tenants import admission, support_consents
from tenants.actions import tenants
from tenants.models import SupportConsent, Tenant

HOURS = (1, 8, 24, 72)  # lengths of an access that a tenant can choose


class NoConsent(Denied):
    """No member of the tenant agreed that staff act in its pages, or the consent has ended."""

    code = "support_access.no_consent"


def give_consent(*, tenant: Tenant, role: str, hours: int, by: Actor) -> SupportConsent:
    """Let staff act in the tenant's pages with ``role`` for ``hours``; return the consent.

    It replaces a consent in force: an operator who acts by that one has to begin again.

    Raises:
        Invalid: ``support_access.invalid``: another role than viewer or developer, or another
            time than ``HOURS``.
    """
    if role not in support_consents.ROLES or hours not in HOURS:
        raise Invalid(
            "Choose what staff may do, and one of the offered times.",
            code="support_access.invalid",
        )
    with transaction.atomic():
        # Under the lock, so that of two consents at the same time only one stays.
        admission.locked_tenant(tenant)
        revoke_consent(tenant=tenant, by=by)
        consent = SupportConsent.objects.create(
            tenant=tenant,
            role=role,
            given_by=by.name,
            expires_at=timezone.now() + timedelta(hours=hours),
        )
        after = {"role": role, "expires_at": consent.expires_at.isoformat()}
        audit.record(by, "support_access.consent", tenants.subject(tenant), after=after)
    return consent


@transaction.atomic
def revoke_consent(*, tenant: Tenant, by: Actor) -> int:
    """Revoke every consent of the tenant that is in force; return how many. Idempotent."""
    open_ones = support_consents.in_force(tenant, timezone.now())
    n_revoked = open_ones.update(revoked_at=timezone.now())
    if n_revoked:
        audit.record(by, "support_access.revoke", tenants.subject(tenant))
    return n_revoked


@transaction.atomic
def begin(*, tenant: Tenant, reason: str, by: Actor) -> SupportConsent:
    """Record that an operator begins to act in the tenant's pages; return the consent to it.

    Raises:
        NoConsent: no consent is in force. Invalid: ``support_access.invalid``: no reason.
    """
    if not reason.strip() or "\x00" in reason:
        raise Invalid(
            "Say why: the audit log of the organization shows it.",
            code="support_access.invalid",
            reason=["Say why."],
        )
    consent = support_consents.of(tenant, timezone.now())
    if consent is None:
        raise NoConsent(
            "No member of this organization allows it now: ask an owner to open Settings, "
            "Help by the operator."
        )
    audit.record(by, "support_access.begin", tenants.subject(tenant), reason=reason.strip())
    return consent


def end(*, tenant: Tenant, by: Actor) -> None:
    """Record that an operator no longer acts in the tenant's pages."""
    audit.record(by, "support_access.end", tenants.subject(tenant))
