"""The broker driver: make a running Artemis hold what is desired, cut off trespassers, read it.

Configuration arrives by the broker's own files (``render``), which it reloads; this module asks
for the reload, creates what is missing, and reads everything back before it believes it. Called by
the reconcile steps and by metering. Operations: Artemis user manual, "Management".
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
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker, Holds
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.management import ManagementClient, Refused, Request
from workers.messaging.observed import InstanceSnapshot, ManagementTarget

logger = structlog.get_logger(__name__)

_MANY = 1_000_000  # one page that holds everything


@dataclass(frozen=True)
class Converged:
    """What ``converge`` found: addresses that are not as desired yet, with the reason."""

    pending: dict[str, str]
    created: int


def find_life(target: ManagementTarget) -> str:
    """Return the identity of the broker process's present life.

    Raises:
        Unreachable: it does not answer; it may still be starting.
    """
    with management.connected(target, purpose="life", timeout_seconds=5) as client:
        return str(client.read("broker", "Name"))


def converge(
    target: ManagementTarget, broker: DesiredBroker, *, only: Collection[str] | None = None
) -> Converged:
    """Reload the broker's files, create what is missing, and say what is not as desired yet.

    ``only`` limits the work to these addresses (the short path); None reads everything back.
    Idempotent.

    Raises:
        Unreachable: the broker went away meanwhile.
        Refused: it would not load or make something; asked again, it may.
    """
    wanted = [each for each in broker.addresses if only is None or each.address in only]
    with management.connected(target, purpose="converge") as client:
        client.call("broker", "reloadConfigurationFile")
        client.ask(
            [
                Request("broker", "clearAuthenticationCache"),
                Request("broker", "clearAuthorizationCache"),
            ]
        )
        created = _create_missing(client, wanted)
        pending = settings_check.find_differences(client, broker, wanted)
    return Converged(pending, created)


def cut_off(target: ManagementTarget, broker: DesiredBroker) -> int:
    """Close each client connection that holds what its user may not have; return how many.

    Level-triggered: it looks at the open links, not at what has changed.

    Raises:
        Unreachable: the broker went away meanwhile.
    """
    with management.connected(target, purpose="cut") as client:
        guilty = connections.find_trespassers(client, broker)
        outcomes = client.try_all(
            [Request("broker", "closeConnectionWithID", [each]) for each in sorted(guilty)]
        )
    return sum(1 for outcome in outcomes if not isinstance(outcome, Refused))


def remove(target: ManagementTarget, addresses: Collection[str]) -> None:
    """Delete addresses, and queues of these names, with all their messages. Idempotent.

    Raises:
        Unreachable: the broker went away meanwhile.
        Refused: it would not delete one of them.
    """
    with management.connected(target, purpose="remove") as client:
        queues = set(_names(client, "QueueNames")) & set(addresses)
        client.ask([Request("broker", "destroyQueue", [name, True]) for name in sorted(queues)])
        present = set(_names(client, "AddressNames")) & set(addresses)
        client.ask([Request("broker", "deleteAddress", [name, True]) for name in sorted(present)])


def list_strays(target: ManagementTarget, broker: DesiredBroker) -> Sequence[str]:
    """Return empty addresses that nobody desires (drift); internal ones are left out.

    One that holds messages is never a stray: only a person's word deletes messages.
    """
    with management.connected(target, purpose="strays") as client:
        answer = json.loads(client.call("broker", "listAddresses", "", 1, _MANY))
    known = {each.address for each in broker.addresses}
    return sorted(
        each["name"]
        for each in answer["data"]
        if each["temporary"] == "false"
        and each["internal"] == "false"
        and not each["name"].startswith(("$", "activemq."))
        and each["name"] not in known
        and each["messageCount"] == "0"
    )


def count_stored(target: ManagementTarget) -> int:
    """Return how many messages the broker stores, whoever they are for; internal ones left out.

    Raises:
        Unreachable: the broker went away meanwhile. It is never read as empty.
    """
    with management.connected(target, purpose="stored") as client:
        answer = json.loads(client.call("broker", "listAddresses", "", 1, _MANY))
    return sum(
        int(each["messageCount"])
        for each in answer["data"]
        if not each["name"].startswith(("$", "activemq."))
    )


def list_unread(target: ManagementTarget) -> Collection[str]:
    """Return the names of queues that have no consumer now.

    Raises:
        Unreachable: the broker went away meanwhile.
    """
    with management.connected(target, purpose="unread") as client:
        answer = json.loads(client.call("broker", "listQueues", "", 1, _MANY))
    return {row["name"] for row in answer["data"] if row["consumerCount"] == "0"}


def probe(target: ManagementTarget, address: str) -> float:
    """Send a message through an internal address and read it back; see ``messaging.probe``."""
    return probing.through_broker(target, address)


def probe_listener(target: ManagementTarget, port: int) -> None:
    """Have a listener for clients that is closed at ``port`` opened anew.

    Where a listener's settings change, the broker makes it anew; if its port is not free at once
    it stays closed, and no later reload opens it (seen with Artemis 2.56). A network may refuse a
    connection in the broker's name: where the broker says that it listens now, we believe it.

    Raises:
        ProbeFailed: the broker cannot listen there; the text is its own.
        Unreachable: the broker does not answer.
    """
    if not probing.is_closed(target.host, port):
        return
    with management.connected(target, purpose="listener") as client:
        (outcome,) = client.try_all([Request(f"acceptor.{broker_xml.PUBLIC}", "reload")])
    if isinstance(outcome, Refused):
        raise probing.ProbeFailed(f"the broker does not listen for clients: {outcome}")
    logger.warning("a closed listener was opened anew", host=target.host, port=port)


def snapshot(
    target: ManagementTarget,
    *,
    addresses: Sequence[MeteredAddress],
    internal_users: Collection[str] = (),
) -> InstanceSnapshot:
    """Return one cumulative snapshot for metering; see ``brokers.snapshot`` for what counts."""
    return snapshots.take(target, addresses=addresses, internal_users=internal_users)


def _create_missing(client: ManagementClient, wanted: Sequence[DesiredAddress]) -> int:
    """Create by management what the files have not brought yet (they may arrive later)."""
    addresses = set(_names(client, "AddressNames"))
    queues = set(_names(client, "QueueNames"))
    requests = [
        Request("broker", "createAddress", [each.address, _routing(each)])
        for each in wanted
        if each.address not in addresses
    ]
    requests += [
        _queue_request(each, name)
        for each in wanted
        for name in _queues(each)
        if name not in queues
    ]
    client.ask(requests)
    return len(requests)


def _queues(address: DesiredAddress) -> Sequence[str]:
    return [address.address] if address.holds is Holds.QUEUE else list(address.subscriptions)


def _queue_request(address: DesiredAddress, name: str) -> Request:
    queue = {
        "name": name,
        "address": address.address,
        "routing-type": _routing(address),
        "durable": True,
        "auto-create-address": False,
        "auto-delete": False,
    }
    return Request("broker", "createQueue", [json.dumps(queue), True])


def _routing(address: DesiredAddress) -> str:
    return "ANYCAST" if address.holds is Holds.QUEUE else "MULTICAST"


def _names(client: ManagementClient, attribute: str) -> list[str]:
    answer: Any = client.read("broker", attribute)
    # One name comes back unwrapped by the client's decoding of one-element lists.
    return [answer] if isinstance(answer, str) else list(answer or [])
