"""Delete the routers and brokers that a space does not need any more.

A router is surplus if the plan has fewer routers. It is closed, sampled a last time and deleted;
its clients reconnect to the others.

A broker is surplus if no address is placed on it. Its row is deleted first; the broker and its
volume are deleted in a later full pass, when no router connects to it any more. A broker that
stores a message is never deleted, and one that does not answer never counts as empty.
"""

import structlog
from django.db import transaction

from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces
from tenants.models import Broker, SpaceSecret
from workers.instances import SecretName
from workers.messaging.management import Unreachable
from workers.reconcile import desired_routers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports
from workers.reconcile.steps import routers

logger = structlog.get_logger(__name__)


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    """Delete surplus routers; in full passes brokers too, so that they are not recreated often."""
    surplus = _list_surplus(context)
    for name in surplus[Kind.ROUTER]:
        if not _retire_router(context, ports, name):
            return Wait(0.5, Reason.LAST_SAMPLE_PENDING)
    if context.full:
        for name in surplus[Kind.BROKER]:
            _retire_broker(context, ports, name)
        for broker in context.up_brokers:
            _release(context, ports, broker)
    return Done()


def _list_surplus(context: ReconcileContext) -> dict[Kind, list[str]]:
    """Return the instances that are not wanted any more.

    They are found by their server certificates, because every instance gets one before it starts.
    """
    wanted = {*desired_routers.list_names(context), *(broker.name for broker in context.brokers)}
    known = (SecretName.instance_of(name) for name in context.secrets)
    surplus = sorted(one for one in known if one is not None and one.name not in wanted)
    return {kind: [one.name for one in surplus if one.kind is kind] for kind in Kind}


def _retire_router(context: ReconcileContext, ports: Ports, name: str) -> bool:
    if name in {instance.name for instance in ports.session.list_instances()}:
        try:
            routers.close(context, ports, name)
        except Unreachable:
            # It cannot be sampled, and it serves no client: delete it all the same.
            logger.warning("router_left_unsampled", space_id=context.space.id, router=name)
        if not ports.metering.before_restart(context.space.id, name):
            return False
        ports.session.delete_instance(name)
    _forget(context, name)  # last: without its certificate the instance is not found again
    return True


def _retire_broker(context: ReconcileContext, ports: Ports, name: str) -> None:
    if name in {instance.name for instance in ports.session.list_instances()}:
        if not _is_empty(context, ports, name):
            logger.warning(
                "broker_kept_until_known_to_be_empty", space_id=context.space.id, broker=name
            )
            return
        ports.session.delete_instance(name)
    _forget(context, name)


def _release(context: ReconcileContext, ports: Ports, broker: Broker) -> None:
    """Delete the row of a broker that is empty and has no placements."""
    is_used = any(
        placement.broker_id == broker.id
        for row in context.addresses
        for placement in row.placements.all()
    )
    if is_used or not _is_empty(context, ports, broker.name):
        return
    # Under the lock, because an address may have been placed on it since this pass began.
    with transaction.atomic():
        address_spaces.lock(context.space)
        if not broker.placements.exists():
            broker.delete()


def _is_empty(context: ReconcileContext, ports: Ports, name: str) -> bool:
    try:
        return ports.brokers.count_stored(management_targets.broker(context, ports, name)) == 0
    except Unreachable:
        return False


def _forget(context: ReconcileContext, name: str) -> None:
    SpaceSecret.objects.filter(space=context.space, name=SecretName.server(name)).delete()
    del context.secrets[SecretName.server(name)]
