"""Evaluate the alarms of addresses from their stored readings. The sampling cycle calls it.

A cycle evaluates only the alarms of addresses whose reading has changed, and those that are due:
new ones, those whose value is too high but not for long enough, and those of ages while messages
wait.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from controlplane.core import instants
from tenants import live_readings
from tenants.live_readings import Gauges
from tenants.models import AddressReading, SpaceReading
from tenants.notifications import alarm_states, outbox
from tenants.notifications.alarm_states import Change, Rule, State
from tenants.notifications.models import AddressAlarm

_STATE = ["breached_since", "raised_at", "last_value", "due_at"]
Metric = AddressAlarm.Metric


def evaluate(space_id: str, changed: Collection[str], now: datetime) -> int:
    """Evaluate the alarms of a space that may change at ``now``; return how many were read.

    ``changed`` has the ids of the addresses whose reading was just stored. Call it in the
    transaction that stores the readings. Alarms that are raised or cleared write an event.
    """
    due = Q(due_at__lte=now) | Q(address_id__in=changed) if changed else Q(due_at__lte=now)
    rows = (
        AddressAlarm.objects.select_for_update(of=("self",))
        .select_related("address", "space__tenant")
        .filter(due, space_id=space_id, address__deleted_at__isnull=True)
    )
    alarms = list(rows.order_by("id"))
    if not alarms:
        return 0
    gauges = _gauges(space_id, alarms)
    changes = [_advance(alarm, gauges.get(alarm.address_id), now) for alarm in alarms]
    AddressAlarm.objects.bulk_update(alarms, _STATE)
    for alarm, (change, raised_at) in zip(alarms, changes, strict=True):
        if change is not Change.NONE:
            _write(alarm, change, raised_at, now)
    return len(alarms)


def having_alarms(space_ids: Collection[str]) -> set[str]:
    """Return which of the spaces have alarms at all; most have none."""
    rows = AddressAlarm.objects.filter(space_id__in=space_ids)
    return set(rows.order_by().values_list("space_id", flat=True).distinct())


def make_due(space_id: str, now: datetime) -> None:
    """Have all alarms of a space evaluated in its next cycle, because this one could not."""
    AddressAlarm.objects.filter(space_id=space_id).update(due_at=now)


def end_deleted(now: datetime) -> int:
    """End the raised alarms whose address or space is deleted, with an event; return how many.

    No sampling cycle evaluates them any more, and pagers wait for the end of the incident.
    Idempotent. Call it in a transaction.
    """
    gone = Q(address__deleted_at__isnull=False) | Q(space__deleted_at__isnull=False)
    # An alarm that another transaction has locked is left to the next run.
    rows = (
        AddressAlarm.objects.select_for_update(of=("self",), skip_locked=True)
        .select_related("address", "space__tenant")
        .filter(gone, raised_at__isnull=False)
    )
    alarms = list(rows.order_by("id"))
    for alarm in alarms:
        write_ended(alarm, "the address is deleted", now)
        alarm.breached_since = alarm.raised_at = alarm.due_at = None
    AddressAlarm.objects.bulk_update(alarms, _STATE)
    return len(alarms)


def write_ended(alarm: AddressAlarm, why: str, now: datetime) -> None:
    """Write the event that an alarm is over without a value that ends it.

    It does nothing for an alarm that is not raised. ``why`` is the reason for people.
    """
    if alarm.raised_at is not None:
        _write(alarm, Change.CLEARED, alarm.raised_at, now, why)


def value_words(metric: str, value: int) -> str:
    """Return a value of a metric for people."""
    if metric == Metric.DEPTH:
        return f"{value:,} message{'' if value == 1 else 's'}"
    return f"an oldest message of {value:,} s"


def threshold_words(alarm: AddressAlarm) -> str:
    """Return the threshold for people: ``1,000 messages for 60 s``."""
    hold = f" for {alarm.for_seconds:,} s" if alarm.for_seconds else ""
    return value_words(alarm.metric, alarm.threshold) + hold


def _gauges(space_id: str, alarms: list[AddressAlarm]) -> dict[str, Gauges]:
    """Return {address id: gauges} of the alarms' addresses, by two queries."""
    stored = SpaceReading.objects.filter(pk=space_id).first()
    routed = live_readings.is_routed(stored.answered if stored else ())
    types = {alarm.address_id: alarm.address.type for alarm in alarms}
    return {
        row.address_id: live_readings.add_up(types[row.address_id], row.parts, routed=routed)
        for row in AddressReading.objects.filter(address__in=types)
    }


def _advance(
    alarm: AddressAlarm, gauges: Gauges | None, now: datetime
) -> tuple[Change, datetime | None]:
    """Evaluate one alarm and set its columns; return the change, and when it was raised before."""
    rule = Rule(alarm.threshold, alarm.clear_below, timedelta(seconds=alarm.for_seconds))
    before = State(alarm.breached_since, alarm.raised_at, alarm.due_at)
    gauges = gauges or Gauges()
    value = gauges.depth
    if alarm.metric == Metric.DEPTH:
        after, change = alarm_states.of_value(rule, before, value, now)
    elif gauges.depth and gauges.oldest_at is None:
        # There are messages, but no instance has reported an age.
        value, after, change = None, State(before.breached_since, before.raised_at), Change.NONE
    else:
        after, change = alarm_states.of_age(rule, before, gauges.oldest_at, now)
        oldest_at = gauges.oldest_at
        value = max(0, int((now - oldest_at).total_seconds())) if oldest_at else 0
    alarm.breached_since, alarm.raised_at = after.breached_since, after.raised_at
    alarm.due_at, alarm.last_value = after.due_at, value
    return change, before.raised_at


def _write(
    alarm: AddressAlarm, change: Change, raised_at: datetime | None, now: datetime, why: str = ""
) -> None:
    words = value_words(alarm.metric, alarm.last_value or 0)
    fields: dict[str, Any] = {
        "space": alarm.space.name,
        "address": alarm.address.address,
        "address_id": alarm.address_id,
        "alarm": alarm.pk,
        "metric": alarm.metric,
        "value": alarm.last_value,
        "threshold": alarm.threshold,
        "value_words": words,
        "why": why or f"it has {words}",
        "threshold_words": threshold_words(alarm),
        "raised_at": instants.text(raised_at or now),
    }
    outbox.write(
        f"alarm.{change.value}",
        tenant=alarm.space.tenant,
        key=f"{alarm.pk}:{now.isoformat()}",
        fields=fields,
        now=now,
    )
