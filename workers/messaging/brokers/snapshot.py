"""One cumulative snapshot of one broker, for metering.

What bills what is the table in section 2 of the lakehouse design:

* queue: messages added to, and acknowledged of, its queue;
* topic: the address's routed and unrouted messages; acknowledged of its subscribers' queues, but
  for those that are addresses of type subscription;
* subscription: nothing in (counted on its topic), acknowledged of its queue out;
* deadletter: nothing in (moves are not billed), acknowledged out.

**Restored messages.** After a restart the broker counts what it reads back from its journal as
added. The first look into each life tells them from new ones (added but never routed; exact unless
sends were refused or rolled back before that look) and leaves the figures in the broker, in a
non-durable queue that lives exactly as long as they hold.

**Connections opened** survive any outage of ours: the broker counts, in two internal queues of
length one, each connection that brings none of our certificates, and each failed login. A port scan
or a failed TLS handshake is not a connection. The figure is a lower bound while a login is under
way, never too high, and exact at rest: in one life take its maximum.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workers.messaging import management
from workers.messaging.brokers import connections, desired, restored
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import (
    AddressCounters,
    ConnectionSeen,
    InstanceSnapshot,
    ManagementTarget,
)

_MANY = 1_000_000

Row = Mapping[str, Any]


@dataclass(frozen=True)
class MeteredAddress:
    """A tenant's address that may be on this broker. ``type`` as in the address's row."""

    address: str
    type: str


def take(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Return one snapshot; addresses that are not on the broker are left out.

    ``internal_users`` are client identities that are never billed (none in the product today).

    Raises:
        Unreachable: the broker does not answer; that says nothing about its counters.
    """
    with management.connected(target, purpose="meter") as client:
        life = str(client.read("broker", "Name"))
        queues, topics = _queues_and_addresses(client)
        base = restored.find_or_record(client, queues, topics)
        stored = _stored_bytes(client, queues)
        opened, seen = _count_connections(client)
    subscriptions = {each.address for each in addresses if each.type == "subscription"}
    shown = _Shown(queues, topics, base, stored, but=subscriptions)
    counters = [found for each in addresses if (found := shown.count(each)) is not None]
    return InstanceSnapshot(
        boot_id=life,
        addresses=counters,
        connections_opened=opened,
        connections=[
            ConnectionSeen(each.id, each.user, each.container, each.remote_host)
            for each in seen
            if each.user not in internal_users
        ],
    )


def _queues_and_addresses(client: ManagementClient) -> tuple[list[Row], dict[str, Row]]:
    queues, topics = client.ask(
        [
            Request("broker", "listQueues", ["", 1, _MANY]),
            Request("broker", "listAddresses", ["", 1, _MANY]),
        ]
    )
    rows: list[Row] = json.loads(queues)["data"]
    return rows, {row["name"]: row for row in json.loads(topics)["data"]}


def _count_connections(
    client: ManagementClient,
) -> tuple[int, Sequence[connections.OpenConnection]]:
    """Count so that each race makes the figure smaller: opened first, refusals last."""
    opened = int(client.read(f"queue.{desired.CONNECTIONS_QUEUE}", "MessagesAdded"))
    seen = connections.list_clients(client)
    undecided = sum(1 for each in seen if each.user == "")
    refused = int(client.read(f"queue.{desired.REFUSALS_QUEUE}", "MessagesAdded"))
    return max(0, opened - undecided - refused), seen


class _Shown:
    """What a broker shows of its queues and addresses, and what that is of a metered address.

    ``but``: the queues that are addresses of their own, so that no topic counts them again.
    """

    def __init__(
        self,
        queues: Sequence[Row],
        topics: Mapping[str, Row],
        base: Mapping[str, int],
        stored: Mapping[str, int],
        *,
        but: Collection[str],
    ) -> None:
        self._topics, self._base, self._stored = topics, base, stored
        self._queues = {str(row["name"]): row for row in queues}
        self._subscribers: dict[str, list[Row]] = {}
        for row in queues:
            if row["name"] not in but:
                self._subscribers.setdefault(str(row["address"]), []).append(row)

    def count(self, metered: MeteredAddress) -> AddressCounters | None:
        """Return the counters of an address, None where it is not on this broker."""
        if metered.type == "topic":
            return self._count_topic(metered.address)
        queue = self._queues.get(metered.address)
        if queue is None:
            return None
        is_billed_in = metered.type == "queue"
        added = int(queue["messagesAdded"]) - self._base.get(metered.address, 0)
        return AddressCounters(
            metered.address,
            messages_in=max(0, added) if is_billed_in else 0,
            messages_out=int(queue["messagesAcked"]),
            stored_bytes=self._stored.get(metered.address, 0),
            life=str(queue["id"]),
        )

    def _count_topic(self, address: str) -> AddressCounters | None:
        topic = self._topics.get(address)
        if topic is None:
            return None
        subscribers = self._subscribers.get(address, [])
        out = {f"{row['name']}#{row['id']}": int(row["messagesAcked"]) for row in subscribers}
        return AddressCounters(
            address,
            messages_in=int(topic["routedMessageCount"]) + int(topic["unroutedMessageCount"]),
            messages_out=sum(out.values()),
            queues_out=out,
            stored_bytes=sum(self._stored.get(str(row["name"]), 0) for row in subscribers),
            life=str(topic["id"]),
        )


def _stored_bytes(client: ManagementClient, queues: Sequence[Row]) -> dict[str, int]:
    """Read the persistent size of each queue that holds anything; a vanished queue holds none."""
    names = [
        row["name"]
        for row in queues
        if row["messageCount"] != "0" and not row["name"].startswith("$")
    ]
    answers = client.try_all(
        [Request(f"queue.{name}", attribute="PersistentSize") for name in names]
    )
    return {
        name: int(answer)
        for name, answer in zip(names, answers, strict=True)
        if not isinstance(answer, Refused)
    }
