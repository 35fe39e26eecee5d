"""TLS contexts of sslProfile entities; replaced files serve new connections without a restart."""

import ssl
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Profile:
    """One sslProfile: a certificate with its key, and whom to trust."""

    name: str
    cert_file: str
    key_file: str
    ca_file: str
    _stamp: tuple[int, ...] = ()

    def server(self, *, needs_client: bool) -> ssl.SSLContext:
        """Return a context for a listener; keep it and ``reload`` it when the files change."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = ssl.CERT_REQUIRED if needs_client else ssl.CERT_NONE
        return self._prepared(context, trusts=needs_client)

    def client(self, *, verifies_name: bool) -> ssl.SSLContext:
        """Return a fresh context for one outgoing connection."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = verifies_name
        return self._prepared(context, trusts=True)

    def _prepared(self, context: ssl.SSLContext, *, trusts: bool) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        if trusts:
            context.load_verify_locations(self.ca_file)
        return context

    def is_stale(self) -> bool:
        """Return, once for each change, whether the certificate's files were replaced."""
        files = [file for file in (self.cert_file, self.key_file) if file]
        stamp = tuple(Path(file).stat().st_mtime_ns for file in files if Path(file).exists())
        changed = bool(self._stamp) and stamp != self._stamp
        self._stamp = stamp
        return changed

    def reload(self, context: ssl.SSLContext) -> None:
        """Let a listener's context show the present certificate to new connections.

        From a fresh one: a context holds a certificate for each type of key, so one that is loaded
        over another of another type does not replace it (OpenSSL, SSL_CTX_use_certificate).
        """
        fresh = self.server(needs_client=context.verify_mode is ssl.CERT_REQUIRED)

        def show(wire: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
            wire.context = fresh

        context.sni_callback = show
