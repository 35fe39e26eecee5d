"""An operator who acts in the pages of a tenant, with the tenant's consent.

The session remembers the tenant and the consent by which the operator began. Each request reads
this consent again, so that a revoked or expired one ends the access at once. A later consent does
not reopen it: the operator begins again, and says why.
"""

from django.http import HttpRequest
from django.utils import timezone

from controlplane.core.errors import Missing
from tenants import queries, support_consents
from tenants.models import Membership, SupportConsent, User

# In the session: the slug of the tenant, and the key of the consent.
_KEY, _CONSENT = "acting_in", "acting_by"


def begin(request: HttpRequest, consent: SupportConsent) -> None:
    """Let the session's operator into the tenant's pages while ``consent`` is in force."""
    request.session[_KEY], request.session[_CONSENT] = consent.tenant.slug, consent.pk


def end(request: HttpRequest) -> str:
    """Forget the tenant in whose pages the operator acts; return its slug, or ''."""
    request.session.pop(_CONSENT, None)
    return str(request.session.pop(_KEY, ""))


def membership(
    request: HttpRequest, user: User, slug: str
) -> tuple[Membership, SupportConsent | None]:
    """Return the membership of ``user`` in the tenant, and None.

    For an operator who acts in this tenant, return an unsaved membership with the role of the
    consent, and the consent.

    Raises:
        Missing: there is no such tenant, or the user may not see that there is one.
    """
    try:
        return queries.membership(user, slug), None
    except Missing:
        if not user.is_staff or request.session.get(_KEY) != slug:
            raise
        tenant = queries.get_tenant(slug)
        # 0 is no consent's key. If the session stores no key, the operator must begin again.
        consent = support_consents.get(tenant, timezone.now(), request.session.get(_CONSENT, 0))
        if consent is None:
            end(request)
            raise
        return Membership(tenant=tenant, user=user, role=consent.role), consent
