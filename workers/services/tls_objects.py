"""Keep the end of one TLS connection from ending another one of the same asyncio thread.

OpenSSL notes errors in a queue of the thread. A peer may end a connection with a fatal alert while
we shut it down. ``SSL_shutdown`` then succeeds and leaves the alert in that queue. The next read on
another connection of the thread takes it for its own error, and that connection is closed.
Source: OpenSSL, SSL_get_error(3), "the thread's error queue must be empty"; CPython 3.11 does not
empty it.
"""

import ssl
from contextlib import suppress

_UNUSED = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


class CleanObject(ssl.SSLObject):
    """An ``SSLObject`` that empties OpenSSL's error queue of the thread after each shutdown.

    Set it as ``SSLContext.sslobject_class``.
    """

    def unwrap(self) -> None:
        """Shut the connection down, as in ``SSLObject``; raises ``ssl.SSLError``."""
        try:
            super().unwrap()
        finally:
            # A handshake empties the queue as it begins. This one has no peer, so it does nothing
            # else.
            handshake = _UNUSED.wrap_bio(ssl.MemoryBIO(), ssl.MemoryBIO(), server_side=True)
            with suppress(ssl.SSLWantReadError):
                handshake.do_handshake()
