"""Count the messages that each anycast queue restored from the journal when the broker started.

The broker's counters include restored messages as if they were new, so ``snapshot`` subtracts the
number of restored ones. The first snapshot of each incarnation records these numbers in the broker,
as one message in a non-durable internal queue. Later snapshots read that message.
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
    """Return {queue: number of restored messages}; queues that restored none are missing.

    If the broker has no record of the numbers yet, this function counts them and stores the record
    in the broker. The caller has just read ``queues``, all rows of ``listQueues``, and
    ``addresses``, all rows of ``listAddresses`` by name.

    Raises:
        Unreachable: the broker stopped answering.
    """
    record = next(row for row in queues if row["name"] == desired.RESTORED_QUEUE)
    if record["messageCount"] != "0":
        text = client.peek(desired.RESTORED_QUEUE)
        found: Mapping[str, int] = json.loads(text)
        return found
    counted = count(queues, addresses)
    client.leave(desired.RESTORED_QUEUE, json.dumps(counted))
    return counted


def count(queues: Sequence[Row], addresses: Mapping[str, Row]) -> dict[str, int]:
    """Return {anycast queue: number of restored messages}, without queues that restored none. Pure.

    The arguments are as in ``find_or_record``.
    """
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
