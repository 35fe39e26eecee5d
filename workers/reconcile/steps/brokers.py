"""The broker instances: write their files, start or restart them, check that they answer."""

from controlplane.core.instance_names import Kind
from workers.reconcile import desired_brokers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.ports import Ports
from workers.rollouts import rolling


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    def answers(name: str) -> bool:
        return management_targets.answers(
            lambda: ports.brokers.find_incarnation(management_targets.broker(context, ports, name))
        )

    specs = [
        desired_brokers.spec(context, broker, ports.session.layout_of(Kind.BROKER, broker.name))
        for broker in context.brokers
    ]
    return rolling.ensure(context, ports, specs, answers)


def remove(context: ReconcileContext, ports: Ports) -> Outcome:
    """Stop and delete every broker. Called only after the last sample of the space.

    Stored messages are deleted too, unless the person who deleted the space asked to keep volumes.
    """
    for instance in ports.session.list_instances():
        if instance.kind is Kind.BROKER:
            ports.session.delete_instance(instance.name, keep_volume=context.keeps_volumes)
    return Done()
