"""Create and delete the namespace of a space, with its isolation and its resource budget."""

from controlplane.core.reasons import Reason
from plans.catalog import publishing
from workers.infra.base import ResourceBudget, Session
from workers.reconcile.findings import LastSample, OpenNamespace
from workers.reconcile.outcome import Done, StepResult, Wait
from workers.reconcile.space_rows import SpaceRows


def ensure(rows: SpaceRows, session: Session) -> StepResult[OpenNamespace]:
    """Create or update the namespace, with its isolation and the limits that the plan sets."""
    plan = publishing.space_plan_definition(rows.space.space_plan)
    # Brokers that a smaller plan no longer allows stay until they are drained.
    brokers = max(plan.max_brokers, len(rows.brokers))
    budget = ResourceBudget(
        brokers,
        plan.broker_memory_mb,
        plan.routers,
        disk_gb=plan.broker_disk_gb,
        persistent=plan.broker_persistent,
        broker_cpu_millis=plan.broker_cpu_millis,
    )
    session.ensure_namespace(budget)
    return StepResult(Done(), OpenNamespace())


def remove(rows: SpaceRows, session: Session, _sampled: LastSample) -> StepResult[None]:
    """Delete the namespace with everything in it; the outcome is Wait until it is gone.

    A namespace that holds volumes which are to be kept stays.
    """
    if rows.keeps_volumes:
        return StepResult(Done("volumes are kept"), None)
    gone = session.delete_namespace()
    return StepResult(Done() if gone else Wait(1, Reason.NAMESPACE_ENDING), None)
