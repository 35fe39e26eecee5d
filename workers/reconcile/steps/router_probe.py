"""Probe the routers of a standard space, because Ready means that messages pass.

Each kind of address has a twin: an internal address of each router, whose messages take the same
path. The probe sends a message to the twin and reads it back.
"""

from controlplane.core.reasons import Reason
from workers.messaging.probe import ProbeFailed
from workers.messaging.routers.desired import RouterAddressKind, probe_address
from workers.reconcile.findings import RouterAddresses
from workers.reconcile.management import ManagedRouters
from workers.reconcile.outcome import Done, StepResult, Wait

# By kind of address: the kind of its twin. The path is direct, through a broker, or link-routed.
_TWINS = {
    RouterAddressKind.ANYCAST: RouterAddressKind.ANYCAST,
    RouterAddressKind.MULTICAST: RouterAddressKind.ANYCAST,
    RouterAddressKind.QUEUE: RouterAddressKind.QUEUE,
    RouterAddressKind.SUBSCRIPTION: RouterAddressKind.QUEUE,
    RouterAddressKind.DEADLETTER: RouterAddressKind.QUEUE,
    RouterAddressKind.TOPIC: RouterAddressKind.TOPIC,
}


def ensure(routers: ManagedRouters, addresses: RouterAddresses) -> StepResult[None]:
    """At each router that is up, probe the kinds of the changed addresses.

    A full pass, and a whole pass over a space that was not ready or did not answer the sampler,
    probe every kind in use. A space without addresses gets the probe of an anycast address. After a
    failed probe the outcome is Wait. ``addresses``: findings of the step that has applied all
    addresses to these routers.
    """
    rows = addresses.desired.rows
    probed = rows.wanted_addresses if rows.probes_all else rows.changed_addresses
    kinds = {
        _TWINS[RouterAddressKind.of_type(row.type)]
        for row in probed
        if row.id not in addresses.problems
    }
    if not rows.addresses:
        # A space without addresses is probed too: it must work before its first address.
        kinds = {RouterAddressKind.ANYCAST}
    for name in addresses.desired.list_up():
        target = routers.targets.of(name)
        for address_kind in sorted(kinds):
            try:
                routers.driver.probe(target, probe_address(address_kind))
            except ProbeFailed as error:
                return StepResult(Wait(1, Reason.PROBE_FAILED, str(error)), None)
    return StepResult(Done(), None)
