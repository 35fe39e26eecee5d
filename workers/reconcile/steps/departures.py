"""Addresses on their way out: nobody uses them any more, their last sample, then their end.

The order keeps everything they carried on the bill. Their permissions are gone already, with the
files of the steps before; here open links are cut, the last sample is taken, and only then the
queue and what it still stores are deleted.
"""

from collections.abc import Sequence

from tenants.models import Address, AddressType
from workers.reconcile import desired_brokers, reaching
from workers.reconcile.doors import Doors
from workers.reconcile.outcome import Done, Outcome, Wait
from workers.reconcile.work import Work


def ensure(work: Work, doors: Doors) -> Outcome:
    leaving = work.leaving_addresses
    if not leaving:
        return Done()
    _cut_off(work, doors)
    unsampled = [each for each in leaving if not each.last_sampled]
    if unsampled:
        if not doors.metering.last_sample(work.space.id, [each.address for each in unsampled]):
            return Wait(0.5, "LastSamplePending")
        _mark_sampled(unsampled)
    _remove(work, doors, leaving)
    work.gone |= {each.id for each in leaving}
    return Done()


def _cut_off(work: Work, doors: Doors) -> None:
    """Close links to addresses that are leaving; in a standard space the routers hold them."""
    for broker in work.brokers if work.is_brokered else ():
        target = reaching.broker(work, doors, broker.name)
        doors.brokers.cut_off(target, desired_brokers.build(work, broker))


def _remove(work: Work, doors: Doors, leaving: Sequence[Address]) -> None:
    # A subscription is a queue of its topic, so it goes before the topic.
    first = [each for each in leaving if each.type == AddressType.SUBSCRIPTION]
    then = [each for each in leaving if each.type != AddressType.SUBSCRIPTION]
    for broker in work.brokers:
        names = [each.address for each in (*first, *then) if desired_brokers.is_on(each, broker)]
        if names:
            doors.brokers.remove(reaching.broker(work, doors, broker.name), names)


def _mark_sampled(addresses: Sequence[Address]) -> None:
    Address.objects.filter(id__in=[each.id for each in addresses]).update(last_sampled=True)
    for each in addresses:
        each.last_sampled = True
