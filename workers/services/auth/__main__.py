"""``python -m workers.services.auth``: serve logins until SIGTERM or SIGINT.

The settings provide all defaults. Two replicas on one machine need different values for ``--port``
and ``--snapshot``. In a cluster, ``--host`` is the service that routers connect to, and each
replica listens at ``--bind``.

A replica does not listen before it has read the users, from the file ``--snapshot`` or from the
database. Until then it could only refuse logins that another replica may be able to serve.
"""

import argparse
import asyncio
import signal
import ssl
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import django

django.setup()

import structlog  # noqa: E402  (models need django.setup() above)
from django.conf import settings  # noqa: E402

from controlplane import checks  # noqa: E402
from workers.messaging import certificates, tls_policy  # noqa: E402
from workers.services.auth.server import AuthServer  # noqa: E402
from workers.services.auth.state import State  # noqa: E402
from workers.services.auth.watcher import Watcher  # noqa: E402
from workers.services.tls_objects import CleanObject  # noqa: E402

logger = structlog.get_logger(__name__)

_RENEWAL_CHECK_SECONDS = 3600.0
_PICTURE_CHECK_SECONDS = 0.1


def main() -> None:
    """Run one replica in the foreground until SIGTERM or SIGINT."""
    checks.refuse_unsafe_settings()
    parser = argparse.ArgumentParser(prog="python -m workers.services.auth")
    parser.add_argument("--host", default=settings.AUTH_SERVICE_HOST)
    parser.add_argument("--bind", default="", help="address to listen at (default: --host)")
    parser.add_argument("--port", type=int, default=settings.AUTH_SERVICE_PORT)
    parser.add_argument(
        "--snapshot", type=Path, default=settings.STATE_DIR / "auth" / "users.sealed"
    )
    options = parser.parse_args()
    state = State(options.snapshot)
    state.restore()
    watcher = Watcher(state)
    watcher.start()
    try:
        asyncio.run(Replica(state, options.host).serve(options.bind or options.host, options.port))
    finally:
        watcher.stop()


class Replica:
    """Runs the server of one process of the auth service: call ``serve``.

    The server's certificate names ``host``, which routers connect to. ``state`` has the users.
    """

    def __init__(self, state: State, host: str) -> None:
        self._state = state
        self._host = host
        self._stopped = asyncio.Event()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.sslobject_class = CleanObject

    async def serve(self, bind: str, port: int) -> None:
        """Wait for the users, then listen at ``bind`` and answer logins until SIGTERM or SIGINT.

        It issues the server's certificate, and renews it while it runs.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stopped.set)
        if not await self._knows_users():
            return
        expires_at = self._load_certificate()
        server = AuthServer(self._state, self._context)
        bound = await server.start(bind, port)
        logger.info("the auth service listens", host=self._host, port=bound)
        while not await self._is_stopped_within(_RENEWAL_CHECK_SECONDS):
            if datetime.now(UTC) > expires_at - certificates.LIFETIME / 3:
                # New connections get the new certificate; open ones keep theirs.
                expires_at = self._load_certificate()
        await server.stop()

    async def _knows_users(self) -> bool:
        """Wait for the first picture; return False if the replica is stopped before it arrives."""
        if self._state.picture is None:
            logger.info("the auth service waits for the users; until then it does not listen")
        while self._state.picture is None:
            if await self._is_stopped_within(_PICTURE_CHECK_SECONDS):
                return False
        return True

    async def _is_stopped_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopped.wait()
        except TimeoutError:
            return False

    def _load_certificate(self) -> datetime:
        """Issue a server certificate, load it into the TLS context, and return when it expires.

        The control authority signs it; only peers with a certificate of this authority may connect.
        """
        now = datetime.now(UTC)
        authority = certificates.control_authority(settings.CONTROL_CA_DIR, now)
        pair = certificates.issue_server(authority, [self._host], now)
        tls_policy.restrict(self._context)
        # Only routers of a space have a certificate of the control authority.
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._context.load_verify_locations(cadata=authority.certificate_pem)
        # ``load_cert_chain`` reads from a path only. A temporary file has mode 0600.
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
            file.write(pair.key_pem + pair.certificate_pem)
            file.flush()
            self._context.load_cert_chain(file.name)
        return pair.expires_at


if __name__ == "__main__":
    main()
