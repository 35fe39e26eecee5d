"""Count the messages that each queue restored from the journal when the broker started.

The broker's counters include them as if they were new. The first snapshot of each incarnation
records the counts as one message in a non-durable internal queue; see ``snapshot``.
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
    """Return restored messages by queue; queues created later in this incarnation are missing."""
    record = next(row for row in queues if row["name"] == desired.RESTORED_QUEUE)
    if record["messageCount"] != "0":
        text = client.peek(desired.RESTORED_QUEUE)
        found: Mapping[str, int] = json.loads(text)
        return found
    counted = count(queues, addresses)
    client.leave(desired.RESTORED_QUEUE, json.dumps(counted))
    return counted


def count(queues: Sequence[Row], addresses: Mapping[str, Row]) -> dict[str, int]:
    """Return how many messages were added to each anycast queue without being routed to it."""
    # Restored messages count as added to the queue, but not as routed by the address.
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
