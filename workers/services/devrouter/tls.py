"""Make the TLS contexts of sslProfile entities; new connections soon use replaced files."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from workers.messaging import tls_policy
from workers.services.tls_objects import CleanObject


@dataclass
class Profile:
    """One sslProfile: paths of a certificate, its key and the trusted authorities (PEM files).

    It makes TLS contexts from the files, and notices when the certificate or key is replaced.
    ``ciphers``: its suites of TLS 1.2, a list in OpenSSL's form.
    """

    name: str
    cert_file: str
    key_file: str
    ca_file: str
    ciphers: str = tls_policy.OPENSSL_SUITES
    _stamp: tuple[int, ...] = ()

    def server(self, *, needs_client: bool) -> ssl.SSLContext:
        """Return a new context for a listener; call ``reload`` with it when the files change.

        ``needs_client``: only clients with a certificate of an authority in ``ca_file`` may
        connect.

        Raises:
            OSError, ssl.SSLError: a file cannot be loaded.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED if needs_client else ssl.CERT_NONE
        return self._prepared(context, trusts=needs_client)

    def client(self, *, verifies_name: bool) -> ssl.SSLContext:
        """Return a new context for one outgoing connection, from the files as they are now.

        ``verifies_name``: the peer's certificate must have the name of the host.

        Raises:
            OSError, ssl.SSLError: a file cannot be loaded.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = verifies_name
        return self._prepared(context, trusts=True)

    def _prepared(self, context: ssl.SSLContext, *, trusts: bool) -> ssl.SSLContext:
        tls_policy.restrict(context, self.ciphers)
        # All connections share one thread, and with it OpenSSL's queue of errors (``tls_objects``).
        context.sslobject_class = CleanObject
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        if trusts:
            context.load_verify_locations(self.ca_file)
        return context

    def is_stale(self) -> bool:
        """Return whether the certificate or its key was replaced since the last call.

        False on the first call, and for a change of ``ca_file`` alone.
        """
        files = [file for file in (self.cert_file, self.key_file) if file]
        stamp = tuple(Path(file).stat().st_mtime_ns for file in files if Path(file).exists())
        changed = bool(self._stamp) and stamp != self._stamp
        self._stamp = stamp
        return changed

    def reload(self, context: ssl.SSLContext) -> None:
        """Make a listener's context present the current certificate to new connections.

        Loading a certificate into the same context is not enough: a context holds one certificate
        for each type of key, and one of another type would not replace the old one. So a callback
        in ``context`` gives each new connection a new context. Source: OpenSSL,
        SSL_CTX_use_certificate.

        Raises:
            OSError, ssl.SSLError: the files cannot be loaded; the old certificate stays in use.
        """
        fresh = self.server(needs_client=context.verify_mode is ssl.CERT_REQUIRED)

        # Python calls it in each handshake, also if the client sends no server name (then None).
        def show(wire: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            wire.context = fresh

        context.sni_callback = show
