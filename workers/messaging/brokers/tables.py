"""The queues, addresses and connections of a running broker, through one management connection.

Used by the driver. Each method raises ``Unreachable`` if the broker stops answering.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workers.messaging.brokers.desired import DesiredAddress
from workers.messaging.management import ManagementClient, Refused, Request

_MANY = 1_000_000  # page size of list operations: one page that holds everything
_FEW = 200  # up to this number of names, single look-ups cost less than one list of everything


class BrokerTables:
    """Reads and changes the queues and addresses of one broker; ``client`` is connected."""

    def __init__(self, client: ManagementClient) -> None:
        self._client = client

    def rows(self, operation: str) -> Sequence[Mapping[str, Any]]:
        """Return everything that a list operation such as ``listQueues`` shows."""
        answer = self._client.call("broker", operation, "", 1, _MANY)
        rows: Sequence[Mapping[str, Any]] = json.loads(answer)["data"]
        return rows

    def find(self, operation: str, names: Collection[str]) -> set[str]:
        """Return those of ``names`` that ``listAddresses`` or ``listQueues`` shows.

        A few names are looked up one by one, so that the answers do not grow with the broker.
        """
        if len(names) > _FEW:
            filters = [""]
        else:
            filters = [
                json.dumps({"field": "name", "operation": "EQUALS", "value": name})
                for name in sorted(names)
            ]
        answers = self._client.ask(
            [Request("broker", operation, [wanted, 1, _MANY]) for wanted in filters]
        )
        found = {row["name"] for answer in answers for row in json.loads(answer)["data"]}
        return found & set(names)

    def create_missing(self, wanted: Sequence[DesiredAddress]) -> int:
        """Create by requests what the broker has not read from its files yet; return how many.

        Raises:
            Refused: the broker refused to create something.
        """
        queues = self.find("listQueues", {name for address in wanted for name in address.queues})
        addresses = self.find("listAddresses", {address.address for address in wanted})
        requests = [
            Request("broker", "createAddress", [address.address, address.routing_type])
            for address in wanted
            if address.address not in addresses
        ]
        requests += [
            self._queue_request(address, name)
            for address in wanted
            for name in address.queues
            if name not in queues
        ]
        self._client.ask(requests)
        return len(requests)

    @staticmethod
    def _queue_request(address: DesiredAddress, name: str) -> Request:
        queue = {
            "name": name,
            "address": address.address,
            "routing-type": address.routing_type,
            "durable": True,
            "auto-create-address": False,
            "auto-delete": False,
        }
        # The second argument makes the broker ignore a queue that exists already.
        return Request("broker", "createQueue", [json.dumps(queue), True])

    def close(self, connections: Collection[str]) -> int:
        """Close the connections with these ids; return how many were still open."""
        outcomes = self._client.try_all(
            [Request("broker", "closeConnectionWithID", [id_]) for id_ in sorted(connections)]
        )
        return sum(1 for outcome in outcomes if not isinstance(outcome, Refused))
