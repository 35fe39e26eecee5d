"""Delete addresses: disconnect their clients, take the last sample, then delete them at brokers.

The last sample comes after the clients have gone, so everything that the addresses carried is
billed. Clients of a standard space are at its routers: the step "router addresses" has disconnected
them. In a brokered space this step takes the permissions of clients and disconnects them. The
messages that a queue still stores are deleted with the queue.
"""

from collections.abc import Sequence

from controlplane.core.reasons import Reason
from tenants.models import Address, AddressType
from workers.reconcile import desired_brokers
from workers.reconcile.findings import BrokerAddresses, Departures, RouterAddresses
from workers.reconcile.management import ManagedBrokers
from workers.reconcile.outcome import Done, StepResult, Wait
from workers.reconcile.ports import Metering
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows


def ensure(
    rows: SpaceRows,
    brokers: ManagedBrokers,
    metering: Metering,
    keys: SpaceKeys,
    applied: BrokerAddresses | RouterAddresses,
) -> StepResult[Departures]:
    """Take the last sample of the leaving addresses, then delete them at the brokers.

    The outcome is Wait until the sample is recorded.

    ``applied``: findings of the step "router addresses", or of "broker addresses" in a brokered
    space. The findings of this step are the ids of the deleted addresses; their rows stay.
    """
    leaving = rows.leaving_addresses
    if not leaving:
        return StepResult(Done(), Departures())
    # "router addresses" has closed the links, because clients of a standard space connect there.
    if isinstance(applied, BrokerAddresses):
        _disconnect_clients(rows, brokers, keys)
    unsampled = [address for address in leaving if not address.last_sampled]
    if unsampled:
        names = [address.address for address in unsampled]
        if not metering.last_sample(rows.space.id, names):
            return StepResult(Wait(0.5, Reason.LAST_SAMPLE_PENDING), Departures())
        # Before the deletion below: what a broker has deleted cannot be sampled again.
        ids = [address.id for address in unsampled]
        Address.objects.filter(id__in=ids).update(last_sampled=True)
    _remove(rows, brokers, leaving)
    return StepResult(Done(), Departures(frozenset(address.id for address in leaving)))


def _disconnect_clients(rows: SpaceRows, brokers: ManagedBrokers, keys: SpaceKeys) -> None:
    """Take all permissions on leaving addresses, and close the connections that use them.

    A whole pass also closes any other connection that is not permitted any more. A broker that is
    down is not left out: it raises ``Unreachable``, so the deletion waits for the broker.
    """
    names = {address.address for address in rows.leaving_addresses}
    for broker in rows.brokers:
        target = brokers.targets.of(broker.name)
        # The file grants nothing on them any more, but rights from earlier requests override it.
        brokers.driver.withdraw(target, names)
        if not rows.partial:
            wanted = desired_brokers.build(rows, keys, broker)
            brokers.driver.disconnect_clients(target, wanted)


def _remove(rows: SpaceRows, brokers: ManagedBrokers, leaving: Sequence[Address]) -> None:
    # A subscription is a queue of its topic, so it goes before the topic.
    first = [address for address in leaving if address.type == AddressType.SUBSCRIPTION]
    then = [address for address in leaving if address.type != AddressType.SUBSCRIPTION]
    for broker in rows.brokers:
        names = [
            address.address for address in (*first, *then) if desired_brokers.is_on(address, broker)
        ]
        if names:
            brokers.driver.remove(brokers.targets.of(broker.name), names)
