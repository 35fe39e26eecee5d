"""A real broker process behind a router under test, from the product's own rendered files."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from django.conf import settings
from django.test import override_settings

from controlplane.core.instance_names import Kind
from controlplane.embedded import artifacts
from tests.support.messaging.routing_rig import HOST, Rig, free_port
from tests.support.waiting import eventually
from workers.infra.base import InstanceSpec, Namespace
from workers.infra.local import engines
from workers.infra.local.files import InstanceFiles
from workers.messaging import certificates, identities
from workers.messaging.brokers import driver, render
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, EngineLayout
from workers.messaging.management import Unreachable
from workers.messaging.observed import ManagementTarget
from workers.messaging.routers.desired import BrokerAt


@dataclass
class RiggedBroker:
    """One Artemis that takes the router's certificate."""

    at: BrokerAt
    desired: DesiredBroker
    engine_layout: EngineLayout
    files: InstanceFiles
    target: ManagementTarget
    process: subprocess.Popen[bytes] | None = None
    memory_mb: int = 128  # its heap
    environment: Mapping[str, str] = field(default_factory=dict)

    def hold(self, *addresses: DesiredAddress) -> None:
        """Make the running broker hold exactly these."""
        self.desired = replace(self.desired, addresses=addresses)
        self.files.write(render.files(self.desired, self.engine_layout))
        eventually(
            lambda: not driver.converge(self.target, self.desired).pending, "settings", seconds=20
        )

    def load(self, *addresses: DesiredAddress) -> None:
        """Write the files of these, which differ from the former, and wait for their reload.

        The broker itself reloads a changed file within a second. ``hold`` does not wait for that
        reload, so it can come later and create again what a test has deleted by request.
        """
        self.desired = replace(self.desired, addresses=addresses)
        before = self._count_reloads()
        self.files.write(render.files(self.desired, self.engine_layout))
        eventually(lambda: self._count_reloads() > before, "the broker reloads", seconds=20)

    def _count_reloads(self) -> int:
        # A reload logs one line for each part of the file; this part is the last.
        return (self.files.log / "output.log").read_text().count(": protocol services")

    def start(self) -> None:
        """Start it and wait until its management answers."""
        self.launch()
        eventually(self._is_up, f"{self.at.name} answers", seconds=60)

    def launch(self) -> None:
        """Start it and return at once."""
        self.files.make()
        rendered = render.files(self.desired, self.engine_layout)
        self.files.write(rendered)
        spec = InstanceSpec(
            Namespace("test", "ten_test", "spc_test"), Kind.BROKER, self.at.name, rendered
        )
        spec = replace(spec, memory_mb=self.memory_mb)
        launch = engines.launch(spec, self.files)
        with (self.files.log / "output.log").open("ab") as log:
            self.process = subprocess.Popen(
                launch.command,
                env={**os.environ, **launch.environment, **self.environment},
                stdout=log,
                stderr=log,
                cwd=self.files.folder,
            )

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, (self.files.log / "output.log").read_text()[-3000:]
        try:
            return bool(driver.find_incarnation(self.target))
        except Unreachable:
            return False

    def kill(self) -> None:
        """As ``kill -9``."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def brokers(
    rig: Rig, count: int, addresses: Sequence[DesiredAddress]
) -> Iterator[list[RiggedBroker]]:
    """Yield running brokers of the rig's space, each holding ``addresses``."""
    with override_settings(ARTEMIS_HOME=settings.ARTEMIS_HOME or str(artifacts.artemis_home())):
        made = [_make(rig, number, addresses) for number in range(count)]
        try:
            for broker in made:
                broker.start()
                broker.hold(*addresses)
            yield made
        finally:
            for broker in made:
                broker.kill()


def _make(rig: Rig, number: int, addresses: Sequence[DesiredAddress]) -> RiggedBroker:
    now, port = datetime.now(UTC), free_port()
    files = InstanceFiles(rig.folder / f"broker-{number}")
    target = identities.target(
        HOST,
        port,
        authority_pem=rig.space_ca.certificate_pem,
        client=certificates.issue_client(rig.space_ca, "waypost-control", now),
        folder=rig.folder / "identities",
    )
    desired = DesiredBroker(
        public=False,
        addresses=addresses,
        users=(),
        send_withdrawn=False,
        server=certificates.issue_server(rig.space_ca, [HOST], now),
        authority_pem=rig.space_ca.certificate_pem,
    )
    engine_layout = EngineLayout(str(files.config), str(files.data), HOST, free_port(), port)
    return RiggedBroker(
        BrokerAt(f"broker-{number}", HOST, port), desired, engine_layout, files, target
    )
