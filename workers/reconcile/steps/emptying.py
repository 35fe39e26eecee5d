"""The end of a space, first part: nobody can use it any more, and its last sample is taken.

Order: brokers get files without users, addresses and permissions; open links are cut; the last
sample is taken. What was stored goes with the brokers in the next step: the row asked for that.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta

from tenants.models import Address
from workers.infra.base import InfraError, Kind
from workers.messaging.management import Refused, Unreachable
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work

# A broker that stays away this long after the request cannot be asked, nor one whose files somebody
# else holds; what it counted since its last sample is lost, and the usage quality report shows the
# gap.
PATIENCE = timedelta(minutes=10)
_REASONS = {
    Kind.BROKER: ("BrokerUnreachable", "BrokerRefuses"),
    Kind.ROUTER: ("RouterUnreachable", "RouterRefuses"),
}


def ensure(work: Work, doors: Doors) -> Outcome:
    running = {each.name for each in doors.infra.list_instances(work.namespace)}
    if not running or "authority" not in work.secrets:
        return Done("nothing was running")
    names = [each.name for each in work.brokers if each.name in running]
    waiting = close_all(work, names, lambda name: _empty(work, doors, name))
    if waiting is not None:
        return waiting
    if not doors.metering.last_sample(work.space.id, None):
        return Wait(0.5, "LastSamplePending")
    Address.objects.filter(space=work.space, last_sampled=False).update(last_sampled=True)
    return Done()


def close_all(work: Work, names: Sequence[str], close: Callable[[str], None]) -> Wait | None:
    """Close each instance that has its certificate, whatever another one says; None: go on.

    What cannot be closed is waited for while it may come: ten minutes from the request, and for as
    long as the place itself is busy or away, which passes by itself.

    Raises:
        InfraError: the place refuses, or is busy or away.
    """
    failures = [
        (name, error)
        for name in names
        if f"server/{name}" in work.secrets and (error := _try(close, name)) is not None
    ]
    for name, error in failures:
        if _is_worth_waiting(work, error):
            return _wait(Kind(name.partition("-")[0]), error)
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
    return Wait(1, away if isinstance(error, Unreachable) else f"{refuses}: {error}")


def _is_worth_waiting(work: Work, error: Exception) -> bool:
    requested = work.space.deletion_requested_at
    is_early = requested is not None and work.now - requested < PATIENCE
    return is_early or (isinstance(error, InfraError) and error.retry)


def _empty(work: Work, doors: Doors, name: str) -> None:
    broker = next(each for each in work.brokers if each.name == name)
    layout = doors.infra.place(work.namespace, Kind.BROKER, name)
    # A restart now would lose what is counted since the last sample.
    spec = desired_brokers.spec(work, broker, layout, emptied=True)
    doors.infra.ensure_instance(spec, may_restart=False)
    target = reaching.broker(work, doors, name)
    emptied = desired_brokers.build(work, broker, emptied=True)
    doors.brokers.converge(target, emptied)
    doors.brokers.cut_off(target, emptied)
