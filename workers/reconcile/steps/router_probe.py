"""Probe the routers, because Ready means that messages pass.

The probe sends a message through each router to an internal twin address.
"""

from controlplane.core.reasons import Reason
from workers.messaging.probe import ProbeFailed
from workers.messaging.routers.desired import RouterAddressKind, probe_address
from workers.reconcile import desired_routers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports

# The kind of twin whose messages take the same path: direct, through a broker, or link-routed.
_TWINS = {
    RouterAddressKind.ANYCAST: RouterAddressKind.ANYCAST,
    RouterAddressKind.MULTICAST: RouterAddressKind.ANYCAST,
    RouterAddressKind.QUEUE: RouterAddressKind.QUEUE,
    RouterAddressKind.SUBSCRIPTION: RouterAddressKind.QUEUE,
    RouterAddressKind.DEADLETTER: RouterAddressKind.QUEUE,
    RouterAddressKind.TOPIC: RouterAddressKind.TOPIC,
}


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    """Probe the kinds of changed addresses; a full pass probes every kind in use."""
    rows = context.wanted_addresses if context.full else context.changed_addresses
    kinds = {
        _TWINS[RouterAddressKind.of_type(row.type)]
        for row in rows
        if row.id not in context.problems
    }
    if not context.addresses:
        # A space without addresses is probed too: it must work before its first address.
        kinds = {RouterAddressKind.ANYCAST}
    for name in desired_routers.list_up(context):
        target = management_targets.router(context, ports, name)
        for address_kind in sorted(kinds):
            try:
                ports.routers.probe(target, probe_address(address_kind))
            except ProbeFailed as error:
                return Wait(1, Reason.PROBE_FAILED, str(error))
    return Done()
