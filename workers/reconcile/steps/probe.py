"""Probe the brokers of a space, because Ready means that messages pass.

Each kind of address has a twin: an internal address of each broker. The probe sends a message
through the twin and reads it back. In a brokered space the step also checks that the broker's
public listener is open.
"""

from controlplane.core.instance_names import Kind, Listener
from controlplane.core.reasons import Reason
from workers.infra.base import Session
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredBroker
from workers.messaging.probe import ProbeFailed
from workers.reconcile.findings import BrokerAddresses, ProbedBrokers
from workers.reconcile.management import ManagedBrokers
from workers.reconcile.outcome import Done, StepResult, Wait
from workers.reconcile.space_rows import SpaceRows


def ensure(
    rows: SpaceRows, session: Session, brokers: ManagedBrokers, addresses: BrokerAddresses
) -> StepResult[ProbedBrokers]:
    """At each broker that is up, probe the kinds of its changed addresses.

    A full pass, and a whole pass over a space that was not ready or did not answer the sampler,
    probe every kind in use. A space without addresses gets the probe of a queue. After a failed
    probe the outcome is Wait. ``addresses``: findings of the step that has applied all addresses to
    these brokers.
    """
    for name, applied in addresses.applied.items():
        try:
            _probe(rows, session, brokers, name, applied)
        except ProbeFailed as error:
            return StepResult(Wait(1, Reason.PROBE_FAILED, str(error)), ProbedBrokers(False))
    return StepResult(Done(), ProbedBrokers(True))


def _probe(
    rows: SpaceRows, session: Session, brokers: ManagedBrokers, name: str, applied: DesiredBroker
) -> None:
    changed = {address.address for address in rows.changed_addresses}
    kinds = {
        address.address_kind
        for address in applied.addresses
        if rows.probes_all or address.address in changed
    }
    if not rows.addresses:
        # A space without addresses is probed too: it must work before its first address.
        kinds = {BrokerAddressKind.QUEUE}
    target = brokers.targets.of(name)
    for kind in sorted(kinds):
        brokers.driver.probe(target, desired.probe_address(kind))
    is_new = rows.space.generation > rows.space.observed_generation
    # Clients of a standard space do not connect here, so its brokers have no public listener.
    if rows.is_brokered and (rows.probes_all or is_new):
        layout = session.layout_of(Kind.BROKER, name)
        brokers.driver.probe_listener(target, layout.ports[Listener.AMQPS])
