"""One cumulative snapshot of one broker, for metering.

Which counters are billed for an address depends on the form that its type has on brokers
(docs/lakehouse.md, "What counts"):

* Queue. In: messages added to its queue. Out: messages acknowledged on it.
* Topic. In: messages that the address routed or could not route. Out: messages acknowledged on its
  subscribers' queues, except queues that are addresses of type subscription.
* Queue of a topic (subscription). In: nothing, because the topic counts it. Out: messages
  acknowledged on its queue.
* Queue of a read-only type (deadletter). In: nothing, because moves are not billed. Out: messages
  acknowledged on it.

**Restored messages.** After a restart the broker counts the messages that it restores from its
journal as added. The first snapshot of each incarnation finds their number: they were added but
never routed. The number is exact unless sends were refused or rolled back before that snapshot.
``restored`` stores it in the broker.

**Connections opened.** The broker itself counts them, so an outage of Waypost loses nothing. Two
internal queues count notifications of the broker: of new connections, and of failed logins. Neither
counts connections with one of our certificates. The figure is the first number minus the second,
minus the open connections without a session. Port scans and failed TLS handshakes do not count. The
figure may be too low while a login is in progress and is never too high; at rest it is exact. So
the maximum within one incarnation is the right value.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import AddressTypeRow, BrokerForm
from workers.messaging import management
from workers.messaging.brokers import connections, desired, restored
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import (
    AddressCounters,
    ConnectionSeen,
    InstanceSnapshot,
    ManagementTarget,
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class MeteredAddress:
    """A tenant's address that may be on an instance; ``type`` is a slug of ``address_types``."""

    address: str
    type: str

    @property
    def row(self) -> AddressTypeRow:
        """The row of its type in the registry of address types."""
        return address_types.BY_SLUG[self.type]


def take(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Return one snapshot; addresses that are not on the broker are left out.

    ``internal_users``: users whose open connections are left out (none in the product today).

    Raises:
        Unreachable: the broker does not answer; its counters are then unknown.
    """
    with management.connected(target, purpose="meter") as client:
        incarnation = str(client.read("broker", "Name"))
        reading = _Reading(client)
        queues, topics = reading.queues_and_addresses()
        base = restored.find_or_record(client, queues, topics)
        stored = reading.stored_bytes(queues)
        opened, seen = reading.connections()
    subscriptions = {
        metered.address
        for metered in addresses
        if metered.row.broker_form is BrokerForm.QUEUE_OF_TOPIC
    }
    counts = _Counts(queues, topics, base, stored, exclude=subscriptions)
    counters = [found for metered in addresses if (found := counts.of(metered)) is not None]
    return InstanceSnapshot(
        boot_id=incarnation,
        addresses=counters,
        connections_opened=opened,
        connections=[
            ConnectionSeen(
                connection.id, connection.user, connection.container, connection.remote_host
            )
            for connection in seen
            if connection.user not in internal_users
        ],
    )


class _Reading:
    """Reads a running broker's counters through one management connection."""

    def __init__(self, client: ManagementClient) -> None:
        self._client = client

    def queues_and_addresses(self) -> tuple[Sequence[Row], Mapping[str, Row]]:
        """Return all queues, and all addresses by name."""
        queues, topics = BrokerTables(self._client).rows_of("listQueues", "listAddresses")
        return queues, {row["name"]: row for row in topics}

    def stored_bytes(self, queues: Sequence[Row]) -> Mapping[str, int]:
        """Return the persistent size, in bytes, of each queue that holds messages.

        Internal queues, and queues that have vanished meanwhile, are missing.
        """
        names = [
            row["name"]
            for row in queues
            if row["messageCount"] != "0" and not row["name"].startswith("$")
        ]
        answers = self._client.try_all(
            [Request(f"queue.{name}", attribute="PersistentSize") for name in names]
        )
        return {
            name: int(answer)
            for name, answer in zip(names, answers, strict=True)
            if not isinstance(answer, Refused)
        }

    def connections(self) -> tuple[int, Sequence[connections.OpenConnection]]:
        """Return how many client connections have logged in, and the ones that are open now.

        The number is that of announced connections, minus open ones without a session, minus failed
        logins. The order of the reads matters: whatever happens between them makes the number too
        low, never too high.
        """
        opened = int(self._client.read(f"queue.{desired.CONNECTIONS_QUEUE}", "MessagesAdded"))
        seen = connections.list_clients(self._client)
        # Connections without a session yet: their login may still fail.
        undecided = sum(1 for connection in seen if connection.user == "")
        refused = int(self._client.read(f"queue.{desired.REFUSALS_QUEUE}", "MessagesAdded"))
        return max(0, opened - undecided - refused), seen


class _Counts:
    """The counters of metered addresses, computed from a broker's queues and addresses.

    * ``base``: restored messages by queue. ``stored``: bytes by queue.
    * ``exclude``: queues that are addresses of type subscription. Their topic must not count them a
      second time.
    """

    def __init__(
        self,
        queues: Sequence[Row],
        topics: Mapping[str, Row],
        base: Mapping[str, int],
        stored: Mapping[str, int],
        *,
        exclude: Collection[str],
    ) -> None:
        self._topics, self._base, self._stored = topics, base, stored
        self._queues = {str(row["name"]): row for row in queues}
        self._subscribers: dict[str, list[Row]] = {}
        for row in queues:
            if row["name"] not in exclude:
                self._subscribers.setdefault(str(row["address"]), []).append(row)

    def of(self, metered: MeteredAddress) -> AddressCounters | None:
        """Return the counters of an address; None if it is not on this broker."""
        if metered.row.broker_form is BrokerForm.TOPIC:
            return self._of_topic(metered.address)
        queue = self._queues.get(metered.address)
        if queue is None:
            return None
        form, is_read_only = metered.row.broker_form, metered.row.is_read_only
        is_billed_in = form is BrokerForm.QUEUE and not is_read_only
        added = int(queue["messagesAdded"]) - self._base.get(metered.address, 0)
        return AddressCounters(
            metered.address,
            messages_in=max(0, added) if is_billed_in else 0,
            messages_out=int(queue["messagesAcked"]),
            stored_bytes=self._stored.get(metered.address, 0),
            incarnation=str(queue["id"]),
        )

    def _of_topic(self, address: str) -> AddressCounters | None:
        topic = self._topics.get(address)
        if topic is None:
            return None
        subscribers = self._subscribers.get(address, [])
        # With the id in the key, a recreated queue of the same name is another counter.
        out = {f"{row['name']}#{row['id']}": int(row["messagesAcked"]) for row in subscribers}
        return AddressCounters(
            address,
            messages_in=int(topic["routedMessageCount"]) + int(topic["unroutedMessageCount"]),
            messages_out=sum(out.values()),
            queues_out=out,
            stored_bytes=sum(self._stored.get(str(row["name"]), 0) for row in subscribers),
            incarnation=str(topic["id"]),
        )
