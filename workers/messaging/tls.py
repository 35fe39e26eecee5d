"""Make and cache TLS settings for Waypost's AMQP clients; a container that makes none itself.

TLS settings are an ``SSLDomain`` of proton. For each one proton reads every authority that the
machine trusts (35 ms on Debian 12). proton's own container creates two ``SSLDomain`` that nothing
here uses. So ``recent_settings`` caches the newest settings, and ``Container`` creates none.

proton trusts the machine's authorities in addition to the given one, and has no option against it.
The check of the peer's name protects us: no public authority signs the internal names.
"""

import time
import uuid
from functools import lru_cache
from typing import Any

from proton import SSLDomain, reactor
from proton._reactor import GlobalOverrides

# An ``SSLDomain`` holds 0.8 MiB of authorities, and 12 KiB for each TLS session that a peer offers
# to resume. So the cache is small, and its entries expire.
_KEPT = 16
_KEPT_SECONDS = 60  # then the files are read again, as they may be renewed


def make_settings(ca_file: str, cert_file: str = "", key_file: str = "") -> SSLDomain:
    """Return new settings for a TLS client, which trust ``ca_file`` and check the peer's name.

    They trust the machine's authorities too. With ``cert_file`` and ``key_file`` the client
    presents this certificate to the peer.

    Raises:
        proton.SSLException: one of the files is missing or not readable.
    """
    made = SSLDomain(SSLDomain.MODE_CLIENT)
    made.set_trusted_ca_db(ca_file)
    if cert_file:
        made.set_credentials(cert_file, key_file, None)
    made.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    return made


def recent_settings(ca_file: str, cert_file: str, key_file: str) -> SSLDomain:
    """Return settings as ``make_settings`` does, from a cache if possible. Thread-safe.

    An entry is used for at most a minute. Use this function only for files whose names change with
    their content (``identities``): a file that was rewritten under the same name is not read again
    while its entry is cached. Raises as ``make_settings`` does.
    """
    # The number of the current minute is part of the key, so no entry is used in the next minute.
    return _kept(ca_file, cert_file, key_file, time.monotonic() // _KEPT_SECONDS)


@lru_cache(_KEPT)
def _kept(ca_file: str, cert_file: str, key_file: str, _minute: float) -> SSLDomain:
    return make_settings(ca_file, cert_file, key_file)


class Container(reactor.Container):
    """An event loop of proton without TLS settings: pass ``ssl_domain`` for each connection."""

    def __init__(self, *handlers: Any) -> None:
        # With an ``impl`` argument, proton's constructor sets none of the following attributes, and
        # does not create its two ``SSLDomain``.
        super().__init__(*handlers, impl=None)
        self.ssl: Any = None
        self.global_handler = GlobalOverrides(self.global_handler)  # type: ignore[arg-type]
        self.trigger = None
        self.container_id = str(uuid.uuid4())
        self.allow_insecure_mechs = True
        self.allowed_mechs = None
        self.sasl_enabled = True
        self.user = None
        self.password = None
