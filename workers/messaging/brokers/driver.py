"""The broker driver: configure a running Artemis broker, disconnect clients, read its state.

Configuration reaches the broker by its own files (``render``). This module makes the broker reload
them, creates what is missing, and reads everything back before it reports success. Called by the
reconcile steps and by metering. Operations: Artemis user manual, "Management".
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from workers.messaging import management
from workers.messaging import probe as probing
from workers.messaging.brokers import broker_xml, connections, settings_check
from workers.messaging.brokers import snapshot as snapshots
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress, DesiredBroker
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import InstanceSnapshot, ManagementTarget

logger = structlog.get_logger(__name__)

_MANY = 1_000_000  # page size of list operations: one page that holds everything


@dataclass(frozen=True)
class Converged:
    """Result of ``converge``; ``pending``: address -> why it is not as desired yet."""

    pending: dict[str, str]
    created: int


def find_incarnation(target: ManagementTarget) -> str:
    """Return the identity of the broker process's current incarnation.

    Raises:
        Unreachable: the broker does not answer; it may still be starting.
    """
    with management.connected(target, purpose="incarnation", timeout_seconds=5) as client:
        return str(client.read("broker", "Name"))


def converge(
    target: ManagementTarget, broker: DesiredBroker, *, only: Collection[str] | None = None
) -> Converged:
    """Reload the broker's files, create what is missing, and report what is not as desired yet.

    ``only`` limits the work to these addresses (the short path). None reads everything back.
    Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to load or create something; a retry may succeed.
    """
    wanted = [address for address in broker.addresses if only is None or address.address in only]
    with management.connected(target, purpose="converge") as client:
        client.call("broker", "reloadConfigurationFile")
        # The broker caches logins and permissions; the new files must apply at once.
        client.ask(
            [
                Request("broker", "clearAuthenticationCache"),
                Request("broker", "clearAuthorizationCache"),
            ]
        )
        created = _create_missing(client, wanted)
        pending = settings_check.find_differences(client, broker, wanted)
    return Converged(pending, created)


def disconnect_clients(target: ManagementTarget, broker: DesiredBroker) -> int:
    """Close each client connection that is not permitted any more; return how many were closed.

    Level-triggered: it checks the open links, whatever has changed since the last call.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="disconnect") as client:
        unauthorized = connections.find_unauthorized(client, broker)
        outcomes = client.try_all(
            [Request("broker", "closeConnectionWithID", [id_]) for id_ in sorted(unauthorized)]
        )
    return sum(1 for outcome in outcomes if not isinstance(outcome, Refused))


def remove(target: ManagementTarget, addresses: Collection[str]) -> None:
    """Delete addresses, and queues of these names, with all their messages. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to delete one of them.
    """
    with management.connected(target, purpose="remove") as client:
        # Queues first: a subscription is a queue on the address of its topic.
        queues = set(_names(client, "QueueNames")) & set(addresses)
        client.ask([Request("broker", "destroyQueue", [name, True]) for name in sorted(queues)])
        present = set(_names(client, "AddressNames")) & set(addresses)
        client.ask([Request("broker", "deleteAddress", [name, True]) for name in sorted(present)])


def list_orphans(target: ManagementTarget, broker: DesiredBroker) -> Sequence[str]:
    """Return empty addresses that are not desired (drift); internal ones are left out.

    An address that holds messages is never an orphan: messages are deleted only on request.
    """
    with management.connected(target, purpose="orphans") as client:
        answer = json.loads(client.call("broker", "listAddresses", "", 1, _MANY))
    known = {address.address for address in broker.addresses}
    return sorted(
        row["name"]
        for row in answer["data"]
        if row["temporary"] == "false"
        and row["internal"] == "false"
        and not row["name"].startswith(("$", "activemq."))
        and row["name"] not in known
        and row["messageCount"] == "0"
    )


def count_stored(target: ManagementTarget) -> int:
    """Return how many messages the broker stores, without those on internal addresses.

    Raises:
        Unreachable: the broker stopped answering; the count is then unknown, never 0.
    """
    with management.connected(target, purpose="stored") as client:
        answer = json.loads(client.call("broker", "listAddresses", "", 1, _MANY))
    return sum(
        int(row["messageCount"])
        for row in answer["data"]
        if not row["name"].startswith(("$", "activemq."))
    )


def list_unread(target: ManagementTarget) -> Collection[str]:
    """Return the names of queues that have no consumer now.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="unread") as client:
        answer = json.loads(client.call("broker", "listQueues", "", 1, _MANY))
    return {row["name"] for row in answer["data"] if row["consumerCount"] == "0"}


def probe(target: ManagementTarget, address: str) -> float:
    """Send a message through an internal address and read it back; see ``messaging.probe``."""
    return probing.through_broker(target, address)


def probe_listener(target: ManagementTarget, port: int) -> None:
    """Make the broker reopen its listener for clients if ``port`` refuses connections.

    When a listener's settings change, the broker recreates the listener. If the port is not free at
    that moment, the listener stays closed and no later reload opens it (seen with Artemis 2.56).

    The network may also refuse a connection on behalf of the broker. So if the broker reports
    success, this function trusts it and does not connect again.

    Raises:
        ProbeFailed: the broker cannot listen there; the text is the broker's.
        Unreachable: the broker does not answer.
    """
    if not probing.is_closed(target.host, port):
        return
    with management.connected(target, purpose="listener") as client:
        (outcome,) = client.try_all([Request(f"acceptor.{broker_xml.PUBLIC}", "reload")])
    if isinstance(outcome, Refused):
        raise probing.ProbeFailed(f"the broker does not listen for clients: {outcome}")
    logger.warning("a closed listener was reopened", host=target.host, port=port)


def snapshot(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Return one cumulative snapshot for metering; see ``brokers.snapshot`` for what counts."""
    return snapshots.take(target, addresses=addresses, internal_users=internal_users)


def _create_missing(client: ManagementClient, wanted: Sequence[DesiredAddress]) -> int:
    """Create by management requests what the broker has not read from its files yet."""
    addresses = set(_names(client, "AddressNames"))
    queues = set(_names(client, "QueueNames"))
    requests = [
        Request("broker", "createAddress", [address.address, _routing(address)])
        for address in wanted
        if address.address not in addresses
    ]
    requests += [
        _queue_request(address, name)
        for address in wanted
        for name in _queues(address)
        if name not in queues
    ]
    client.ask(requests)
    return len(requests)


def _queues(address: DesiredAddress) -> Sequence[str]:
    return (
        [address.address]
        if address.address_kind is BrokerAddressKind.QUEUE
        else list(address.subscriptions)
    )


def _queue_request(address: DesiredAddress, name: str) -> Request:
    queue = {
        "name": name,
        "address": address.address,
        "routing-type": _routing(address),
        "durable": True,
        "auto-create-address": False,
        "auto-delete": False,
    }
    # The second argument makes the broker ignore a queue that exists already.
    return Request("broker", "createQueue", [json.dumps(queue), True])


def _routing(address: DesiredAddress) -> str:
    return "ANYCAST" if address.address_kind is BrokerAddressKind.QUEUE else "MULTICAST"


def _names(client: ManagementClient, attribute: str) -> list[str]:
    answer: Any = client.read("broker", attribute)
    # ``ManagementClient`` unwraps a list with one element, so one name comes as a string.
    return [answer] if isinstance(answer, str) else list(answer or [])
