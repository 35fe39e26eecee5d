"""Send HTTP requests to addresses that tenants choose, and to no host of the installation itself.

Without these rules a tenant could make Waypost call its own database, the cluster's API or the
metadata service of a cloud (server-side request forgery).

* Only https. Plain http goes only to ``settings.WEBHOOK_ALLOWED_RANGES``.
* A URL whose host is an IP address is checked without a name server, so that it is refused at once.
* The name is resolved once, and every address that it has must be public or in these ranges. The
  connection goes to one of these addresses, so a second answer of the name server cannot change
  the target.
* Redirects are not followed, and proxies of the environment are not used.
* The whole exchange has a time limit, and only the beginning of an answer is read.
"""

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from controlplane.core.errors import Invalid

_LONGEST_URL = 2000  # characters
_LONGEST_ANSWER = 1000  # bytes that are read of an answer
_ADDRESSES_TRIED = 3  # of those that a host name resolves to
# Ranges in which an address stands for another one: NAT64, 6to4, Teredo.
_TRANSLATED = tuple(
    ipaddress.ip_network(text)
    for text in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96")
)
_TLS = ssl.create_default_context()
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Host and port -> addresses.
Resolve = Callable[[str, int], list[str]]


class TargetRefused(Invalid):
    """The URL is not one that Waypost calls; the message says why."""

    code = "url.refused"


@dataclass(frozen=True)
class Answer:
    """The answer to a request: its status, the beginning of its body, and Retry-After in seconds.

    ``retry_after_seconds`` is None if the header is missing or no number.
    """

    status: int
    text: str
    retry_after_seconds: int | None
    content_type: str = ""


@dataclass(frozen=True)
class Request:
    """What to send. Of the answer's body, the first ``longest_answer`` bytes are read."""

    method: str
    body: bytes | None
    headers: Mapping[str, str]
    longest_answer: int = _LONGEST_ANSWER


@dataclass(frozen=True)
class Target:
    """A checked URL with the addresses to connect to. ``path`` includes the query."""

    is_tls: bool
    host: str
    port: int
    path: str
    addresses: tuple[str, ...]


def check(url: str) -> SplitResult:
    """Return the parts of ``url`` if its form is permitted; ask no name server.

    Raises:
        TargetRefused: it is not a https URL of a host, or has a login or a fragment; or its host is
            an IP address to which Waypost sends nothing. Plain http to a host name is permitted
            where ranges are allowed, because only ``resolve`` knows the address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port  # raises for one that is no number up to 65535
    except ValueError:
        raise TargetRefused("This is not a URL.", url=["This is not a URL."]) from None
    schemes = ("https", "http") if settings.WEBHOOK_ALLOWED_RANGES else ("https",)
    if parts.scheme not in schemes:
        problem = "The URL must begin with https."
    elif not parts.hostname or len(url) > _LONGEST_URL or not url.isprintable() or " " in url:
        problem = "The URL must name a host, and have at most 2,000 characters and no spaces."
    elif parts.username is not None or parts.password is not None or parts.fragment:
        problem = "The URL must have no user name, password or fragment."
    elif port == 0:
        problem = "The port must be between 1 and 65535."
    elif found := _problem(parts, _literal(str(parts.hostname))):
        problem = found
    else:
        return parts
    raise TargetRefused(problem, url=[problem])


def resolve(url: str, lookup: Resolve | None = None) -> Target:
    """Check ``url``, resolve its host, and return where to connect to.

    ``lookup`` replaces the name server, for tests.

    Raises:
        TargetRefused: the URL is not permitted; one of its addresses is neither public nor in the
            allowed ranges; or plain http would leave these ranges.
        OSError: the host has no address.
    """
    parts = check(url)
    host, is_tls = str(parts.hostname), parts.scheme == "https"
    port = parts.port or (443 if is_tls else 80)
    found = (lookup or _lookup)(host, port)
    if problem := _problem(parts, found):
        raise TargetRefused(problem, url=[problem])
    path = parts.path or "/"
    query = f"?{parts.query}" if parts.query else ""
    return Target(is_tls, host, port, path + query, tuple(found[:_ADDRESSES_TRIED]))


def post(target: Target, body: bytes, headers: Mapping[str, str], seconds: float) -> Answer:
    """Send a POST to ``target`` and return the answer; see ``send``."""
    return send(target, Request("POST", body, headers), seconds)


def send(target: Target, request: Request, seconds: float) -> Answer:
    """Send ``request`` to ``target`` and return the answer. Nothing is sent twice.

    The exchange takes at most ``seconds``, however slowly the other side sends.

    Raises:
        OSError: no connection, a wrong certificate, or no answer in time. TimeoutError is one.
        http.client.HTTPException: the answer is not HTTP.
    """
    ends_at = time.monotonic() + seconds
    try:
        with closing(_secured(_connect(target, ends_at), target, ends_at)) as connected:
            # A socket's timeout is for each read: a side that sends a byte a second would go on
            # for hours. At the end of the time the watchdog breaks the connection.
            watchdog = threading.Timer(max(0.0, ends_at - time.monotonic()), _shut, [connected])
            watchdog.daemon = True
            watchdog.start()
            try:
                answer = _exchange(connected, target, request)
            finally:
                watchdog.cancel()
        if time.monotonic() >= ends_at:  # the part that arrived before the watchdog looks complete
            raise TimeoutError
        return answer
    except (OSError, http.client.HTTPException):
        if time.monotonic() >= ends_at:
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        raise


def _exchange(connected: socket.socket, target: Target, request: Request) -> Answer:
    connection = http.client.HTTPConnection(target.host, target.port)
    # Otherwise it would resolve the name again, and open a socket of its own.
    connection.sock = connected
    # RFC 9110, 7.2: an IPv6 address is in brackets, and the usual port is left out.
    host = f"[{target.host}]" if ":" in target.host else target.host
    is_usual = target.port == (443 if target.is_tls else 80)
    named = {"Host": host if is_usual else f"{host}:{target.port}", **request.headers}
    connection.request(request.method, target.path, body=request.body, headers=named)
    with connection.getresponse() as response:
        text = response.read(request.longest_answer).decode("utf-8", "replace")
        after = response.getheader("Retry-After") or ""
        kind = response.getheader("Content-Type") or ""
        return Answer(response.status, text, int(after) if after.isdecimal() else None, kind)


def _connect(target: Target, ends_at: float) -> socket.socket:
    last: OSError = OSError("the host has no address")
    for address in target.addresses:
        left = ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("no connection in time")
        try:
            return socket.create_connection((address, target.port), timeout=left)
        except OSError as error:
            last = error
    raise last


def _secured(connected: socket.socket, target: Target, ends_at: float) -> socket.socket:
    if not target.is_tls:
        return connected
    # The handshake as a whole ends in this time, unlike later reads.
    connected.settimeout(max(0.1, ends_at - time.monotonic()))
    try:
        # The name, not the address: the certificate must be that of the host.
        return _TLS.wrap_socket(connected, server_hostname=target.host)
    except BaseException:
        connected.close()
        raise


def _shut(connected: socket.socket) -> None:
    with suppress(OSError):  # closed already
        # Not the method of SSLSocket, which would go on in plain text.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


def _lookup(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    # The address of a link-local target has a zone (fe80::1%eth0), which is no part of it.
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


def _literal(host: str) -> list[str]:
    """Return the address if ``host`` is an IP address in any spelling (127.1); else nothing."""
    try:
        # Without the zone of a link-local address (fe80::1%eth0), which is no part of it.
        found = socket.getaddrinfo(host.partition("%")[0], None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):  # a name
        return []
    return [str(found[0][4][0])]


def _problem(parts: SplitResult, addresses: list[str]) -> str:
    """Return why nothing may be sent to one of these addresses of the host; empty if it may."""
    for text in addresses:
        address = ipaddress.ip_address(text)
        # ::ffff:10.0.0.1 reaches 10.0.0.1, so the rules for that one decide.
        plain = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        address = plain or address
        if any(address in ipaddress.ip_network(text) for text in settings.WEBHOOK_ALLOWED_RANGES):
            continue
        if not _is_public(address):
            return f"The host {parts.hostname} is not on the public internet."
        if parts.scheme != "https":
            return f"The host {parts.hostname} needs a URL that begins with https."
    return ""


def _is_public(address: Address) -> bool:
    if any(address in network for network in _TRANSLATED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
