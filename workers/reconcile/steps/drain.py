"""The first part of deleting a space: disconnect all clients, then take the last sample.

Brokers get files without users, addresses and permissions, and open links are closed. Stored
messages are deleted later, with the brokers.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.reasons import Reason
from tenants.models import Address
from workers.infra.base import InfraError
from workers.instances import SecretName
from workers.messaging.management import Refused, Unreachable
from workers.reconcile import desired_brokers, management_targets
from workers.reconcile.context import ReconcileContext
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.ports import Ports

# After this time the deletion no longer waits for an instance that does not answer or refuses. What
# the instance counted since its last sample is lost, and the usage quality report shows the gap.
PATIENCE = timedelta(minutes=10)
_REASONS = {
    Kind.BROKER: (Reason.BROKER_UNREACHABLE, Reason.BROKER_REFUSES),
    Kind.ROUTER: (Reason.ROUTER_UNREACHABLE, Reason.ROUTER_REFUSES),
}


def ensure(context: ReconcileContext, ports: Ports) -> Outcome:
    running = {instance.name for instance in ports.session.list_instances()}
    if not running or SecretName.AUTHORITY not in context.secrets:
        return Done("nothing was running")
    names = [broker.name for broker in context.brokers if broker.name in running]
    waiting = close_all(context, names, lambda name: _empty(context, ports, name))
    if waiting is not None:
        return waiting
    if not ports.metering.last_sample(context.space.id, None):
        return Wait(0.5, Reason.LAST_SAMPLE_PENDING)
    Address.objects.filter(space=context.space, last_sampled=False).update(last_sampled=True)
    return Done()


def close_all(
    context: ReconcileContext, names: Sequence[str], close: Callable[[str], None]
) -> Wait | None:
    """Close every instance, even if another one fails; return None if the deletion may go on.

    The deletion waits for an instance that cannot be closed for ten minutes from the request. It
    waits longer while the platform is busy or does not answer, because that passes by itself.

    Raises:
        InfraError: the platform refuses a request, is busy or does not answer.
    """
    # The files of an instance cannot be rendered without its certificate.
    failures = [
        (name, error)
        for name in names
        if SecretName.server(name) in context.secrets and (error := _try(close, name)) is not None
    ]
    for name, error in failures:
        if _is_worth_waiting(context, error):
            return _wait(InstanceId.parse(name).kind, error)
    return None


def _try(close: Callable[[str], None], name: str) -> Exception | None:
    try:
        close(name)
    except (Unreachable, Refused, InfraError) as error:
        return error
    return None


def _wait(kind: Kind, error: Exception) -> Wait:
    if isinstance(error, InfraError):
        raise error
    away, refuses = _REASONS[kind]
    return Wait(1, away) if isinstance(error, Unreachable) else Wait(1, refuses, str(error))


def _is_worth_waiting(context: ReconcileContext, error: Exception) -> bool:
    requested = context.space.deletion_requested_at
    is_early = requested is not None and context.now - requested < PATIENCE
    return is_early or (isinstance(error, InfraError) and error.retry)


def _empty(context: ReconcileContext, ports: Ports, name: str) -> None:
    broker = next(broker for broker in context.brokers if broker.name == name)
    layout = ports.session.layout_of(Kind.BROKER, name)
    # No restart: it would lose what the broker has counted since its last sample.
    spec = desired_brokers.spec(context, broker, layout, emptied=True)
    ports.session.ensure_instance(spec, may_restart=False)
    target = management_targets.broker(context, ports, name)
    emptied = desired_brokers.build(context, broker, emptied=True)
    ports.brokers.converge(target, emptied)
    ports.brokers.disconnect_clients(target, emptied)
