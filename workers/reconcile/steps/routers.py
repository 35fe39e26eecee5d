"""Write the files of a space's routers, start or restart the routers, check that they answer.

The configuration file also holds every entity that the step ``router addresses`` maintains through
management. So a router that restarts by itself serves as before, even if no worker runs.
"""

from controlplane.core.instance_names import Kind
from workers.infra.base import Session
from workers.reconcile import desired_routers
from workers.reconcile.desired_routers import DesiredRouters
from workers.reconcile.findings import BrokerInstances, ClosedRouters, Instances, LastSample
from workers.reconcile.management import ManagedRouters
from workers.reconcile.outcome import Done, StepResult
from workers.reconcile.rolling import Restarter
from workers.reconcile.space_rows import SpaceRows
from workers.reconcile.steps.drain import close_all


def ensure(
    rows: SpaceRows,
    routers: ManagedRouters,
    restarter: Restarter,
    desired: DesiredRouters,
    brokers: BrokerInstances,
) -> StepResult[Instances]:
    """Apply the specifications of all routers; restart at most one of them.

    The findings are about all instances: the routers, and those in ``brokers``. ``restarter``
    decides the outcome.
    """
    specs = [desired.spec(name) for name in rows.router_names]
    return restarter.ensure(specs, routers.answers, brokers.found)


def empty(
    rows: SpaceRows, session: Session, routers: ManagedRouters, desired: DesiredRouters
) -> StepResult[ClosedRouters]:
    """Remove the addresses from all running routers, disconnect the clients, keep the counters.

    This is a step of the deletion of a space. No client can reconnect, because the auth service
    refuses logins to a space whose deletion is requested. While a router does not answer or
    refuses, the outcome is Wait, until ten minutes after the request.
    """
    running = {instance.name for instance in session.list_instances()}
    names = [name for name in rows.router_names if name in running]
    waiting = close_all(rows, names, lambda name: close(rows, session, routers, desired, name))
    return StepResult(waiting or Done(), ClosedRouters())


def remove(session: Session, _sampled: LastSample) -> StepResult[None]:
    """Stop and delete every router of a space that is being deleted, after its last sample."""
    for instance in session.list_instances():
        if instance.kind is Kind.ROUTER:
            session.delete_instance(instance.name)
    return StepResult(Done(), None)


def close(
    rows: SpaceRows, session: Session, routers: ManagedRouters, desired: DesiredRouters, name: str
) -> None:
    """Remove the addresses from one router and disconnect its clients.

    The router keeps its counters, so that its last sample can be taken. A refused removal of one
    address is ignored.

    Raises:
        Unreachable: the router does not answer.
        Refused: the router refuses a query.
        InfraError: the platform refuses a request or does not answer.
    """
    # No restart: it would lose what the router has counted since its last sample.
    session.ensure_instance(desired.spec(name, emptied=True), may_restart=False)
    target = routers.targets.of(name)
    router = desired.build(name, emptied=True)
    everything = [desired_routers.routed(rows, address) for address in rows.addresses]
    routers.driver.converge(target, router, leaving=everything)
    routers.driver.disconnect_clients(target, router)
