"""A router with its auth service for the conformance tests: the development one, or a real one.

The router runs as a process from the product's own rendered files; the auth service runs in a
thread with users given directly, so that no database is needed here.
"""

import asyncio
import atexit
import base64
import hashlib
import hmac
import os
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from proton import Delivery, Link, Message, SSLDomain
from proton.reactor import SenderOption
from proton.utils import BlockingConnection, BlockingReceiver, BlockingSender

from controlplane.embedded import artifacts, ports, routers
from tenants.router_patches import Patch
from tests.support.messaging import amqp
from tests.support.waiting import eventually
from workers.infra import engines
from workers.messaging import certificates, identities, tls
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers import client, config
from workers.messaging.routers.desired import (
    AuthServiceAt,
    BrokerAt,
    DesiredRouter,
    EngineLayout,
    RoutedAddress,
)
from workers.services.auth.server import AuthServer
from workers.services.auth.state import KnownUser, SpaceUsers, State, Verifier

SPACE = "spc_test"
HOST = "127.0.0.1"
# The real router: WAYPOST_ROUTER names another one than the installed.
REAL_ROUTER = routers.find(artifacts.cache_dir(), os.environ.get("WAYPOST_ROUTER"))
ENGINES = ["devrouter", *(["qdrouterd"] if REAL_ROUTER else [])]


_claims = ports.Claims()
atexit.register(_claims.release)


def now() -> datetime:
    return datetime.now(UTC)


def free_port() -> int:
    """Return a port that is free, and that nobody else is given while this process lives."""
    return _claims.take_any()


def known(name: str, password: str, permissions: Mapping[str, tuple[str, ...]]) -> KnownUser:
    """Return a messaging user as the auth service knows it."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 4096)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    texts = [base64.b64encode(part).decode() for part in (salt, stored, server)]
    return KnownUser(name, Verifier(texts[0], 4096, texts[1], texts[2]), permissions)


class AuthInThread:
    """The auth service on a free port; ``state`` may be changed while it runs."""

    def __init__(self, folder: Path, control: KeyPair) -> None:
        self.state = State(folder / "users.sealed")
        self.router_patches: tuple[str, ...] = tuple(Patch)  # every mechanism is offered
        self._loop = asyncio.new_event_loop()
        self._server = AuthServer(self.state, _server_context(folder, control))
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port: int = self._call(self._server.start(HOST, 0))

    def _call(self, job: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(job, self._loop).result(120)

    def set_users(
        self, *users: KnownUser, addresses: Sequence[str], send_withdrawn: bool = False
    ) -> None:
        by_name = {user.name: user for user in users}
        space = SpaceUsers(
            send_withdrawn, by_name, tuple(addresses), router_patches=self.router_patches
        )
        self.state.replace({SPACE: space})

    def stop(self) -> None:
        if self._loop.is_closed():
            return
        self._call(self._server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _server_context(folder: Path, control: KeyPair) -> ssl.SSLContext:
    pair = certificates.issue_server(control, [HOST], datetime.now(UTC))
    file = folder / "auth-server.pem"
    file.write_text(pair.key_pem + pair.certificate_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=control.certificate_pem)
    context.load_cert_chain(file)
    return context


@dataclass
class Rig:
    """One router, its files and its authorities."""

    folder: Path
    engine: str
    space_ca: KeyPair
    control_ca: KeyPair
    auth: AuthInThread
    desired: DesiredRouter
    engine_layout: EngineLayout
    process: subprocess.Popen[bytes] | None = None
    connections: list[BlockingConnection] = field(default_factory=list)

    @property
    def target(self) -> ManagementTarget:
        client = certificates.issue_client(self.space_ca, "waypost-control", datetime.now(UTC))
        return identities.target(
            HOST,
            self.engine_layout.internal_port,
            authority_pem=self.space_ca.certificate_pem,
            client=client,
            folder=self.folder / "identities",
        )

    def start(
        self, addresses: Sequence[RoutedAddress] = (), brokers: Sequence[BrokerAt] = ()
    ) -> None:
        """Write the files for these addresses and start the router."""
        self.desired = replace(self.desired, addresses=addresses, brokers=brokers)
        self.restart()

    def restart(self) -> None:
        """Start, or start again, from the file as it is desired now."""
        for name, text in config.files(self.desired, self.engine_layout).items():
            (self.folder / name).write_text(text)
        self.relaunch()

    def relaunch(self) -> None:
        """Start, or start again, from the files as they are."""
        self.kill()
        launch = engines.router_command(str(REAL_ROUTER), str(self.folder))
        if self.engine == "devrouter":
            file = str(self.folder / config.CONFIG_FILE)
            launch = engines.Launch([sys.executable, "-m", "workers.services.devrouter", file])
        with (self.folder / "router.log").open("ab") as log:
            self.process = subprocess.Popen(
                launch.command,
                stdout=log,
                stderr=log,
                env={**os.environ, **launch.environment},
            )
        eventually(lambda: self._is_up() or self._is_dead(), "the router listens", seconds=15)
        assert not self._is_dead(), (self.folder / "router.log").read_text()

    def _is_up(self) -> bool:
        return ports.is_open(HOST, self.engine_layout.public_port) and ports.is_open(
            HOST, self.engine_layout.internal_port
        )

    def _is_dead(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def connect(
        self, name: str, password: str, *, mechanism: str = "PLAIN", timeout: float = 60
    ) -> BlockingConnection:
        """Return a client's connection to the public listener."""
        connection = BlockingConnection(
            f"amqps://{HOST}:{self.engine_layout.public_port}",
            timeout=timeout,
            container=tls.Container(),
            ssl_domain=self.domain(),
            user=name,
            password=password,
            allowed_mechs=mechanism,
            reconnect=False,
        )
        self.connections.append(connection)
        return connection

    def domain(self) -> SSLDomain:
        """Return what a client needs to trust the space."""
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(str(self.folder / "space-ca.pem"))
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        return domain

    def require(self, patch: Patch) -> None:
        """Skip the test on a real router that was built without one of our patches."""
        with client.connected(self.target, purpose="test") as asking:
            if patch not in asking.patches:
                pytest.skip(f"this {self.engine} has no patch {patch}")

    def close_clients(self) -> None:
        for connection in self.connections:
            connection.timeout = 1
            try:
                connection.close()
            except Exception:  # noqa: BLE001  (a test may have broken it on purpose)
                pass
        self.connections.clear()


@contextmanager
def rig(folder: Path, engine: str = "devrouter") -> Iterator[Rig]:
    """Yield a rig whose auth service runs and whose router is not started yet."""
    now = datetime.now(UTC)
    space_ca = certificates.create_authority("space", now)
    control_ca = certificates.create_authority("control", now)
    auth = AuthInThread(folder, control_ca)
    made = Rig(
        folder,
        engine,
        space_ca,
        control_ca,
        auth,
        DesiredRouter(
            name="router-0",
            space_id=SPACE,
            leads=True,
            brokers=(),
            addresses=(),
            server=certificates.issue_server(space_ca, [HOST], now),
            client=certificates.issue_client(space_ca, "waypost-router", now),
            authority_pem=space_ca.certificate_pem,
            auth=AuthServiceAt(
                HOST,
                auth.port,
                control_ca.certificate_pem,
                certificates.issue_client(control_ca, SPACE, now),
            ),
        ),
        EngineLayout(str(folder), HOST, free_port(), free_port()),
    )
    try:
        yield made
    finally:
        made.close_clients()
        made.kill()
        auth.stop()
    assert "Traceback" not in (folder / "router.log").read_text()


class _TemporaryQueue(SenderOption):
    def apply(self, link: Link) -> None:
        link.target.dynamic = True


def temporary_queue(owner: BlockingConnection) -> str:
    """Make one as Qpid JMS does, by a sender whose target the router names; return the name."""
    sender = owner.create_sender(None, options=_TemporaryQueue())
    return str(sender.link.remote_target.address)


def post(sender: BlockingSender, body: Any, **properties: Any) -> Delivery:
    """Send without waiting for the outcome."""
    delivery = hand_over(sender, Message(body=body, **properties))
    flush(sender.connection)
    return delivery


def hand_over(sender: BlockingSender, message: Message) -> Delivery:
    """Give the client a message to send; it goes out while the client waits for anything."""
    delivery = sender.link.send(message)
    assert isinstance(delivery, Delivery)
    return delivery


def condition_of(refused: Delivery | Link) -> str:
    """Return the condition that came with a refused delivery or a closed link."""
    found = refused.remote_condition if isinstance(refused, Link) else refused.remote.condition
    assert found is not None
    return str(found.name)


def outcome(sender: BlockingSender, delivery: Delivery, timeout: float = 60) -> int:
    """Wait until the router has settled a delivery and return the outcome."""
    sender.connection.wait(lambda: delivery.settled, timeout=timeout, msg="no outcome")
    state: int = delivery.remote_state
    return state


def deliver(
    sender: BlockingSender, receiver: BlockingReceiver, body: object, *, stored: bool = False
) -> None:
    """Send until the receiver has the message, as a client must that looks at its outcomes.

    A router learns after a moment that the last consumer at another router has left; what it
    sends there meanwhile comes back as released. ``stored``: a broker stores the messages, so
    it may accept one before the receiver has it.
    """
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        sender.connection.wait(lambda: sender.link.credit > 0, timeout=10)
        delivery = post(sender, body, durable=True)
        for _ in range(100):
            settle_down(receiver.connection, sender.connection, seconds=0.05)
            if waiting(receiver):
                assert take(receiver, 1) == [body]
                assert outcome(sender, delivery) == Delivery.ACCEPTED
                return
            if stored and delivery.remote_state == Delivery.ACCEPTED:
                assert take(receiver, 1) == [body]
                return
            if delivery.settled:
                assert delivery.remote_state == Delivery.RELEASED
                break
    pytest.fail(f"{body!r} did not arrive")


def take(receiver: BlockingReceiver, count: int, timeout: float = 60) -> list[Any]:
    """Receive and accept ``count`` messages; the acceptance is on its way afterwards."""
    found: list[Any] = []
    for _ in range(count):
        found.append(amqp.receive_body(receiver, timeout))
        receiver.accept()
    flush(receiver.connection)
    return found


def waiting(receiver: BlockingReceiver) -> int:
    """Return how many messages came and were not received yet."""
    assert receiver.fetcher is not None
    return len(receiver.fetcher.incoming)


def fail(receiver: BlockingReceiver, *, undeliverable: bool = False) -> None:
    """Hand the oldest message back as ``modified``, delivery failed."""
    assert receiver.fetcher is not None
    delivery = receiver.fetcher.unsettled.popleft()
    delivery.local.failed, delivery.local.undeliverable = True, undeliverable
    delivery.update(Delivery.MODIFIED)
    delivery.settle()
    flush(receiver.connection)


def flush(connection: BlockingConnection) -> None:
    """Let what was said on ``connection`` go out: this client only works while it waits."""

    def has_nothing_to_say() -> bool:
        transport = connection.conn and connection.conn.transport  # None once the peer has gone
        return transport is None or transport.pending() == 0

    connection.wait(has_nothing_to_say, timeout=5)


def settle_down(*connections: BlockingConnection, seconds: float = 0.2) -> None:
    """Let clients take in whatever the router has to say for a moment."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for connection in connections:
            connection.container.timeout = 0.02
            connection.container.process()
            connection.container.timeout = connection.timeout
