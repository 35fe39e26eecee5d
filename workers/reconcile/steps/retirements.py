"""Routers and brokers that nobody needs any more: emptied, sampled, deleted with what they had.

A router that a smaller plan has no place for carries nothing after its clients have gone to the
others. A broker is not needed when nothing is placed on it; its row goes first, and the broker (and
its volume) in a later full pass, when no router dials it. One that stores a message is never
deleted, and one that does not answer is never taken for empty.
"""

import structlog
from django.db import transaction

from tenants.actions import address_spaces
from tenants.models import Broker, SpaceSecret
from workers.infra.base import Kind
from workers.messaging.management import Unreachable
from workers.reconcile import desired_routers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.steps import routers
from workers.reconcile.work import Work

logger = structlog.get_logger(__name__)

_SERVER = "server/"


def ensure(work: Work, doors: Doors) -> Outcome:
    """Retire what is left over; brokers in full passes only, so that they do not come and go."""
    left = _list_left(work)
    for name in left[Kind.ROUTER]:
        if not _retire_router(work, doors, name):
            return Wait(0.5, "LastSamplePending")
    if work.full:
        for name in left[Kind.BROKER]:
            _retire_broker(work, doors, name)
        for broker in work.up_brokers:
            _release(work, doors, broker)
    return Done()


def _list_left(work: Work) -> dict[Kind, list[str]]:
    """Return the instances that once were wanted: each was given a certificate."""
    wanted = {*desired_routers.list_names(work), *(each.name for each in work.brokers)}
    known = {name.removeprefix(_SERVER) for name in work.secrets if name.startswith(_SERVER)}
    left = sorted(known - wanted)
    return {kind: [each for each in left if each.startswith(kind)] for kind in Kind}


def _retire_router(work: Work, doors: Doors, name: str) -> bool:
    if name in {each.name for each in doors.infra.list_instances(work.namespace)}:
        try:
            routers.close(work, doors, name)
        except Unreachable:
            logger.warning("router_left_unsampled", space_id=work.space.id, router=name)
        if not doors.metering.before_restart(work.space.id, name):
            return False
        doors.infra.delete_instance(work.namespace, name)
    _forget(work, name)
    return True


def _retire_broker(work: Work, doors: Doors, name: str) -> None:
    if name in {each.name for each in doors.infra.list_instances(work.namespace)}:
        if not _is_empty(work, doors, name):
            logger.warning(
                "broker_kept_until_known_to_be_empty", space_id=work.space.id, broker=name
            )
            return
        doors.infra.delete_instance(work.namespace, name)
    _forget(work, name)


def _release(work: Work, doors: Doors, broker: Broker) -> None:
    """Want the broker no more, if it is empty and nothing is placed on it, not even just now."""
    is_used = any(
        each.broker_id == broker.id for row in work.addresses for each in row.placements.all()
    )
    if is_used or not _is_empty(work, doors, broker.name):
        return
    with transaction.atomic():
        address_spaces.lock(work.space)
        if not broker.placements.exists():
            broker.delete()


def _is_empty(work: Work, doors: Doors, name: str) -> bool:
    try:
        return doors.brokers.count_stored(reaching.broker(work, doors, name)) == 0
    except Unreachable:
        return False


def _forget(work: Work, name: str) -> None:
    SpaceSecret.objects.filter(space=work.space, name=f"{_SERVER}{name}").delete()
    del work.secrets[f"{_SERVER}{name}"]
