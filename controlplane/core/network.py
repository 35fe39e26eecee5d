"""Where a request comes from: the one rule for audit and rate limits, in API and portal alike."""

from django.conf import settings
from django.http import HttpRequest

_LONGEST = 60  # what the audit keeps; whoever evades the proxies may send anything


def address(request: HttpRequest) -> str:
    """Return the caller's network address, as the outermost of our trusted proxies saw it.

    Each proxy appends whom it heard from to X-Forwarded-For, so what callers wrote there stands
    further left than WAYPOST_TRUSTED_PROXIES entries and is never looked at.
    """
    heard = request.META.get("HTTP_X_FORWARDED_FOR", "")
    if not settings.TRUSTED_PROXIES or not heard:
        return str(request.META.get("REMOTE_ADDR", ""))[:_LONGEST]
    hops = [hop.strip() for hop in heard.split(",")]
    return str(hops[-min(settings.TRUSTED_PROXIES, len(hops))])[:_LONGEST]
