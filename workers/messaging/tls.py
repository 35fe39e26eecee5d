"""TLS settings of our AMQP clients, cached because proton is slow to create them.

For each set of settings proton reads every authority of the machine (35 ms on Debian 12), and its
own container creates two sets that nothing here uses. So this module caches the sets of the last
connections, and its container creates none.

proton trusts the machine's authorities in addition to the given one, and has no option against it.
The check of the peer's name protects us: no public authority signs the internal names.
"""

import time
import uuid
from functools import lru_cache
from typing import Any

from proton import SSLDomain, reactor
from proton._reactor import GlobalOverrides

# Each set holds 0.8 MiB of authorities, and 12 KiB for each TLS session that a peer offers to
# resume. So the cache is small, and its entries expire.
_KEPT = 16
_KEPT_SECONDS = 60


def make_settings(ca_file: str, cert_file: str = "", key_file: str = "") -> SSLDomain:
    """Return settings that trust ``ca_file``, check the peer's name and present our certificate.

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
    """Return settings as ``make_settings`` does, cached for at most a minute. Thread-safe.

    Use it only for files that are named by their content: a file that is rewritten is not read
    again.
    """
    # The minute is part of the key, so an entry is not used after its end.
    return _kept(ca_file, cert_file, key_file, time.monotonic() // _KEPT_SECONDS)


@lru_cache(_KEPT)
def _kept(ca_file: str, cert_file: str, key_file: str, _minute: float) -> SSLDomain:
    return make_settings(ca_file, cert_file, key_file)


class Container(reactor.Container):
    """proton's container without TLS settings of its own: each connection must bring them."""

    def __init__(self, *handlers: Any) -> None:
        # With an ``impl`` argument, proton's constructor skips all of the following attributes,
        # among them the two sets of TLS settings.
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
