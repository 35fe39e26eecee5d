"""TLS of our AMQP clients, made no more often than needed.

proton reads every authority of the machine for each set of TLS settings, 35 ms on Debian 12, and
its own container makes two sets that nothing here uses. So settings are kept, and the container
here makes none. (It trusts the machine's authorities besides the one it is given, and offers no way
not to: what keeps a stranger out is the peer's name, which no public authority signs.)
"""

import threading
import uuid
from functools import lru_cache
from typing import Any

from proton import SSLDomain, reactor
from proton._reactor import GlobalOverrides

_KEPT = 256  # sets of settings for each thread; one is some 20 KiB


def settings(ca_file: str, cert_file: str = "", key_file: str = "") -> SSLDomain:
    """Return TLS settings that trust ``ca_file`` and check the peer's name.

    The same files give the same settings within a thread, so a path must say what is in it.

    Raises:
        proton.SSLException: one of the files is not there or not readable.
    """
    # Not shared by threads: proton counts the users of settings without a lock.
    if not hasattr(_of_thread, "make"):
        _of_thread.make = lru_cache(_KEPT)(_make)
    made: SSLDomain = _of_thread.make(ca_file, cert_file, key_file)
    return made


def _make(ca_file: str, cert_file: str, key_file: str) -> SSLDomain:
    made = SSLDomain(SSLDomain.MODE_CLIENT)
    made.set_trusted_ca_db(ca_file)
    if cert_file:
        made.set_credentials(cert_file, key_file, None)
    made.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
    return made


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


_of_thread = threading.local()
