"""The first part of deleting a space: disconnect all clients, then take the last sample.

Brokers get files without users, addresses and permissions, and connections of clients are closed.
Stored messages are deleted later, with the brokers. ``close_all`` also serves the routers.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from controlplane.core.instance_names import InstanceId, Kind
from controlplane.core.reasons import Reason
from tenants.models import Address
from workers.infra.base import InfraError, Session
from workers.instances import SecretName
from workers.messaging.management import Refused, Unreachable
from workers.reconcile import desired_brokers
from workers.reconcile.findings import ClosedRouters, LastSample
from workers.reconcile.management import ManagedBrokers
from workers.reconcile.outcome import PORT_ERRORS, Done, StepResult, Wait
from workers.reconcile.ports import Metering
from workers.reconcile.space_keys import SpaceKeys
from workers.reconcile.space_rows import SpaceRows

# After this time the deletion no longer waits for an instance that does not answer or refuses. What
# the instance counted since its last sample is lost, and the usage quality report shows the gap.
PATIENCE = timedelta(minutes=10)
# Kind of instance -> it does not answer, it refuses.
_REASONS = {
    Kind.BROKER: (Reason.BROKER_UNREACHABLE, Reason.BROKER_REFUSES),
    Kind.ROUTER: (Reason.ROUTER_UNREACHABLE, Reason.ROUTER_REFUSES),
}


def ensure(
    rows: SpaceRows,
    session: Session,
    brokers: ManagedBrokers,
    metering: Metering,
    keys: SpaceKeys,
    _closed: ClosedRouters,
) -> StepResult[LastSample]:
    """Disconnect all clients from the brokers, and take the last sample of the whole space.

    The routers must be closed before, because they pass their clients' messages on to the brokers.
    The outcome is Wait while a broker does not answer or refuses, and while the sample is pending,
    until ten minutes after the request. It is Done without a sample if no instance runs, or if the
    space has no certificates yet.
    """
    running = {instance.name for instance in session.list_instances()}
    if not running or SecretName.AUTHORITY not in keys.rows:
        return StepResult(Done("nothing was running"), LastSample())

    def empty(name: str) -> None:
        broker = next(broker for broker in rows.brokers if broker.name == name)
        layout = session.layout_of(Kind.BROKER, name)
        # No restart: it would lose what the broker has counted since its last sample.
        spec = desired_brokers.spec(rows, keys, broker, layout, emptied=True)
        session.ensure_instance(spec, may_restart=False)
        target = brokers.targets.of(name)
        emptied = desired_brokers.build(rows, keys, broker, emptied=True)
        brokers.driver.converge(target, emptied)
        brokers.driver.disconnect_clients(target, emptied)

    names = [broker.name for broker in rows.brokers if broker.name in running]
    waiting = close_all(rows, names, empty)
    if waiting is not None:
        return StepResult(waiting, LastSample())
    if not metering.last_sample(rows.space.id, None):
        return StepResult(Wait(0.5, Reason.LAST_SAMPLE_PENDING), LastSample())
    Address.objects.filter(space=rows.space, last_sampled=False).update(last_sampled=True)
    return StepResult(Done(), LastSample())


def close_all(rows: SpaceRows, names: Sequence[str], close: Callable[[str], None]) -> Wait | None:
    """Call ``close`` for each named instance; return a wait, or None if the deletion may go on.

    ``close`` disconnects the clients of one instance. If it fails for one, the others are closed
    all the same. Instances without a certificate are left out. The result is a wait if a broker or
    router does not answer or refuses. From ten minutes after the request on, the deletion goes on
    in spite of such failures.

    Raises:
        InfraError: the platform failed. After the ten minutes only if a retry can help.
    """
    # A failure does not keep the others open: an open instance may still carry messages.
    failures: list[tuple[str, Unreachable | Refused | InfraError]] = []
    for name in names:
        # The files of an instance cannot be rendered without its certificate.
        if SecretName.server(name) not in rows.secrets:
            continue
        try:
            close(name)
        except PORT_ERRORS as error:
            failures.append((name, error))
    requested = rows.space.deletion_requested_at
    is_early = requested is not None and rows.now - requested < PATIENCE
    for name, failure in failures:
        if isinstance(failure, InfraError):
            if is_early or failure.retry:
                raise failure
        elif is_early:
            away, refuses = _REASONS[InstanceId.parse(name).kind]
            is_away = isinstance(failure, Unreachable)
            return Wait(1, away) if is_away else Wait(1, refuses, str(failure))
    return None
