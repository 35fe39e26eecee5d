"""Probe the brokers, because Ready means that messages pass.

Each broker has an internal twin address of each kind; the probe sends a message through it. In a
brokered space the probe also checks that the public listener of each broker is open.
"""

from collections.abc import Collection

from controlplane.core.instance_names import Kind, Listener
from controlplane.core.reasons import Reason
from tenants.models import Broker
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import BrokerAddressKind
from workers.messaging.probe import ProbeFailed
from workers.reconcile import desired_brokers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    """Probe the kinds of changed addresses; a full pass probes every kind in use."""
    for broker in context.up_brokers:
        try:
            _probe(context, ports, broker)
        except ProbeFailed as error:
            return Wait(1, Reason.PROBE_FAILED, str(error))
    context.probed = True
    return Done()


def _probe(context: ReconcileContext, ports: Ports, broker: Broker) -> None:
    target = management_targets.broker(context, ports, broker.name)
    for kind in sorted(_kinds(context, broker)):
        ports.brokers.probe(target, desired.probe_address(kind))
    is_new = context.space.generation > context.space.observed_generation
    if context.is_brokered and (context.full or is_new):
        layout = ports.session.layout_of(Kind.BROKER, broker.name)
        ports.brokers.probe_listener(target, layout.ports[Listener.AMQPS])


def _kinds(context: ReconcileContext, broker: Broker) -> Collection[BrokerAddressKind]:
    if not context.addresses:
        # A space without addresses is probed too: it must work before its first address.
        return {BrokerAddressKind.QUEUE}
    changed = {address.address for address in context.changed_addresses}
    return {
        address.address_kind
        for address in desired_brokers.list_addresses(context, broker)
        if context.full or address.address in changed
    }
