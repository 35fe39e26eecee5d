"""The end of a space, first part: nobody can use it any more, and its last sample is taken.

Order: brokers get files without users, addresses and permissions; open links are cut; the last
sample is taken. What was stored goes with the brokers in the next step: the row asked for that.
"""

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


def ensure(work: Work, doors: Doors) -> Outcome:
    running = {each.name for each in doors.infra.list_instances(work.namespace)}
    if not running or "authority" not in work.secrets:
        return Done("nothing was running")
    try:
        for broker in work.brokers:
            if broker.name in running and f"server/{broker.name}" in work.secrets:
                _empty(work, doors, broker.name)
    except (Unreachable, Refused, InfraError) as error:
        if is_worth_waiting(work, error):
            if isinstance(error, InfraError):
                raise
            is_away = isinstance(error, Unreachable)
            return Wait(1, "BrokerUnreachable" if is_away else f"BrokerRefuses: {error}")
    if not doors.metering.last_sample(work.space.id, None):
        return Wait(0.5, "LastSamplePending")
    Address.objects.filter(space=work.space, last_sampled=False).update(last_sampled=True)
    return Done()


def is_worth_waiting(work: Work, error: Exception) -> bool:
    """Return whether a space that ends waits for what cannot be emptied, or goes on without it.

    A place that is busy or away is always waited for.
    """
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
