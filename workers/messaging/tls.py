"""TLS of our AMQP clients, made no more often than needed. Called where connections are opened.

proton reads every authority of the machine for each set of TLS settings, 35 ms on Debian 12, and
its own container makes two sets that nothing here uses. So the sets of the last connections are
kept, and the container here makes none. (proton trusts the machine's authorities besides the one it
is given, and offers no way not to: what keeps a stranger out is the peer's name, which no public
authority signs.)
"""

import time
import uuid
from functools import lru_cache
from typing import Any

from proton import SSLDomain, reactor
from proton._reactor import GlobalOverrides

# A set holds 0.8 MiB of authorities, and 12 KiB more for each session that a peer offers to resume.
_KEPT = 16
_KEPT_SECONDS = 60


def make_settings(ca_file: str, cert_file: str = "", key_file: str = "") -> SSLDomain:
    """Return settings that trust ``ca_file``, check the peer's name and show our certificate.

    Raises:
        proton.SSLException: one of the files is not there or not readable.
    """
    made = SSLDomain(SSLDomain.MODE_CLIENT)
    made.set_trusted_ca_db(ca_file)
    if cert_file:
        made.set_credentials(cert_file, key_file, None)
    made.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    return made


def recent_settings(ca_file: str, cert_file: str, key_file: str) -> SSLDomain:
    """Return settings as ``make_settings`` does, or those made of these files within a minute.

    For files that are named by their content: one that was written anew is not read again. Threads
    may share the settings.
    """
    return _kept(ca_file, cert_file, key_file, time.monotonic() // _KEPT_SECONDS)


@lru_cache(_KEPT)
def _kept(ca_file: str, cert_file: str, key_file: str, _minute: float) -> SSLDomain:
    return make_settings(ca_file, cert_file, key_file)


class Container(reactor.Container):
    """proton's container without TLS settings of its own: a connection must bring them."""

    def __init__(self, *handlers: Any) -> None:
        super().__init__(*handlers, impl=None)  # told of an ``impl``, it sets none of the following
        self.ssl: Any = None
        self.global_handler = GlobalOverrides(self.global_handler)  # type: ignore[arg-type]
        self.trigger = None
        self.container_id = str(uuid.uuid4())
        self.allow_insecure_mechs = True
        self.allowed_mechs = None
        self.sasl_enabled = True
        self.user = None
        self.password = None
