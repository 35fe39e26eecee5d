"""Delete addresses: disconnect their clients, take the last sample, then delete them.

This order bills everything that they carried. In a standard space earlier steps have removed the
permissions already. This step removes them at the broker of a brokered space, closes open links,
takes the last sample, and only then deletes the queue with the messages that it still stores.
"""

from collections.abc import Sequence

from controlplane.core.reasons import Reason
from tenants.models import Address, AddressType
from workers.reconcile import desired_brokers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    leaving = context.leaving_addresses
    if not leaving:
        return Done()
    _disconnect_clients(context, ports)
    unsampled = [address for address in leaving if not address.last_sampled]
    if unsampled:
        if not ports.metering.last_sample(
            context.space.id, [address.address for address in unsampled]
        ):
            return Wait(0.5, Reason.LAST_SAMPLE_PENDING)
        _mark_sampled(unsampled)
    _remove(context, ports, leaving)
    context.gone |= {address.id for address in leaving}
    return Done()


def _disconnect_clients(context: ReconcileContext, ports: Ports) -> None:
    """Close links to leaving addresses. In a standard space ``router addresses`` has done so."""
    leaving = {address.address for address in context.leaving_addresses}
    for broker in context.brokers if context.is_brokered else ():
        target = management_targets.broker(context, ports, broker.name)
        # Rights that an earlier request granted override the file, which no longer has them.
        ports.brokers.withdraw(target, leaving)
        if not context.partial:
            ports.brokers.disconnect_clients(target, desired_brokers.build(context, broker))


def _remove(context: ReconcileContext, ports: Ports, leaving: Sequence[Address]) -> None:
    # A subscription is a queue of its topic, so it goes before the topic.
    first = [address for address in leaving if address.type == AddressType.SUBSCRIPTION]
    then = [address for address in leaving if address.type != AddressType.SUBSCRIPTION]
    for broker in context.brokers:
        names = [
            address.address for address in (*first, *then) if desired_brokers.is_on(address, broker)
        ]
        if names:
            ports.brokers.remove(management_targets.broker(context, ports, broker.name), names)


def _mark_sampled(addresses: Sequence[Address]) -> None:
    Address.objects.filter(id__in=[address.id for address in addresses]).update(last_sampled=True)
    for address in addresses:
        address.last_sampled = True
