"""The namespace of the space, its isolation and its resource budget."""

from controlplane.core.reasons import Reason
from plans.catalog import publishing
from workers.infra.base import ResourceBudget
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    ports.session.ensure_namespace(_budget(context))
    return Done()


def remove(context: ReconcileContext, ports: Ports) -> Outcome:
    if context.keeps_volumes:
        return Done("volumes are kept")
    gone = ports.session.delete_namespace()
    return Done() if gone else Wait(1, Reason.NAMESPACE_ENDING)


def _budget(context: ReconcileContext) -> ResourceBudget:
    plan = publishing.space_plan_definition(context.space.space_plan)
    # Brokers that a smaller plan no longer allows stay until they are drained.
    brokers = max(plan.max_brokers, len(context.brokers))
    return ResourceBudget(brokers, plan.broker_memory_mb, plan.routers)
