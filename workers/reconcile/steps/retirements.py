"""Delete the routers and brokers that a standard space does not need any more.

A router is surplus if the plan has fewer routers. It is closed, sampled a last time and deleted;
its clients reconnect to the other routers.

A broker is surplus if it is empty and no address is placed on it. The row of the broker is deleted
first. The broker and its volume are deleted in a later full pass, when no router connects to it any
more. A broker that stores a message is never deleted, and one that does not answer never counts as
empty.
"""

from dataclasses import dataclass

import structlog
from django.db import transaction

from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from tenants.actions import address_spaces
from tenants.models import Broker, SpaceSecret
from workers.infra.base import Session
from workers.instances import SecretName
from workers.messaging.management import Unreachable
from workers.reconcile.desired_routers import DesiredRouters
from workers.reconcile.findings import RouterAddresses
from workers.reconcile.management import ManagedBrokers, ManagedRouters
from workers.reconcile.outcome import Done, StepResult, Wait
from workers.reconcile.ports import Metering
from workers.reconcile.space_rows import SpaceRows
from workers.reconcile.steps import routers as router_step

logger = structlog.get_logger(__name__)


def ensure(
    session: Session,
    brokers: ManagedBrokers,
    routers: ManagedRouters,
    metering: Metering,
    addresses: RouterAddresses,
) -> StepResult[None]:
    """Delete surplus routers; in a full pass also surplus brokers or their rows.

    Brokers only in full passes, so that brokers are not deleted and created again often. The
    outcome is Wait while the last sample of a router is pending.

    ``addresses`` ensures that the other routers have all addresses before a router is deleted,
    because its clients reconnect to them.
    """
    desired = addresses.desired
    rows = desired.rows
    retirement = _Retirement(rows, session, brokers, routers, metering)
    surplus = _list_surplus(desired)
    # Routers need not wait for a full pass, because they store no messages.
    for name in surplus[Kind.ROUTER]:
        if not retirement.retire_router(desired, name):
            return StepResult(Wait(0.5, Reason.LAST_SAMPLE_PENDING), None)
    if rows.full:
        for name in surplus[Kind.BROKER]:
            retirement.retire_broker(name)
        for broker in rows.brokers:
            # The messages of a broker that is down cannot be counted. The request would only time
            # out.
            if broker.name not in desired.down:
                retirement.release(broker)
    return StepResult(Done(), None)


def _list_surplus(desired: DesiredRouters) -> dict[Kind, list[str]]:
    """Return the names of instances that no row of a broker and no plan asks for, by kind.

    They are found by their stored server certificates, because every instance gets one before it
    starts.
    """
    rows = desired.rows
    wanted = {*rows.router_names, *(broker.name for broker in rows.brokers)}
    known = (SecretName.instance_of(name) for name in desired.keys.rows)
    surplus = sorted(one for one in known if one is not None and one.name not in wanted)
    return {kind: [one.name for one in surplus if one.kind is kind] for kind in Kind}


@dataclass(frozen=True)
class _Retirement:
    """Deletes surplus instances of one space, and the rows that belong to them."""

    rows: SpaceRows
    session: Session
    brokers: ManagedBrokers
    routers: ManagedRouters
    metering: Metering

    def retire_router(self, desired: DesiredRouters, name: str) -> bool:
        """Close, sample and delete a router; return False if its last sample is still pending.

        A router that does not answer is deleted without a sample. Idempotent.
        """
        space_id = self.rows.space.id
        if self._exists(name):
            try:
                router_step.close(self.rows, self.session, self.routers, desired, name)
            except Unreachable:
                # It cannot be sampled, and it serves no client: delete it all the same.
                logger.warning("router_left_unsampled", space_id=space_id, router=name)
            if not self.metering.before_restart(space_id, name):
                return False
            self.session.delete_instance(name)
        self._forget(name)
        return True

    def retire_broker(self, name: str) -> None:
        """Delete a broker and its volume if it is known to store no message; else keep both."""
        if self._exists(name):
            if not self._is_empty(name):
                logger.warning(
                    "broker_kept_until_known_to_be_empty",
                    space_id=self.rows.space.id,
                    broker=name,
                )
                return
            self.session.delete_instance(name)
        self._forget(name)

    def release(self, broker: Broker) -> None:
        """Delete the row of a broker that stores no message and on which no address is placed.

        The broker itself is deleted by ``retire_broker`` in a later pass.
        """
        is_used = any(
            placement.broker_id == broker.id
            for row in self.rows.addresses
            for placement in row.placements.all()
        )
        if is_used or not self._is_empty(broker.name):
            return
        # Under the lock, because an address may have been placed on it since this pass began.
        with transaction.atomic():
            address_spaces.lock(self.rows.space)
            if not broker.placements.exists():
                broker.delete()

    def _exists(self, name: str) -> bool:
        return name in {instance.name for instance in self.session.list_instances()}

    def _is_empty(self, name: str) -> bool:
        try:
            return self.brokers.driver.count_stored(self.brokers.targets.of(name)) == 0
        except Unreachable:
            return False

    def _forget(self, name: str) -> None:
        """Delete the stored server certificate of an instance.

        Call it after the instance was deleted, because ``_list_surplus`` finds instances by
        certificates.
        """
        secrets = SpaceSecret.objects.filter(space=self.rows.space)
        secrets.filter(name=SecretName.server(name)).delete()
