"""List and change the queues, addresses and connections of a running broker.

The driver and ``snapshot`` use ``BrokerTables``. Each of its methods raises ``Unreachable`` if the
broker stops answering, and ``Refused`` if it refuses a request; ``close`` never raises ``Refused``.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workers.messaging.brokers import queue_settings
from workers.messaging.brokers.desired import DesiredAddress
from workers.messaging.management import ManagementClient, Refused, Request

_TRIES = 4  # a refused list is requested this often, and then for the last time
_MANY = 1_000_000  # page size of list operations: one page that holds everything
_FEW = 200  # up to this number of names, one look-up for each costs less than listing everything


class BrokerTables:
    """Lists, finds and creates queues and addresses of one broker, and closes its connections.

    It sends its requests through the open management connection ``client``.
    """

    def __init__(self, client: ManagementClient) -> None:
        self._client = client

    def rows(self, operation: str) -> Sequence[Mapping[str, Any]]:
        """Return all rows of a list operation such as ``listQueues``, each as column -> value."""
        return self.rows_of(operation)[0]

    def rows_of(self, *operations: str) -> Sequence[Sequence[Mapping[str, Any]]]:
        """Return the rows of each list operation, in the order of ``operations``.

        All requests are sent at once, so the lists show nearly the same moment. They are sent again
        a few times if the broker refuses one.
        """
        return self.rows_with(operations)[0]

    def rows_with(
        self, operations: Sequence[str], *others: Request
    ) -> tuple[Sequence[Sequence[Mapping[str, Any]]], Sequence[Any]]:
        """Return what ``rows_of`` returns, and the answers to ``others``, sent at the same time.

        An answer to one of ``others`` is a ``Refused`` if the broker refused it.
        """
        lists = [Request("broker", operation, ["", 1, _MANY]) for operation in operations]
        # The broker refuses to list queues if one vanishes meanwhile (seen with Artemis 2.56), as
        # those of subscriptions and replies do.
        for _ in range(_TRIES):
            answers = self._client.try_all([*lists, *others])
            if not any(isinstance(answer, Refused) for answer in answers[: len(lists)]):
                break
        else:
            answers = [*self._client.ask(lists), *self._client.try_all(others)]
        rows = [json.loads(str(answer))["data"] for answer in answers[: len(lists)]]
        return rows, answers[len(lists) :]

    def find(self, operation: str, names: Collection[str]) -> Mapping[str, Mapping[str, Any]]:
        """Return the rows of those of ``names`` that exist on the broker: name -> row.

        ``operation`` is ``listAddresses`` or ``listQueues``. Few names are looked up one by one, so
        that the answers do not grow with the number of addresses on the broker.
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
        rows = {row["name"]: row for answer in answers for row in json.loads(answer)["data"]}
        return {name: rows[name] for name in names if name in rows}

    def create_missing(self, wanted: Sequence[DesiredAddress]) -> int:
        """Create the missing addresses and durable queues of ``wanted``; return how many.

        It also sets attributes of existing queues that differ (``queue_settings``), which the
        returned number does not count. Nothing is deleted. Idempotent.
        """
        queues = self.find("listQueues", {name for address in wanted for name in address.queues})
        addresses = self.find("listAddresses", {address.address for address in wanted})
        requests = [
            Request("broker", "createAddress", [address.address, address.routing_type])
            for address in wanted
            if address.address not in addresses
        ]
        requests += [
            queue_settings.as_request(address, name, "createQueue")
            for address in wanted
            for name in address.queues
            if name not in queues
        ]
        changes = [
            queue_settings.as_request(address, name, "updateQueue")
            for address, name in queue_settings.list_different(wanted, queues)
        ]
        self._client.ask([*requests, *changes])
        return len(requests)

    def close(self, connections: Collection[str]) -> int:
        """Close the connections with these ids; return how many requests the broker accepted.

        The broker also accepts a request for a connection that has ended already. Requests that it
        refuses are ignored. Idempotent.
        """
        outcomes = self._client.try_all(
            [Request("broker", "closeConnectionWithID", [id_]) for id_ in sorted(connections)]
        )
        return sum(1 for outcome in outcomes if not isinstance(outcome, Refused))
