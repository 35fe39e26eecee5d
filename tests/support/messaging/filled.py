"""A space of one of the plans that ship with Waypost, on real engines, and what fills it."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from django.utils import timezone
from proton import Delivery, Message
from proton.utils import BlockingConnection

from controlplane.core.instance_names import InstanceId, Kind
from plans.catalog import publishing
from plans.catalog.definitions import AddressPlanDefinition, SpacePlanDefinition
from tenants.models import AddressSpace
from tests.support.messaging import amqp, routing_rig
from tests.support.reconcile import patience, rows
from tests.support.sessions import listed
from workers.infra.base import Namespace
from workers.infra.kinds import REGISTRY
from workers.instances import Locator
from workers.messaging import management
from workers.messaging.brokers.tables import BrokerTables
from workers.reconcile import space_rows
from workers.reconcile.outcome import Done
from workers.reconcile.ports import Ports

CLIENT_SECONDS = 60  # what a client waits for an outcome
_AT_ONCE_BYTES, _MOST_AT_ONCE = 4_000_000, 200


@dataclass
class FilledSpace:
    """A space of the size ``plan``, with its files below ``state_dir``; alice and bob use it."""

    ports: Ports
    state_dir: Path
    folder: Path
    space: AddressSpace
    accepted: dict[str, int] = field(default_factory=dict)  # address -> bytes

    @classmethod
    def make(
        cls, ports: Ports, state_dir: Path, folder: Path, kind: str, size: str
    ) -> "FilledSpace":
        space = rows.make_space(rows.make_tenant(), kind=kind, size=size)
        for name in ("alice", "bob"):
            rows.make_user(space, name, ("#", "send recv"))
        return cls(ports, state_dir, folder, space)

    @property
    def plan(self) -> SpacePlanDefinition:
        return publishing.space_plan_definition(self.space.space_plan)

    def address_plan(self, name: str) -> AddressPlanDefinition:
        return publishing.address_plan_definition(
            self.space.addresses.get(address=name).address_plan
        )

    def reconcile(self) -> None:
        """Pass over the space until it is done; raise AssertionError if it fails."""
        outcome = patience.look(self.space.id, self.ports, seconds=600)
        assert isinstance(outcome, Done), outcome
        self.space.refresh_from_db()

    def connected(self, user: str = "alice") -> AbstractContextManager[BlockingConnection]:
        return amqp.connected(self.space, self.folder, user, rows.PASSWORD, timeout=CLIENT_SECONDS)

    @property
    def authority(self) -> Path:
        """The file with what clients trust."""
        path = self.folder / "authority.pem"
        path.write_text(self.space.endpoints.get(name="amqps").certificate_pem)
        return path

    @property
    def at(self) -> tuple[str, int]:
        endpoint = self.space.endpoints.get(name="amqps")
        return endpoint.host, endpoint.port

    def fill(self, connection: BlockingConnection, address: str, size: int) -> str:
        """Send messages of ``size`` bytes until one is refused; return the condition.

        Raises AssertionError if an outcome does not come within a client's time-out, or if the
        address takes much more than its plan sells.
        """
        sender = connection.create_sender(address)
        sold = self.address_plan(address).max_bytes or 0
        window = max(1, min(_MOST_AT_ONCE, _AT_ONCE_BYTES // size))
        body = os.urandom(size)
        while self.accepted.get(address, 0) < 2 * sold:
            sent = [
                routing_rig.hand_over(sender, Message(body=body, durable=True))
                for _ in range(window)
            ]
            connection.wait(partial(_are_settled, sent), timeout=CLIENT_SECONDS)
            taken = sum(one.remote_state == Delivery.ACCEPTED for one in sent)
            self.accepted[address] = self.accepted.get(address, 0) + taken * size
            if taken < window:
                sender.close()
                (condition,) = {
                    routing_rig.condition_of(one)
                    for one in sent
                    if one.remote_state != Delivery.ACCEPTED
                }
                return condition
        raise AssertionError(f"{address} takes more than it sells: {self.accepted[address]} bytes")

    @property
    def namespace(self) -> Namespace:
        return space_rows.load(self.space, now=timezone.now(), full=False).namespace

    def boots(self) -> Mapping[str, str]:
        """Return the incarnations of the instances: a crash would change one."""
        return {one.name: one.boot for one in listed(self.ports.infra, self.namespace)}

    def pids(self, kind: Kind) -> Mapping[str, int]:
        return {
            name: int(boot.rsplit("-", 1)[1])
            for name, boot in self.boots().items()
            if InstanceId.parse(name).kind is kind
        }

    def kill_brokers(self) -> None:
        for pid in self.pids(Kind.BROKER).values():
            os.kill(pid, signal.SIGKILL)

    def peak_memory_mb(self) -> int:
        """Return the most memory that one of the brokers has used, in MiB."""
        peaks = []
        for pid in self.pids(Kind.BROKER).values():
            status = Path(f"/proc/{pid}/status").read_text()
            line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
            peaks.append(int(line.split()[1]) // 1024)
        return max(peaks)

    @property
    def container_mb(self) -> int:
        """The memory limit of a broker's container, in MiB."""
        return self.plan.broker_memory_mb + REGISTRY[Kind.BROKER].overhead_mb

    def disk_mb(self) -> int:
        """Return the MiB of files of the broker that stores most."""
        data = self.state_dir / "spaces" / self.namespace.name
        return (
            max(
                sum(path.stat().st_blocks * 512 for path in broker.rglob("*") if path.is_file())
                for broker in data.glob("broker-*/data")
            )
            // 2**20
        )

    def stored(self) -> Mapping[str, int]:
        """Return queue -> its messages, of all brokers together.

        Without internal queues, and without empty ones: clients for management have queues, too.
        """
        found: dict[str, int] = {}
        located = Locator(self.ports.infra, self.ports.identities_dir).list_existing(self.space)
        for instance in located:
            if instance.id.kind is Kind.BROKER:
                with management.connected(instance.target, purpose="look") as client:
                    for row in BrokerTables(client).rows("listQueues"):
                        if not row["name"].startswith(("$", "activemq.", "waypost")):
                            count = int(row["messageCount"])
                            found[row["name"]] = found.get(row["name"], 0) + count
        return {name: count for name, count in found.items() if count}


def _are_settled(sent: Sequence[Delivery]) -> bool:
    return all(one.settled for one in reversed(sent))


class Clock:
    """Prints how long each part of a long test took (``pytest -s``)."""

    def __init__(self) -> None:
        self._since = self._begun = time.monotonic()

    def report(self, what: str) -> None:
        now = time.monotonic()
        print(f"[{now - self._begun:6.0f} s] {now - self._since:6.1f} s  {what}", flush=True)  # noqa: T201
        self._since = now
