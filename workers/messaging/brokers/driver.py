"""The broker driver: configure a running Artemis broker, disconnect clients, read its state.

Configuration reaches a running broker in two ways:

* ``converge`` makes the broker reload its own files (``render``), which list all addresses and
  users;
* ``apply`` creates and sets single addresses by requests, so its cost does not depend on the other
  addresses. The broker stores the requested settings, so a restart with older files loses nothing.

Both compare the result with the desired state and return the differences. The reconcile steps use
this module as their port ``Brokers``. Metering and setup (``workers.broker_archive``) call it too.
Source of the operations: Artemis user manual, "Management".
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
    """The result of ``converge`` and ``apply``.

    * ``pending``: address -> why it is not as desired yet; empty if all is done. The key
      ``desired.USERS_MATCH`` stands for the users, which only ``converge`` checks.
    * ``created``: how many addresses and queues were created by requests.
    """

    pending: dict[str, str]
    created: int


def find_incarnation(target: ManagementTarget, *, timeout_seconds: float = 5) -> str:
    """Return the identity of the broker's current incarnation; it changes with each start.

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
    """Make the broker reload its files, then create and set by requests what still differs.

    The caller has written the files of ``broker`` (``render.files``) before. ``only``: after the
    reload, check and repair these addresses alone. None means all. Addresses that are not desired
    stay; ``list_unknown`` finds them. Idempotent.

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

    A topic in ``broker.addresses`` may list only some of its subscriptions, because no queue is
    deleted. ``broker.users`` decides the permissions on the addresses. Logins of users come from
    the broker's files, so this function does not change them. Idempotent.

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
    """Remove all permissions of users and routers on ``addresses``; disconnect clients from them.

    Closes each client connection that has a link on one of them, and returns how many were closed.
    Connections of routers stay open. No client and no router can attach a link there until
    ``apply``, ``converge`` or ``remove`` replaces the permissions. Idempotent.

    Filters have no permissions of their own. The broker plugin decides who may attach to one.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to change a permission.
    """
    with management.connected(target, purpose="withdraw") as client:
        settings_check.withdraw(client, _with_settings(addresses))
        client.call("broker", "clearAuthorizationCache")
        # Clients reconnect at once, so they are disconnected only after the broker has dropped the
        # permissions that it had cached.
        return BrokerTables(client).close(connections.find_on(client, addresses))


def disconnect_clients(target: ManagementTarget, broker: DesiredBroker) -> int:
    """Close each client connection that is not permitted any more; return how many were closed.

    It compares the user and the links of every open connection with ``broker``, so it needs no list
    of changes. A connection is closed if its user does not exist or was created after it, or if it
    has a link that its user may not have (``connections.find_unauthorized``). Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    with management.connected(target, purpose="disconnect") as client:
        return BrokerTables(client).close(connections.find_unauthorized(client, broker))


def close_connections(
    target: ManagementTarget, *, boot_id: str | None, ids: Collection[str], user: str | None
) -> int:
    """Close the client connections in ``ids`` and those of ``user``; return how many were open.

    ``boot_id`` is the incarnation from which ``ids`` come. In another incarnation the same ids are
    other connections, so ``ids`` is then ignored; None means that it is not compared. ``user``:
    None closes no connection by user. Internal connections are never closed. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    with management.connected(target, purpose="close") as client:
        if boot_id is not None and str(client.read("broker", "Name")) != boot_id:
            ids = ()
        return BrokerTables(client).close(connections.find_of(client, ids, user))


def remove(target: ManagementTarget, addresses: Collection[str]) -> None:
    """Delete addresses, and queues of the same names, with their messages and stored settings.

    A subscription is such a queue on the address of its topic. Consumers of a deleted queue are
    closed. Names that the broker does not have are ignored. Idempotent.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to delete one of them.
    """
    with management.connected(target, purpose="remove") as client:
        # Queues first: a subscription is a queue on the address of its topic.
        tables = BrokerTables(client)
        # The arguments True below also delete what has consumers or queues. Without them the broker
        # refuses such a deletion.
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
    """The names of addresses on a broker that are not desired; the result of ``list_unknown``.

    ``empty`` ones hold no message, ``holding`` ones do. Both are sorted.
    """

    empty: Sequence[str] = ()
    holding: Sequence[str] = ()


def list_unknown(target: ManagementTarget, broker: DesiredBroker) -> Unknown:
    """Return the addresses on the broker that are not among ``broker.addresses``.

    Temporary and internal addresses are left out, and filters to which a user may subscribe: the
    broker plugin deletes filters without a subscription. Subscriptions are queues, not addresses.

    Raises:
        Unreachable: the broker stopped answering.
        Refused: the broker refused to list something; a retry may succeed.
    """
    with management.connected(target, purpose="orphans") as client:
        rows = BrokerTables(client).rows("listAddresses")
    known = {address.address for address in broker.addresses}
    unknown = [
        row
        for row in rows
        # The broker writes every value of its tables as text.
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
    """Return how many messages the broker stores on all addresses that are not internal.

    Raises:
        Unreachable: the broker stopped answering; the count is then unknown, never 0.
        Refused: the broker refused to list something; a retry may succeed.
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
        Refused: the broker refused to list something; a retry may succeed.
    """
    with management.connected(target, purpose="unread") as client:
        rows = BrokerTables(client).rows("listQueues")
    return {row["name"] for row in rows if row["consumerCount"] == "0"}


def probe(target: ManagementTarget, address: str) -> float:
    """Send a message through the internal ``address`` and read it back; return the seconds it took.

    ``address`` is one of ``desired.probe_twins``.

    Raises:
        ProbeFailed: the broker refused a link or the message, or the message did not come back.
        Unreachable: no connection to the broker can be opened.
    """
    return probing.through_broker(target, address)


def probe_listener(target: ManagementTarget, port: int) -> None:
    """Make the broker reopen its listener for clients if ``port`` refuses connections.

    When a listener's settings change, the broker recreates the listener. If the port is not free at
    that moment, the listener stays closed and no later reload opens it (seen with Artemis 2.56).

    A refusal may also come from the network and not from the broker. So if the broker reports
    success, this function trusts the report and does not connect again.

    Raises:
        ProbeFailed: the broker cannot listen there; the text is the broker's.
        Unreachable: the broker does not answer.
    """
    # A plain connection first: the listener is almost always open, so mostly no request is needed.
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
    """Read the broker's counters, gauges and open client connections for metering, once.

    The result covers those of ``addresses`` that are on the broker. Open connections of
    ``internal_users`` are left out of its list. ``brokers.snapshot`` says what counts.

    Raises:
        Unreachable: the broker does not answer, or management moves messages all the time.
        Refused: the broker refused to list something; a retry may succeed.
    """
    return snapshots.take(target, addresses=addresses, internal_users=internal_users)
