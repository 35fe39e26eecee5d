"""``python -m workers.services.auth``: serve logins until SIGTERM.

The settings provide all defaults. Two replicas on one machine need different values for ``--port``
and ``--snapshot``. In a cluster, ``--host`` is the service that routers connect to, and each
replica listens at ``--bind``.

A replica does not listen before it knows the users. It could only refuse logins until then, and
another replica may be able to serve them.
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
from workers.messaging import certificates  # noqa: E402
from workers.services.auth.server import AuthServer  # noqa: E402
from workers.services.auth.state import State  # noqa: E402
from workers.services.auth.watcher import Watcher  # noqa: E402

logger = structlog.get_logger(__name__)

_RENEWAL_CHECK_SECONDS = 3600.0
_PICTURE_CHECK_SECONDS = 0.1


def main() -> None:
    """Run the service in the foreground."""
    checks.refuse_source_keys()
    options = _options()
    state = State(options.snapshot)
    state.restore()
    watcher = Watcher(state)
    watcher.start()
    try:
        asyncio.run(_serve(options, state))
    finally:
        watcher.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m workers.services.auth")
    parser.add_argument("--host", default=settings.AUTH_SERVICE_HOST)
    parser.add_argument("--bind", default="", help="address to listen at (default: --host)")
    parser.add_argument("--port", type=int, default=settings.AUTH_SERVICE_PORT)
    parser.add_argument(
        "--snapshot", type=Path, default=settings.STATE_DIR / "auth" / "users.sealed"
    )
    return parser.parse_args()


async def _serve(options: argparse.Namespace, state: State) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    if not await _knows_users(state, stopped):
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    expires_at = _load_certificate(context, options.host)
    server = AuthServer(state, context)
    port = await server.start(options.bind or options.host, options.port)
    logger.info("the auth service listens", host=options.host, port=port)
    while not await _is_set_within(stopped, _RENEWAL_CHECK_SECONDS):
        if datetime.now(UTC) > expires_at - certificates.LIFETIME / 3:
            # New connections get the new certificate; open ones keep theirs.
            expires_at = _load_certificate(context, options.host)
    await server.stop()


async def _knows_users(state: State, stopped: asyncio.Event) -> bool:
    """Wait for the first picture of the users; return False if stopped before it arrives."""
    if state.picture is None:
        logger.info("the auth service waits for the users; until then it does not listen")
    while state.picture is None:
        if await _is_set_within(stopped, _PICTURE_CHECK_SECONDS):
            return False
    return True


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False


def _load_certificate(context: ssl.SSLContext, host: str) -> datetime:
    """Issue a server certificate, load it into ``context`` and return when it expires."""
    now = datetime.now(UTC)
    authority = certificates.control_authority(settings.CONTROL_CA_DIR, now)
    pair = certificates.issue_server(authority, [host], now)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Only routers of a space have a certificate of the control authority.
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority.certificate_pem)
    # ``load_cert_chain`` reads from a path only. A temporary file has mode 0600.
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(pair.key_pem + pair.certificate_pem)
        file.flush()
        context.load_cert_chain(file.name)
    return pair.expires_at


if __name__ == "__main__":
    main()
