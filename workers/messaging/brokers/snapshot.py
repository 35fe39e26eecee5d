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
* Filter (docs/adr/0020). As a topic that nobody sends to: the topics of its messages count them in.
  A filter has no row, so the broker's addresses tell which there are.

**Restored messages.** After a restart the broker counts the messages that it restores from its
journal as added. The first snapshot of each incarnation finds their number: they were added but
never routed. The number is exact unless sends were refused or rolled back before that snapshot.
``restored`` stores it in the broker.

**Operations on messages.** A move adds to one queue's counter and acknowledges on another's. The
broker plugin counts what management added and removed, in the broker's own process, so these counts
begin with the broker's counters and survive the death of a worker. The snapshot subtracts them.

**Sizes.** The broker counts no bytes, so the plugin does (``traffic``): of the messages that
clients send and acknowledge. Which of them count for an address is as above.

**Connections opened.** The broker itself counts them, so an outage of Waypost loses nothing. Two
internal queues count notifications of the broker: of new connections, and of failed logins. Neither
counts connections with one of our certificates. The meter shows the new connections, minus failed
logins, minus open connections without a session. Port scans and failed TLS handshakes do not count.
The result may be too low while a login is in progress and is never too high; at rest it is exact.
So the maximum within one incarnation is the right value.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from controlplane.core import address_types
from controlplane.core.address_types import AddressTypeRow, BrokerForm
from workers.messaging import management, patterns
from workers.messaging.brokers import (
    connections,
    desired,
    restored,
    stored_messages,
    traffic,
)
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.brokers.traffic import UNSIZED, Sized
from workers.messaging.management import ManagementClient, Refused, Request, Unreachable
from workers.messaging.observed import (
    NO_SIZES,
    AddressCounters,
    AddressGauges,
    EngineHealth,
    InstanceSnapshot,
    ManagementTarget,
    Sizes,
)

Row = Mapping[str, Any]
_TOPIC = next(row.slug for row in address_types.REGISTRY if row.broker_form is BrokerForm.TOPIC)
_TRIES = 5  # to read all queues while no message is being moved
# The broker computes an age from the creation time that the sender set. Without one it counts from
# the year 1970; some clients set seconds instead of milliseconds, which is a time in 1970, too.
_TOO_OLD_MS = 20 * 365 * 24 * 3600 * 1000


@dataclass(frozen=True)
class MeteredAddress:
    """Names a tenant's address that a snapshot should cover.

    ``type`` is a slug of ``address_types``. The instance need not have the address.
    """

    address: str
    type: str

    @property
    def row(self) -> AddressTypeRow:
        """The row of the address's type in the registry of address types."""
        return address_types.BY_SLUG[self.type]


def take(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Read the counters and gauges of ``addresses``, and the open client connections.

    Addresses that are not on the broker are left out. ``internal_users``: users whose open
    connections are left out; the product passes none. The first call in an incarnation stores the
    record of restored messages in the broker (``restored``).

    Raises:
        Unreachable: the broker does not answer, or management moves messages all the time.
        Refused: the broker refused a request. In both cases the counters are unknown.
    """
    with management.connected(
        target, purpose="meter", greeting_seconds=management.GREETING_SECONDS
    ) as client:
        # One connection, which ends with the broker: the values are never of two incarnations.
        incarnation = str(client.read("broker", "Name"))
        reading = _Reading(client)
        queues, topics, producers, moved = reading.queues_and_addresses()
        base = restored.find_or_record(client, queues, topics)
        stored, ages = reading.sizes_and_ages(queues)
        plugin = _PluginCounts(moved, traffic.read(client))
        opened, seen = reading.connections()
        described = connections.describe(client, seen)
        health = reading.health()
    subscriptions = {
        metered.address
        for metered in addresses
        if metered.row.broker_form is BrokerForm.QUEUE_OF_TOPIC
    }
    counts = _Counts(queues, topics, base, stored, exclude=subscriptions, plugin=plugin)
    gauges = _Gauges(counts, ages, producers)
    counters = [found for metered in addresses if (found := counts.of(metered)) is not None]
    counters += counts.of_filters()
    return InstanceSnapshot(
        boot_id=incarnation,
        addresses=counters,
        gauges={
            metered.address: values
            for metered in addresses
            if (values := gauges.of(metered)) is not None
        },
        connections_opened=opened,
        connections=[one for one in described if one.user not in internal_users],
        health=health,
    )


class _Reading:
    """Reads a running broker's counters through one management connection.

    Each method raises ``Unreachable`` if the broker does not answer, and most raise ``Refused``.
    """

    def __init__(self, client: ManagementClient) -> None:
        self._client = client

    def queues_and_addresses(
        self,
    ) -> tuple[Sequence[Row], Mapping[str, Row], Mapping[str, int], Mapping[str, int]]:
        """Return queues, addresses by name, producers by address, and what management changed.

        The first two are all rows of ``listQueues`` and ``listAddresses``. The third is the number
        of producers on each address, the last what ``stored_messages.operated`` returns. Reads
        again if management changed messages meanwhile, so that all are about the same state.

        Raises:
            Unreachable: management changed messages during each of the reads.
        """
        before = stored_messages.operated(self._client)
        for _ in range(_TRIES):
            queues, topics, producers = BrokerTables(self._client).rows_of(
                "listQueues", "listAddresses", "listProducers"
            )
            after = stored_messages.operated(self._client)
            if before == after:
                sending = Counter(str(row["address"]) for row in producers)
                return queues, {row["name"]: row for row in topics}, sending, after
            before = after
        raise Unreachable("messages are being moved; their counts are not complete")

    def sizes_and_ages(self, queues: Sequence[Row]) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return {queue: persistent size in bytes} and {queue: age of the oldest message in ms}.

        Empty queues, internal ones, and those that have vanished meanwhile are missing. A queue
        whose oldest message has no plausible creation time has no age.
        """
        names = [
            row["name"]
            for row in queues
            if row["messageCount"] != "0" and not row["name"].startswith("$")
        ]
        attributes = ("PersistentSize", "FirstMessageAge")
        answers = iter(
            self._client.try_all(
                [Request(f"queue.{n}", attribute=a) for a in attributes for n in names]
            )
        )
        sizes, ages = (
            {
                # ``names`` is the first argument of ``zip``, so ``zip`` ends before it takes an
                # answer that belongs to the next attribute.
                name: int(answer)
                for name, answer in zip(names, answers, strict=False)
                if not isinstance(answer, Refused) and answer is not None
            }
            for _ in attributes
        )
        return sizes, {name: age for name, age in ages.items() if age < _TOO_OLD_MS}

    def health(self) -> EngineHealth:
        """Return how full the broker is. A value that the broker refuses to show is None."""
        names = ("AddressMemoryUsage", "GlobalMaxSize", "DiskStoreUsage", "MaxDiskUsage")
        used, limit, disk, percent = (
            None if isinstance(answer, Refused) else answer
            for answer in self._client.try_all([Request("broker", attribute=n) for n in names])
        )
        return EngineHealth(
            memory_used=None if used is None else int(used),
            # Negative values mean "no limit" (Artemis user manual, "Paging" and "Disk usage").
            memory_limit=int(limit) if limit is not None and int(limit) > 0 else None,
            disk_used=None if disk is None else float(disk),
            disk_limit=int(percent) / 100 if percent is not None and int(percent) > 0 else None,
        )

    def connections(self) -> tuple[int, Sequence[connections.OpenConnection]]:
        """Return how many client connections have logged in, and the ones that are open now.

        The first value is the number of announced connections in this incarnation, minus open ones
        without a session, minus failed logins. The order of the reads matters: whatever happens
        between them makes this value too low, never too high.
        """
        opened = int(self._client.read(f"queue.{desired.CONNECTIONS_QUEUE}", "MessagesAdded"))
        seen = connections.list_clients(self._client)
        # Connections without a session yet: their login may still fail.
        undecided = sum(1 for connection in seen if connection.user == "")
        refused = int(self._client.read(f"queue.{desired.REFUSALS_QUEUE}", "MessagesAdded"))
        # A connection that was opened after the first read may be among the undecided ones, so the
        # difference may be negative.
        return max(0, opened - undecided - refused), seen


@dataclass(frozen=True)
class _PluginCounts:
    """What ``stored_messages.operated`` and ``traffic.read`` returned."""

    moved: Mapping[str, int]
    sized: Mapping[str, Sized]


class _Counts:
    """Computes the counters of metered addresses from what was read of a broker. Pure.

    * ``queues``: all rows of ``listQueues``. ``topics``: all rows of ``listAddresses`` by name.
    * ``base``: restored messages by queue. ``stored``: bytes by queue.
    * ``exclude``: queues that are addresses of type subscription. Their topic must not count their
      messages a second time.
    """

    def __init__(
        self,
        queues: Sequence[Row],
        topics: Mapping[str, Row],
        base: Mapping[str, int],
        stored: Mapping[str, int],
        *,
        exclude: Collection[str],
        plugin: _PluginCounts,
    ) -> None:
        self.topics, self._base, self.stored = topics, base, stored
        self._moved, self._sized = plugin.moved, plugin.sized
        self.queues = {str(row["name"]): row for row in queues}
        self.subscribers: dict[str, list[Row]] = {}
        self.bound: dict[str, list[Row]] = {}  # every queue, subscriptions included
        for row in queues:
            self.bound.setdefault(str(row["address"]), []).append(row)
            if row["name"] not in exclude:
                self.subscribers.setdefault(str(row["address"]), []).append(row)

    def of(self, metered: MeteredAddress) -> AddressCounters | None:
        """Return the billed counters of an address; None if the address is not on this broker.

        The module's docstring says which messages count for each type.
        """
        if metered.row.broker_form is BrokerForm.TOPIC:
            return self._of_topic(metered.address)
        queue = self.queues.get(metered.address)
        if queue is None:
            return None
        form, is_read_only = metered.row.broker_form, metered.row.is_read_only
        is_billed_in = form is BrokerForm.QUEUE and not is_read_only
        added, sized = self.added(queue), self._sized_of(queue)
        return AddressCounters(
            metered.address,
            messages_in=added if is_billed_in else 0,
            messages_out=self.acknowledged(queue),
            stored_bytes=self.stored.get(metered.address, 0),
            incarnation=str(queue["id"]),
            sizes_in=sized.sizes_in if is_billed_in else NO_SIZES,
            sizes_out=sized.sizes_out,
        )

    def of_filters(self) -> Sequence[AddressCounters]:
        """Return the counters of each filter to which somebody subscribed."""
        return [
            replace(found, type=_TOPIC)
            for name in sorted(filter(patterns.is_filter, self.topics))
            if (found := self._of_topic(name)) is not None
        ]

    def added(self, queue: Row) -> int:
        """Return how many messages arrived in a queue in this incarnation.

        Restored messages, and those that management added, do not count.
        """
        others = self._base.get(str(queue["name"]), 0) + self._moved.get(f"in:{queue['id']}", 0)
        return max(0, int(queue["messagesAdded"]) - others)

    def sent(self, topic: Row) -> int:
        """Return how many messages arrived at a topic, with or without a subscriber.

        Those that management sent do not count.
        """
        arrived = int(topic["routedMessageCount"]) + int(topic["unroutedMessageCount"])
        return max(0, arrived - self._moved.get(f"in:{topic['id']}", 0))

    def acknowledged(self, queue: Row) -> int:
        """Return how many messages clients acknowledged on a queue.

        Those that management removed or moved away do not count.
        """
        return max(0, int(queue["messagesAcked"]) - self._moved.get(f"out:{queue['id']}", 0))

    def _of_topic(self, address: str) -> AddressCounters | None:
        topic = self.topics.get(address)
        if topic is None:
            return None
        subscribers = self.subscribers.get(address, [])
        # With the id in the key, a recreated queue of the same name is another counter.
        keys = {f"{row['name']}#{row['id']}": row for row in subscribers}
        out = {key: self.acknowledged(row) for key, row in keys.items()}
        sizes_out = {key: self._sized_of(row).sizes_out for key, row in keys.items()}
        return AddressCounters(
            address,
            messages_in=self.sent(topic),
            messages_out=sum(out.values()),
            queues_out=out,
            stored_bytes=sum(self.stored.get(str(row["name"]), 0) for row in subscribers),
            incarnation=str(topic["id"]),
            sizes_in=self._sized_of(topic).sizes_in,
            sizes_out=Sizes(*map(sum, zip(NO_SIZES, *sizes_out.values(), strict=True))),
            queue_sizes_out=sizes_out,
        )

    def _sized_of(self, row: Row) -> Sized:
        return self._sized.get(str(row["id"]), UNSIZED)


@dataclass(frozen=True)
class _Gauges:
    """Computes the newest values of addresses from what was read of a broker. Pure.

    ``ages``: {queue: age of the oldest message in ms}. ``producers``: {address: how many}.
    """

    counts: _Counts
    ages: Mapping[str, int]
    producers: Mapping[str, int]

    def of(self, metered: MeteredAddress) -> AddressGauges | None:
        """Return the values of an address; None if the address is not on this broker.

        A topic has the sums over all queues bound to it, addresses of type subscription included.
        Its consumers are without those of such addresses.
        """
        counts, name = self.counts, metered.address
        topic = counts.topics.get(name) if metered.row.broker_form is BrokerForm.TOPIC else None
        if topic is not None:
            queues: Sequence[Row] = counts.bound.get(name, [])
            # The receivers of a subscription are its own.
            receiving: Sequence[Row] = counts.subscribers.get(name, [])
            arrived = counts.sent(topic)
        elif metered.row.broker_form is not BrokerForm.TOPIC and name in counts.queues:
            queues = receiving = [counts.queues[name]]
            arrived = counts.added(queues[0])
        else:
            return None
        is_subscription = metered.row.broker_form is BrokerForm.QUEUE_OF_TOPIC
        names = [str(queue["name"]) for queue in queues]

        def total(column: str) -> int:
            return sum(int(queue.get(column) or 0) for queue in queues)

        return AddressGauges(
            arrived,
            sum(counts.acknowledged(queue) for queue in queues),
            depth=total("messageCount"),
            stored_bytes=sum(counts.stored.get(queue, 0) for queue in names),
            delivering=total("deliveringCount"),
            consumers=sum(int(queue.get("consumerCount") or 0) for queue in receiving),
            # Producers send to the topic, not to one of its subscriptions.
            producers=None if is_subscription else self.producers.get(name, 0),
            oldest_ms=max(
                (self.ages[queue] for queue in names if queue in self.ages), default=None
            ),
            expired=total("messagesExpired"),
            dead_lettered=total("messagesKilled"),
        )
