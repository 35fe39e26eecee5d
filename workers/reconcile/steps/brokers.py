"""Write the files of a space's brokers, start or restart the brokers, check that they answer."""

from controlplane.core.instance_names import Kind
from workers.infra.base import Session
from workers.reconcile import desired_brokers
from workers.reconcile.findings import BrokerInstances, Instances, LastSample
from workers.reconcile.management import ManagedBrokers
from workers.reconcile.outcome import Done, StepResult
from workers.reconcile.rolling import Restarter
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows


def ensure(
    rows: SpaceRows,
    session: Session,
    brokers: ManagedBrokers,
    restarter: Restarter,
    keys: SpaceKeys,
) -> StepResult[BrokerInstances]:
    """Apply the specifications of all brokers; restart at most one of them.

    ``restarter`` decides the outcome.
    """
    specs = [
        desired_brokers.spec(rows, keys, broker, session.layout_of(Kind.BROKER, broker.name))
        for broker in rows.brokers
    ]
    # This step is the first of those about instances, so nothing is known of routers yet.
    result = restarter.ensure(specs, brokers.answers, Instances({}, rows.space.rolled_at))
    return StepResult(result.outcome, BrokerInstances(result.findings))


def remove(rows: SpaceRows, session: Session, _sampled: LastSample) -> StepResult[None]:
    """Stop and delete every broker of a space that is being deleted, after its last sample.

    Stored messages are deleted too, unless the person who deleted the space asked to keep volumes.
    """
    for instance in session.list_instances():
        if instance.kind is Kind.BROKER:
            session.delete_instance(instance.name, keep_volume=rows.keeps_volumes)
    return StepResult(Done(), None)
