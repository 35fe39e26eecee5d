"""Find the network address of a caller, for audit and rate limits of the API and the portal."""

from django.conf import settings
from django.http import HttpRequest

# The length of AuditEvent.source_ip. A caller that bypasses the proxies can send a longer text.
_LONGEST = 60


def address(request: HttpRequest) -> str:
    """Return the caller's network address, as the outermost trusted proxy saw it.

    Each proxy appends the address of its client to X-Forwarded-For, so with n trusted proxies
    (WAYPOST_TRUSTED_PROXIES) the n-th entry from the right is returned. What the caller itself
    wrote is further left and is not read. If there are fewer entries, the leftmost one is returned.
    Without trusted proxies or without the header, the peer of the connection is the caller. The
    result is not validated; it has at most 60 characters.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    if not settings.TRUSTED_PROXIES or not forwarded:
        return str(request.META.get("REMOTE_ADDR", ""))[:_LONGEST]
    hops = [hop.strip() for hop in forwarded.split(",")]
    return str(hops[-min(settings.TRUSTED_PROXIES, len(hops))])[:_LONGEST]
