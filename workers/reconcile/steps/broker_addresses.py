"""Apply addresses, limits, users and permissions to the running brokers.

In a whole pass the step ``brokers`` has written the files. This step makes each broker reload them,
creates what is missing, reads everything back, and disconnects clients that have links without
permission. In a partial pass it applies the changed addresses alone. The step ``departures``
handles addresses that are being deleted.
"""

from controlplane.core.reasons import Reason
from tenants.models import Broker
from workers.messaging.brokers import desired
from workers.messaging.brokers.desired import DesiredBroker
from workers.messaging.management import Refused
from workers.messaging.observed import ManagementTarget
from workers.reconcile import desired_brokers, management_targets
from workers.reconcile.context import Problem, ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports

_IMPOSSIBLE = Problem(
    Reason.ADDRESS_NOT_POSSIBLE,
    "Brokers cannot hold an address of this name. Delete it and choose a name without control "
    "characters, `::` and `${` that does not begin with `$` or `activemq.`.",
    final=True,
)


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    for address in context.wanted_addresses:
        if not desired.is_possible(address.address):
            context.problems[address.id] = _IMPOSSIBLE
    pending: dict[str, str] = {}
    for broker in context.up_brokers:
        pending |= _converge(context, ports, broker)
    if pending:
        name, reason = min(pending.items())
        return Wait(0.3, Reason.SETTINGS_PENDING, f"{name}: {reason}")
    return Done()


def _converge(context: ReconcileContext, ports: Ports, broker: Broker) -> dict[str, str]:
    target = management_targets.broker(context, ports, broker.name)
    wanted = desired_brokers.build(context, broker)
    if context.partial:
        return ports.brokers.apply(target, wanted).pending if wanted.addresses else {}
    everything = context.full or context.holds_unknown or _has_changed_permissions(context)
    # A subscription is a queue of its topic, so the topic is what has changed on the broker.
    changed = {(address.topic or address).address for address in context.changed_addresses}
    try:
        only = None if everything else changed
        pending = ports.brokers.converge(target, wanted, only=only).pending
    except Refused as error:
        # Go on: clients must lose withdrawn permissions all the same.
        pending = {broker.name: str(error)}
    if everything:
        ports.brokers.disconnect_clients(target, wanted)
    if context.full:
        _remove_orphans(context, ports, target, wanted)
    return pending


def _remove_orphans(
    context: ReconcileContext, ports: Ports, target: ManagementTarget, wanted: DesiredBroker
) -> None:
    """Delete addresses that no row asks for; take all rights on those that hold messages.

    Messages are deleted only on request. After the database was restored to an earlier instant,
    such an address may still have rights that were stored at the broker; nobody meters it. Leaving
    addresses stay for now: ``departures`` deletes them after their last sample.
    """
    leaving = {address.address for address in context.leaving_addresses}
    unknown = ports.brokers.list_unknown(target, wanted)
    if orphans := set(unknown.empty) - leaving:
        ports.brokers.remove(target, orphans)
    if kept := set(unknown.holding) - leaving:
        ports.brokers.withdraw(target, kept)


def _has_changed_permissions(context: ReconcileContext) -> bool:
    """Return whether a user has changed, or the space (sending withdrawn or restored)."""
    return context.space.generation > context.space.observed_generation or any(
        user.generation > user.observed_generation for user in context.users
    )
