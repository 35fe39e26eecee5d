"""One real broker of a brokered space, from the product's files, and clients of it: no database."""

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.test import override_settings
from proton.utils import BlockingConnection

from controlplane.embedded import artifacts
from tenants import verifiers
from tests.support.messaging import amqp, strangers
from tests.support.messaging.broker_rig import RiggedBroker
from tests.support.messaging.routing_rig import HOST, free_port
from workers.infra.local.files import InstanceFiles
from workers.messaging import certificates, identities
from workers.messaging.brokers import render
from workers.messaging.brokers.desired import (
    ClientLimits,
    DesiredAddress,
    DesiredBroker,
    DesiredUser,
    EngineLayout,
    Permission,
)
from workers.messaging.routers.desired import BrokerAt

PASSWORD = "correct horse battery"


@dataclass
class PublicBroker:
    """A broker that clients log in to."""

    rigged: RiggedBroker
    folder: Path

    @property
    def at(self) -> tuple[str, int]:
        return HOST, self.rigged.engine_layout.public_port

    def connected(
        self, user: str = "alice", timeout: float = 60, container: str = ""
    ) -> AbstractContextManager[BlockingConnection]:
        certificate = self.rigged.desired.authority_pem
        return amqp.connected_to(
            self.at,
            certificate,
            self.folder,
            user,
            PASSWORD,
            timeout=timeout,
            container=container,
        )

    def silent(self, sent: bytes = strangers.SASL_HEADER) -> ssl.SSLSocket:
        """Return a TLS connection that sends ``sent`` and nothing else: no login."""
        return strangers.silent(self.at, self.rigged.desired.authority_pem, sent)

    @property
    def log(self) -> str:
        return (self.rigged.files.log / "output.log").read_text()


def user(name: str, *granted: tuple[str, str]) -> DesiredUser:
    """Return a messaging user with permissions as (pattern, operations)."""
    permissions = [Permission([pattern], operations.split()) for pattern, operations in granted]
    # Older than every connection of the test.
    since = datetime(2026, 1, 1, tzinfo=UTC)
    return DesiredUser(name, verifiers.build(PASSWORD), permissions, since)


def described(
    folder: Path,
    addresses: Sequence[DesiredAddress],
    users: Sequence[DesiredUser],
    max_connections: int = 200,
    client_limits: ClientLimits | None = None,
) -> RiggedBroker:
    """Return a broker with free ports that holds exactly these addresses and users, not started.

    ``client_limits``: what the space plan allows clients.
    """
    now, internal_port = datetime.now(UTC), free_port()
    authority = certificates.create_authority("test", now)
    files = InstanceFiles(folder / "broker-0")
    target = identities.target(
        HOST,
        internal_port,
        authority_pem=authority.certificate_pem,
        client=certificates.issue_client(authority, "waypost-control", now),
        folder=folder / "identities",
    )
    desired = DesiredBroker(
        public=True,
        addresses=addresses,
        users=users,
        send_withdrawn=False,
        server=certificates.issue_server(authority, [HOST], now),
        authority_pem=authority.certificate_pem,
        max_connections=max_connections,
        client_limits=client_limits or ClientLimits(),
    )
    layout = EngineLayout(str(files.config), str(files.data), HOST, free_port(), internal_port)
    return RiggedBroker(BrokerAt("broker-0", HOST, internal_port), desired, layout, files, target)


@contextmanager
def running(
    folder: Path,
    addresses: Sequence[DesiredAddress],
    users: Sequence[DesiredUser],
    max_connections: int = 200,
    memory_mb: int = 128,
    client_limits: ClientLimits | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[PublicBroker]:
    """Yield a running broker that holds exactly these addresses and users.

    ``memory_mb``: its heap. ``client_limits``: what the space plan allows clients.
    ``environment``: further variables of its process.
    """
    rigged = described(folder, addresses, users, max_connections, client_limits)
    rigged.memory_mb, rigged.environment = memory_mb, environment or {}
    with override_settings(ARTEMIS_HOME=settings.ARTEMIS_HOME or str(artifacts.artemis_home())):
        try:
            rigged.start()
            rigged.hold(*addresses)
            rendered = render.files(rigged.desired, rigged.engine_layout)
            assert set(rendered) <= {path.name for path in rigged.files.config.iterdir()}
            yield PublicBroker(rigged, folder)
        finally:
            rigged.kill()
