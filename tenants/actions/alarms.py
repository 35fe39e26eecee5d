"""Create, change and delete the alarms of addresses."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from controlplane.core import address_types, audit
from controlplane.core.address_types import BrokerForm
from controlplane.core.alarm_limits import default_clear_below
from controlplane.core.audit import Actor
from controlplane.core.errors import Conflict, Invalid, Missing
from tenants.actions import address_spaces
from tenants.models import Address
from tenants.notifications import alarms
from tenants.notifications.models import AddressAlarm

MOST = 10  # of one address
_LARGEST = 10**15  # a threshold that JSON numbers can hold exactly
_LONGEST_SECONDS = 7 * 24 * 3600  # that a value must stay beyond the threshold
Metric = AddressAlarm.Metric


@dataclass(frozen=True)
class Limits:
    """What an alarm compares with: messages for ``depth``, seconds for ``age``.

    The value must be at the threshold or above for ``for_seconds``. ``clear_below`` 0 stands for 80
    % of the threshold.
    """

    threshold: int
    for_seconds: int = 0
    clear_below: int = 0

    def checked(self) -> "Limits":
        """Return the limits with ``clear_below`` filled in.

        Raises:
            Invalid: a value is out of its range, or ``clear_below`` is above the threshold.
        """
        lower = self.clear_below or default_clear_below(self.threshold)
        if not 1 <= self.threshold <= _LARGEST:
            raise _invalid("threshold", "A number of 1 or more.")
        if not 0 <= self.for_seconds <= _LONGEST_SECONDS:
            raise _invalid("for_seconds", f"0 to {_LONGEST_SECONDS} seconds, which is a week.")
        if not 1 <= lower <= self.threshold:
            raise _invalid("clear_below", "1 to the threshold.")
        return Limits(self.threshold, self.for_seconds, lower)


def create(*, address: Address, metric: str, limits: Limits, by: Actor) -> AddressAlarm:
    """Create an alarm of an address. The next sampling cycle evaluates it.

    Raises:
        Invalid: the metric or a limit is not valid, or addresses of this type store no messages.
        Conflict: the address has the same alarm, or ten alarms.
        SpaceTerminating: the space is being deleted.
    """
    if metric not in Metric.values:
        raise _invalid("metric", f"One of: {', '.join(Metric.values)}.")
    if not stores_messages(address):
        raise _invalid("metric", f"Addresses of the type {address.type} store no messages.")
    checked = limits.checked()
    with transaction.atomic():
        # Under the lock of the space, so that two requests cannot exceed ``MOST`` together.
        address_spaces.lock_for_change(address.space)
        if AddressAlarm.objects.filter(address=address).count() >= MOST:
            raise Conflict(f"An address has at most {MOST} alarms.", code="alarm.too_many")
        _refuse_same(address, metric, checked, "")
        alarm = AddressAlarm.objects.create(
            address=address,
            space=address.space,
            metric=metric,
            threshold=checked.threshold,
            clear_below=checked.clear_below,
            for_seconds=checked.for_seconds,
            due_at=timezone.now(),
        )
        audit.record(by, "alarm.create", subject(alarm), after=_shown(alarm))
    return alarm


def update(*, alarm: AddressAlarm, limits: Limits, by: Actor) -> AddressAlarm:
    """Give an alarm other limits; return it. The next sampling cycle evaluates it again.

    An alarm that is raised stays raised until its value is below the new ``clear_below``.

    Raises:
        Invalid: a limit is not valid. Conflict: the address has another alarm with the same metric,
        threshold and ``for_seconds``. Missing: it was deleted meanwhile.
    """
    checked = limits.checked()
    with transaction.atomic():
        rows = AddressAlarm.objects.select_for_update(of=("self",)).select_related(
            "address", "space"
        )
        row = rows.filter(pk=alarm.pk).first()
        if row is None:
            raise Missing("This alarm was deleted meanwhile.", code="alarm.missing")
        # As in ``create``. The alarm is locked first, because If-Match has locked it already.
        address_spaces.lock(row.space)
        before = _shown(row)
        _refuse_same(row.address, row.metric, checked, row.pk)
        row.threshold, row.clear_below = checked.threshold, checked.clear_below
        row.for_seconds = checked.for_seconds
        after = _shown(row)
        if after != before:
            row.generation += 1
            row.due_at = timezone.now()
            # How long the value was beyond the former threshold says nothing about this one.
            row.breached_since = None if row.raised_at is None else row.breached_since
            row.save()
            audit.record(by, "alarm.update", subject(row), before=before, after=after)
    return row


def delete(*, alarm: AddressAlarm, by: Actor) -> None:
    """Delete an alarm; if it is raised, write the event that it is over. Idempotent."""
    with transaction.atomic():
        rows = AddressAlarm.objects.select_for_update(of=("self",)).select_related(
            "address", "space__tenant"
        )
        row = rows.filter(pk=alarm.pk).first()
        if row is not None:
            alarms.write_ended(row, "the alarm is deleted", timezone.now())
            audit.record(by, "alarm.delete", subject(row), before=_shown(row))
            row.delete()


def stores_messages(address: Address) -> bool:
    """Return whether addresses of the type of ``address`` store messages and can have alarms."""
    row = address_types.BY_SLUG.get(address.type)
    return row is not None and row.broker_form in (BrokerForm.QUEUE, BrokerForm.QUEUE_OF_TOPIC)


def subject(alarm: AddressAlarm) -> audit.Subject:
    """Return the alarm as the subject of an audit event."""
    name = f"{alarm.space.name}/{alarm.address.address}"
    # Two names of up to 63 and 255 characters; the column of the audit log has 255.
    return audit.Subject("alarm", alarm.pk, name[:255], alarm.space.tenant_id)


def _refuse_same(address: Address, metric: str, limits: Limits, own: str) -> None:
    same = AddressAlarm.objects.filter(
        address=address,
        metric=metric,
        threshold=limits.threshold,
        for_seconds=limits.for_seconds,
    )
    if same.exclude(pk=own).exists():
        raise Conflict("The address has this alarm already.", code="alarm.exists")


def _shown(alarm: AddressAlarm) -> dict[str, object]:
    return {
        "metric": alarm.metric,
        "threshold": alarm.threshold,
        "clear_below": alarm.clear_below,
        "for_seconds": alarm.for_seconds,
    }


def _invalid(field: str, reason: str) -> Invalid:
    message = f"The alarm is not valid: {field}: {reason}"
    return Invalid(message, code="alarm.invalid", **{field: [reason]})
