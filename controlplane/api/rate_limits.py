"""Rate limits of the API: of each caller, and of all callers of a tenant together.

The settings ``API_CALLER_RATE`` and ``API_TENANT_RATE`` hold the limits. A caller is a token, a
person or, without a login, a network address. The web server's own checks of open event streams
are not counted. Every counted answer has the standard headers of the limit that is nearest.
"""

from dataclasses import dataclass

from django.conf import settings
from rest_framework.request import Request

from controlplane.core import network, throttling
from controlplane.core.event_streams import RECHECK
from controlplane.core.throttling import Count


@dataclass
class Counted:
    """The counts of one request; ``headers`` describes the limit of which the least is left."""

    counts: list[Count]

    def headers(self) -> dict[str, str]:
        """Return RateLimit-Limit, -Remaining and -Reset (seconds); {} if nothing was counted."""
        if not self.counts:
            return {}
        nearest = min(self.counts, key=lambda count: count.left)
        return {
            "RateLimit-Limit": str(nearest.allowed),
            "RateLimit-Remaining": str(nearest.left),
            "RateLimit-Reset": str(nearest.reset_seconds),
        }

    def count(self, limit: str, rate: str, who: str) -> None:
        """Count this request for ``who``.

        Raises:
            RateLimited: there were more than ``rate`` allows; the count is in ``headers`` too.
        """
        found = throttling.count(limit, rate, who)
        # Before the check, so that the refusal (429) has the headers of this limit too.
        self.counts.append(found)
        throttling.require(found, "Too many requests.")


def count_caller(request: Request, counted: Counted) -> None:
    """Count ``request`` for its caller.

    Raises:
        RateLimited: the caller has sent too many requests.
    """
    # The web server asks again for each open stream. No client can set this key: headers get
    # the prefix HTTP_ in the WSGI environment.
    if RECHECK in request.META:
        return
    # The key of a token begins with ``token-``, so it is never that of a person.
    who = getattr(request.user, "pk", None) or f"anonymous-{network.address(request)}"
    counted.count("api-caller", settings.API_CALLER_RATE, str(who))


def count_tenant(request: Request, counted: Counted, tenant_id: str) -> None:
    """Count ``request`` for the tenant with this id.

    Raises:
        RateLimited: the callers of the tenant together have sent too many requests.
    """
    if RECHECK not in request.META:
        counted.count("api-tenant", settings.API_TENANT_RATE, tenant_id)
