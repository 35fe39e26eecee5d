"""How many messages each queue read back from the journal when the broker started.

The broker adds them to its counters as if they were new. Recorded once a life, by the first
snapshot, as one message in a non-durable internal queue; see ``snapshot``.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.messaging.brokers import desired
from workers.messaging.management import ManagementClient

Row = Mapping[str, Any]


def find_or_record(
    client: ManagementClient, queues: Sequence[Row], addresses: Mapping[str, Row]
) -> Mapping[str, int]:
    """Return restored messages by queue; queues made later in this life are not in it."""
    keeper = next(row for row in queues if row["name"] == desired.RESTORED_QUEUE)
    if keeper["messageCount"] != "0":
        text = client.peek(desired.RESTORED_QUEUE)
        found: Mapping[str, int] = json.loads(text)
        return found
    counted = count(queues, addresses)
    client.leave(desired.RESTORED_QUEUE, json.dumps(counted))
    return counted


def count(queues: Sequence[Row], addresses: Mapping[str, Row]) -> dict[str, int]:
    """Return what was added to each anycast queue without having been routed to it."""
    return {
        row["name"]: restored
        for row in queues
        if row["routingType"] == "ANYCAST"
        and row["address"] in addresses
        and (
            restored := int(row["messagesAdded"])
            - int(addresses[row["address"]]["routedMessageCount"])
        )
        > 0
    }
