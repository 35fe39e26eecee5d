"""The router instances: write their files, start or restart them, check that they answer.

The configuration file also holds every entity that the step ``router addresses`` maintains through
management. So a router that restarts by itself serves as before, even if no worker runs.
"""

from controlplane.core.instance_names import Kind
from workers.infra.base import InstanceSpec
from workers.reconcile import desired_routers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome
from workers.reconcile.ports import Ports
from workers.reconcile.steps.drain import close_all
from workers.rollouts import rolling


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    def answers(name: str) -> bool:
        return management_targets.answers(
            lambda: ports.routers.find_incarnation(management_targets.router(context, ports, name))
        )

    specs = [
        _spec(context, ports, name, emptied=False) for name in desired_routers.list_names(context)
    ]
    return rolling.ensure(context, ports, specs, answers)


def empty(context: ReconcileContext, ports: Ports) -> Outcome:
    """Remove the addresses from all routers and disconnect all clients, but keep the counters.

    The auth service refuses every login from the moment at which the deletion is requested.
    """
    running = {instance.name for instance in ports.session.list_instances()}
    names = [name for name in desired_routers.list_names(context) if name in running]
    return close_all(context, names, lambda name: close(context, ports, name)) or Done()


def remove(context: ReconcileContext, ports: Ports) -> Outcome:
    """Stop and delete every router. Called only after the last sample."""
    for instance in ports.session.list_instances():
        if instance.kind is Kind.ROUTER:
            ports.session.delete_instance(instance.name)
    return Done()


def _spec(context: ReconcileContext, ports: Ports, name: str, *, emptied: bool) -> InstanceSpec:
    layout = ports.session.layout_of(Kind.ROUTER, name)
    router = desired_routers.build(context, ports, name, emptied=emptied)
    return desired_routers.spec(context, router, layout, ports.routing.engine)


def close(context: ReconcileContext, ports: Ports, name: str) -> None:
    """Remove the addresses from one router and disconnect its clients, but keep the counters.

    Raises:
        Unreachable: the router does not answer.
        Refused: the router refuses a request.
        InfraError: the platform refuses a request or does not answer.
    """
    # No restart: it would lose what the router has counted since its last sample.
    ports.session.ensure_instance(_spec(context, ports, name, emptied=True), may_restart=False)
    target = management_targets.router(context, ports, name)
    router = desired_routers.build(context, ports, name, emptied=True)
    everything = [desired_routers.routed(context, address) for address in context.addresses]
    ports.routers.converge(target, router, leaving=everything)
    ports.routers.disconnect_clients(target, router)
