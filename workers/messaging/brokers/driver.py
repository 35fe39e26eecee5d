"""The broker driver: configure a running Artemis broker, disconnect clients, read its state.

Configuration reaches a running broker in two ways:

* ``converge`` makes the broker reload its own files (``render``), which list everything;
* ``apply`` creates and sets single addresses by requests, so its cost does not depend on the
  others. The broker stores the requested settings, so a restart with older files loses nothing.

Both compare the result with the desired state and return the differences. The reconcile steps use
this module as their port; metering and setup (``workers.broker_archive``) call it too. Source of
the operations: Artemis user manual, "Management".
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import structlog

from workers.messaging import management, patterns
from workers.messaging import probe as probing
from workers.messaging.brokers import (
    broker_xml,
    connections,
    desired,
    permissions,
    settings_check,
)
from workers.messaging.brokers import snapshot as snapshots
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.brokers.snapshot import MeteredAddress
from workers.messaging.brokers.tables import BrokerTables
from workers.messaging.management import Refused, Request
from workers.messaging.observed import InstanceSnapshot, ManagementTarget

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Converged:
    """Result of ``converge`` and ``apply``.

    * ``pending``: address -> why it is not as desired yet. The key ``desired.USERS_MATCH`` stands
      for the users.
    * ``created``: how many addresses and queues were created by requests.
    """

    pending: dict[str, str]
    created: int


def find_incarnation(target: ManagementTarget, *, timeout_seconds: float = 5) -> str:
    """Return the identity of the broker process's current incarnation.

    Raises:
        Unreachable: the broker does not answer in time; it may still be starting.
    """
    with management.connected(
        target, purpose="incarnation", timeout_seconds=timeout_seconds
    ) as client:
        return str(client.read("broker", "Name"))


def converge(
    target: ManagementTarget, broker: DesiredBroker, *, only: Collection[str] | None = None
) -> Converged:
    """Reload the broker's files, then create and set by requests what still differs.

    ``only``: after the reload, check and repair these addresses alone. None means all. Addresses
    that are not desired stay; ``list_unknown`` finds them. Idempotent.

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
        created = BrokerTables(client).create_missing(wanted)
        # What differs after a reload is set by requests: an earlier request may override the file,
        # or the platform has not delivered the file yet.
        different = settings_check.find_differences(client, broker, wanted)
        overridden = [address for address in wanted if address.address in different]
        settings_check.apply(client, broker, overridden)
        pending = settings_check.find_differences(client, broker, overridden)
        # Requests do not change logins: only the file does.
        if not settings_check.has_loaded_users(client, broker):
            pending[desired.USERS_MATCH] = "the broker has not loaded its users yet"
    return Converged(pending, created)


def apply(target: ManagementTarget, broker: DesiredBroker) -> Converged:
    """Create and set ``broker.addresses`` by requests; leave all other addresses alone.

    A topic may list only some of its subscriptions, because no queue is deleted. Users are needed
    for the permissions only: their logins come from the files. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to create or set something; a retry may succeed.
    """
    with management.connected(target, purpose="apply") as client:
        # Before the address exists, so that it never has other limits or permissions.
        settings_check.apply(client, broker, broker.addresses)
        created = BrokerTables(client).create_missing(broker.addresses)
        pending = settings_check.find_differences(client, broker, broker.addresses)
    return Converged(pending, created)


def withdraw(target: ManagementTarget, addresses: Collection[str]) -> int:
    """Remove all clients' permissions on ``addresses`` and close the connections that use them.

    Returns how many connections were closed. No link of a client can attach until ``apply``,
    ``converge`` or ``remove`` replaces the permissions. Idempotent.

    Filters have no permissions of their own. The broker plugin decides who may attach to one.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to change a permission.
    """
    with management.connected(target, purpose="withdraw") as client:
        settings_check.withdraw(client, _with_settings(addresses))
        client.call("broker", "clearAuthorizationCache")
        return BrokerTables(client).close(connections.find_on(client, addresses))


def disconnect_clients(target: ManagementTarget, broker: DesiredBroker) -> int:
    """Close each client connection that is not permitted any more; return how many were closed.

    It checks the user and the links of every open connection, so it needs no list of changes.
    ``connections.find_unauthorized`` has the rules. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="disconnect") as client:
        return BrokerTables(client).close(connections.find_unauthorized(client, broker))


def close_connections(
    target: ManagementTarget, *, boot_id: str | None, ids: Collection[str], user: str | None
) -> int:
    """Close the client connections in ``ids`` and those of ``user``; return how many were open.

    ``ids`` belong to the incarnation ``boot_id``: in another one they would be other connections,
    so none of them is closed. Internal connections are never closed. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="close") as client:
        if boot_id is not None and str(client.read("broker", "Name")) != boot_id:
            ids = ()
        return BrokerTables(client).close(connections.find_of(client, ids, user))


def remove(target: ManagementTarget, addresses: Collection[str]) -> None:
    """Delete addresses, and queues of these names, with all their messages and stored settings.

    Names that the broker does not have are ignored. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to delete one of them.
    """
    with management.connected(target, purpose="remove") as client:
        # Queues first: a subscription is a queue on the address of its topic.
        tables = BrokerTables(client)
        queues = tables.find("listQueues", addresses)
        client.ask([Request("broker", "destroyQueue", [name, True]) for name in sorted(queues)])
        present = tables.find("listAddresses", addresses)
        client.ask([Request("broker", "deleteAddress", [name, True]) for name in sorted(present)])
        settings_check.forget(client, _with_settings(addresses))


def _with_settings(addresses: Collection[str]) -> Collection[str]:
    """Leave out filters: as the match of a setting, a filter would stand for other addresses."""
    return [address for address in addresses if not patterns.is_filter(address)]


@dataclass(frozen=True)
class Unknown:
    """Addresses on a broker that are not desired: ``empty`` ones, and those ``holding`` messages.

    Both are sorted by name.
    """

    empty: Sequence[str] = ()
    holding: Sequence[str] = ()


def list_unknown(target: ManagementTarget, broker: DesiredBroker) -> Unknown:
    """Return the addresses on the broker that are not among ``broker.addresses``.

    Temporary and internal ones are left out, and filters to which a user may subscribe. The broker
    plugin deletes filters without a subscription.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="orphans") as client:
        rows = BrokerTables(client).rows("listAddresses")
    known = {address.address for address in broker.addresses}
    unknown = [
        row
        for row in rows
        if row["temporary"] == "false"
        and row["internal"] == "false"
        and not row["name"].startswith(("$", "activemq."))
        and row["name"] not in known
        and not _is_readable_filter(row["name"], broker)
    ]
    return Unknown(
        sorted(row["name"] for row in unknown if row["messageCount"] == "0"),
        sorted(row["name"] for row in unknown if row["messageCount"] != "0"),
    )


def _is_readable_filter(address: str, broker: DesiredBroker) -> bool:
    return patterns.is_filter(address) and any(
        permissions.may_subscribe(user, address) for user in broker.users
    )


def count_stored(target: ManagementTarget) -> int:
    """Return how many messages the broker stores, without those on internal addresses.

    Raises:
        Unreachable: the broker stopped answering; the count is then unknown, never 0.
    """
    with management.connected(target, purpose="stored") as client:
        rows = BrokerTables(client).rows("listAddresses")
    return sum(
        int(row["messageCount"]) for row in rows if not row["name"].startswith(("$", "activemq."))
    )


def list_unread(target: ManagementTarget) -> Collection[str]:
    """Return the names of all queues that have no consumer now, internal ones too.

    Raises:
        Unreachable: the broker stopped answering.
    """
    with management.connected(target, purpose="unread") as client:
        rows = BrokerTables(client).rows("listQueues")
    return {row["name"] for row in rows if row["consumerCount"] == "0"}


def probe(target: ManagementTarget, address: str) -> float:
    """Send a message through an internal address and read it back; return the seconds it took.

    ``messaging.probe.through_broker`` describes it, and the errors.
    """
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
