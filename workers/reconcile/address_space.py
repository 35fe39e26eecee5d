"""The ordered steps that reconcile one address space, or delete it. Each step is idempotent.

A whole pass (``ensure_brokered``, ``ensure_standard``):

    namespace -> certificates -> credentials -> brokers -> [routers] -> broker addresses
    -> [router addresses] -> departures -> [router departures] -> [retirements] -> endpoints
    -> [router probe] -> probe -> instances

A partial pass (``change_brokered``, ``change_standard``):

    broker addresses -> [router addresses] -> departures -> [router departures] -> [router probe]
    -> probe

A deletion (``delete``): clients are disconnected, then the last sample is taken, then the endpoint,
the instances and the namespace are deleted. Volumes that are to be kept stay in the namespace.

    router emptying -> emptying -> endpoints -> routers -> brokers -> namespace

Only ``standard`` spaces have the steps in brackets. A pass stops at the first step that is not
Done. If one of several brokers or routers is down, most steps leave out this instance, so that
changes still reach the others. The step "instances" at the end then waits for the instance.

Each step takes the findings of the earlier steps that it depends on. So mypy refuses to run a step
before them: its arguments do not exist yet, or have another type. The steps are called by
``PassRunner.take``, not in a lambda, because mypy does not check the order inside a lambda.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from workers.infra.base import EngineImages, Session
from workers.instances import Locator
from workers.reconcile import rolling
from workers.reconcile.desired_routers import DesiredRouters
from workers.reconcile.findings import Instances
from workers.reconcile.management import ManagedBrokers, ManagedRouters, Targets
from workers.reconcile.pass_runner import PassRunner, Stopped
from workers.reconcile.ports import Ports
from workers.reconcile.rolling import Restarter
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows
from workers.reconcile.steps import (
    broker_addresses,
    brokers,
    certificates,
    credentials,
    departures,
    drain,
    endpoints,
    namespace,
    probe,
    retirements,
    router_addresses,
    router_probe,
    routers,
)

_JUST_SILENT = timedelta(seconds=10)


@dataclass(frozen=True)
class PassPorts:
    """Holds the rows and ports of one pass; makes the drivers and builders that the steps need.

    ``session`` is open in the namespace of the space. ``ours`` is the engine release that this
    worker is configured for; None if ``rows`` have no release.
    """

    rows: SpaceRows
    ports: Ports
    session: Session
    ours: EngineImages | None

    @property
    def restarter(self) -> Restarter:
        return Restarter(self.rows, self.session, self.ports.metering, self.ours)

    def brokers(self, keys: SpaceKeys) -> ManagedBrokers:
        """Return the broker driver, with how to reach each broker of this space. Connects to none.

        ``keys`` hold the client certificate with which Waypost logs in at the brokers.
        """
        return ManagedBrokers(self.ports.brokers, self._targets(keys))

    def routers(self, keys: SpaceKeys) -> ManagedRouters:
        """Return the router driver, with how to reach each router of this space. Connects to none.

        ``keys`` hold the client certificate with which Waypost logs in at the routers.
        """
        return ManagedRouters(self.ports.routers, self._targets(keys))

    def desired_routers(self, keys: SpaceKeys) -> DesiredRouters:
        """Return the builder of the routers' desired state, with nothing down or refused yet."""
        return DesiredRouters(self.rows, keys, self.session, self.ports.routing)

    def _targets(self, keys: SpaceKeys) -> Targets:
        locator = Locator(self.ports.infra, self.ports.identities_dir)
        since, now = self.rows.space.silent_since, self.rows.now
        is_just_silent = since is not None and now - since < _JUST_SILENT
        return Targets(locator, self.session, keys, is_just_silent)


Pass = Callable[[PassRunner, PassPorts], None]


def run(runner: PassRunner, rows: SpaceRows, ports: Ports, ours: EngineImages | None) -> None:
    """Run the steps of a deletion, a partial or a whole pass; end after the first that is not Done.

    ``rows`` decide which of the three it is (``choose``). The result is in ``runner.report``.
    Errors that are not among ``PORT_ERRORS`` propagate.
    """
    # ``Stopped`` carries nothing: the report has the outcome of the step that ended the pass.
    with ports.infra.open(rows.namespace) as session, suppress(Stopped):
        choose(rows)(runner, PassPorts(rows, ports, session, ours))


def choose(rows: SpaceRows) -> Pass:
    """Return the function that runs the steps which ``rows`` call for.

    That is ``delete`` if the deletion of the space is requested. Otherwise it depends on the type
    of the space and on whether the pass is partial. The function raises ``Stopped`` after a step
    that is not Done.
    """
    if rows.space.deletion_requested_at is not None:
        return delete
    if rows.partial:
        return change_brokered if rows.is_brokered else change_standard
    return ensure_brokered if rows.is_brokered else ensure_standard


def ensure_brokered(runner: PassRunner, inside: PassPorts) -> None:
    """Run a whole pass over a brokered space: from the step "namespace" to the step "instances".

    Raises:
        Stopped: a step was not Done.
    """
    take, rows, session, ports = runner.take, inside.rows, inside.session, inside.ports
    opened = take("namespace", namespace.ensure, rows, session)
    # The space's certificates come before its instances, which do not start without them.
    certified = take("certificates", certificates.ensure, rows, session, opened)
    keys = take("credentials", credentials.ensure, rows, ports.routing, certified)
    managed = inside.brokers(keys)
    started = take("brokers", brokers.ensure, rows, session, managed, inside.restarter, keys)
    instances = started.found  # a brokered space has no other instances
    addresses = take("broker addresses", broker_addresses.ensure, rows, managed, keys, instances)
    take("departures", departures.ensure, rows, managed, ports.metering, keys, addresses)
    take("endpoints", endpoints.ensure, rows, session, certified, keys, instances)
    take("probe", probe.ensure, rows, session, managed, addresses)
    take("instances", rolling.settled, instances)


def ensure_standard(runner: PassRunner, inside: PassPorts) -> None:
    """Run a whole pass over a standard space: from the step "namespace" to the step "instances".

    Raises:
        Stopped: a step was not Done.
    """
    take, rows, session, ports = runner.take, inside.rows, inside.session, inside.ports
    opened = take("namespace", namespace.ensure, rows, session)
    certified = take("certificates", certificates.ensure, rows, session, opened)
    keys = take("credentials", credentials.ensure, rows, ports.routing, certified)
    at_brokers, at_routers = inside.brokers(keys), inside.routers(keys)
    started = take("brokers", brokers.ensure, rows, session, at_brokers, inside.restarter, keys)
    desired = inside.desired_routers(keys)
    instances = take(
        "routers", routers.ensure, rows, at_routers, inside.restarter, desired, started
    )
    queues = take("broker addresses", broker_addresses.ensure, rows, at_brokers, keys, instances)
    routed = take(
        "router addresses",
        router_addresses.ensure,
        at_routers,
        at_brokers,
        desired,
        instances,
        queues,
    )
    # After the addresses: clients lose their permissions before the last sample is taken.
    departed = take("departures", departures.ensure, rows, at_brokers, ports.metering, keys, routed)
    take("router departures", router_addresses.forget_departed, at_routers, routed, departed)
    take(
        "retirements",
        retirements.ensure,
        session,
        at_brokers,
        at_routers,
        ports.metering,
        routed,
    )
    take("endpoints", endpoints.ensure, rows, session, certified, keys, instances)
    # Last, because Ready means that a message has passed with everything above in place.
    take("router probe", router_probe.ensure, at_routers, routed)
    take("probe", probe.ensure, rows, session, at_brokers, queues)
    take("instances", rolling.settled, instances)


def change_brokered(runner: PassRunner, inside: PassPorts) -> None:
    """Apply changed addresses to the running brokers of a brokered space, then probe them.

    This is a partial pass: it writes no start-up files.

    Raises:
        Stopped: a step was not Done.
    """
    take, rows, session = runner.take, inside.rows, inside.session
    keys, instances = SpaceKeys.as_read(rows), Instances.as_known(rows)
    managed = inside.brokers(keys)
    addresses = take("broker addresses", broker_addresses.ensure, rows, managed, keys, instances)
    take("departures", departures.ensure, rows, managed, inside.ports.metering, keys, addresses)
    take("probe", probe.ensure, rows, session, managed, addresses)


def change_standard(runner: PassRunner, inside: PassPorts) -> None:
    """Apply changed addresses and users to the running brokers and routers of a standard space.

    This is a partial pass: it writes no start-up files. Probes come last.

    Raises:
        Stopped: a step was not Done.
    """
    take, rows, session, ports = runner.take, inside.rows, inside.session, inside.ports
    keys, instances = SpaceKeys.as_read(rows), Instances.as_known(rows)
    at_brokers, at_routers = inside.brokers(keys), inside.routers(keys)
    queues = take("broker addresses", broker_addresses.ensure, rows, at_brokers, keys, instances)
    routed = take(
        "router addresses",
        router_addresses.ensure,
        at_routers,
        at_brokers,
        inside.desired_routers(keys),
        instances,
        queues,
    )
    departed = take("departures", departures.ensure, rows, at_brokers, ports.metering, keys, routed)
    take("router departures", router_addresses.forget_departed, at_routers, routed, departed)
    take("router probe", router_probe.ensure, at_routers, routed)
    take("probe", probe.ensure, rows, session, at_brokers, queues)


def delete(runner: PassRunner, inside: PassPorts) -> None:
    """Disconnect all clients of a space, take its last sample, then delete what runs for the space.

    That is the endpoint, the instances and the namespace. The namespace stays if it holds volumes
    that are to be kept.

    Raises:
        Stopped: a step was not Done.
    """
    take, rows, session, ports = runner.take, inside.rows, inside.session, inside.ports
    keys = SpaceKeys.as_read(rows)
    # Routers first: in a standard space they hold all connections of clients.
    closed = take(
        "router emptying",
        routers.empty,
        rows,
        session,
        inside.routers(keys),
        inside.desired_routers(keys),
    )
    sampled = take(
        "emptying",
        drain.ensure,
        rows,
        session,
        inside.brokers(keys),
        ports.metering,
        keys,
        closed,
    )
    # What follows destroys counters, so each of these steps takes the proof of the last sample.
    take("endpoints", endpoints.remove, rows, session, sampled)
    take("routers", routers.remove, session, sampled)
    take("brokers", brokers.remove, rows, session, sampled)
    take("namespace", namespace.remove, rows, session, sampled)
