"""The gauges of /metrics about brokers, routers and stored messages, for operators.

A label is a kind of instance, a space plan or a reason, so the number of time series does not grow
with spaces and addresses. ``controlplane.gauges`` yields these gauges with its own.
"""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import Case, CharField, Count, IntegerField, Min, Q, Sum, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from controlplane.core.instance_names import Kind
from controlplane.core.phases import Phase
from tenants.models import AddressSpace
from workers.models import MeteredSource

# An instance is late if its newest sample is older than this many sampling cycles.
_LATE_CYCLES = 6
_RECENTLY = timedelta(hours=1)  # restarts in this time are reported
_KIND = Case(
    *(When(source__contains=f"/{kind}-", then=Value(str(kind))) for kind in Kind),
    output_field=CharField(),
)
_NOT_READY = """
SELECT COALESCE(condition ->> 'reason', ''), count(*)
FROM tenants_addressspace, jsonb_array_elements(conditions) AS condition
WHERE deleted_at IS NULL AND condition ->> 'type' = 'Ready' AND condition ->> 'status' = 'False'
GROUP BY 1 ORDER BY 1
"""

# Sums over the brokers only: routers have parts in a reading too, but store no messages.
_DEPTHS = """
SELECT plan.key, sum((part.value ->> 'depth')::bigint),
    sum((part.value ->> 'dead_lettered')::bigint)
FROM tenants_addressreading reading
JOIN tenants_address address ON address.id = reading.address_id AND address.deleted_at IS NULL
JOIN tenants_addressspace space ON space.id = address.space_id
JOIN plans_spaceplan plan ON plan.id = space.space_plan_id
CROSS JOIN LATERAL jsonb_each(reading.parts) AS part
WHERE part.key LIKE 'broker-%%'
GROUP BY 1 ORDER BY 1
"""
# A broker refuses messages when its own part of an address is full, so one full part is enough.
# An address that blocks its senders does so at 8 MiB (``broker_xml``), so with a larger limit it
# never counts as full.
_FULL = """
SELECT plan.key, count(DISTINCT address.id)
FROM tenants_addressreading reading
JOIN tenants_address address ON address.id = reading.address_id AND address.deleted_at IS NULL
JOIN plans_addressplan sold ON sold.id = address.address_plan_id
JOIN tenants_addressspace space ON space.id = address.space_id
JOIN plans_spaceplan plan ON plan.id = space.space_plan_id
CROSS JOIN LATERAL jsonb_each(reading.parts) AS part
WHERE part.key LIKE 'broker-%%' AND (part.value ->> 'stored_bytes')::numeric
    >= 0.9 * LEAST(address.max_bytes, (sold.definition ->> 'max_bytes')::bigint)
GROUP BY 1 ORDER BY 1
"""


def families() -> Iterator[GaugeMetricFamily]:
    """Yield the gauges of this module with their present values, read by six queries."""
    yield from _sampled()
    yield from _depths()
    yield _full()
    yield from _probes()
    yield _restarts()
    not_ready = GaugeMetricFamily(
        "waypost_spaces_not_ready", "Spaces that are not Ready, by reason", labels=["reason"]
    )
    with connection.cursor() as cursor:
        cursor.execute(_NOT_READY)
        for reason, spaces in cursor.fetchall():
            not_ready.add_metric([reason], spaces)
    yield not_ready


def _depths() -> Iterator[GaugeMetricFamily]:
    depth = GaugeMetricFamily(
        "waypost_stored_messages", "Messages that brokers store, by space plan", labels=["plan"]
    )
    dead = GaugeMetricFamily(
        "waypost_dead_letters",
        "Messages that became dead letters since their broker started, by space plan",
        labels=["plan"],
    )
    with connection.cursor() as cursor:
        cursor.execute(_DEPTHS)
        for plan, stored, lettered in cursor.fetchall():
            depth.add_metric([plan], stored or 0)
            dead.add_metric([plan], lettered or 0)
    yield from (depth, dead)


def _full() -> GaugeMetricFamily:
    full = GaugeMetricFamily(
        "waypost_addresses_full",
        "Addresses that store nine tenths of what they may, or more, by space plan",
        labels=["plan"],
    )
    with connection.cursor() as cursor:
        cursor.execute(_FULL)
        for plan, addresses in cursor.fetchall():
            full.add_metric([plan], addresses)
    return full


def _probes() -> Iterator[GaugeMetricFamily]:
    """Yield the longest time since an Active space was last probed successfully.

    Spaces that were never probed are left out. Yields nothing if no Active space was probed.
    """
    active = AddressSpace.objects.filter(deleted_at__isnull=True, phase=Phase.ACTIVE)
    oldest = active.aggregate(oldest=Min("probed_at"))["oldest"]
    gauge = GaugeMetricFamily(
        "waypost_oldest_probe_age_seconds", "Age of the oldest newest probe of an Active space"
    )
    if oldest is not None:
        gauge.add_metric([], (timezone.now() - oldest).total_seconds())
        yield gauge


def _sampled() -> Iterator[GaugeMetricFamily]:
    """Yield four gauges by kind of instance, of all instances with a sample and without an end.

    They are: the number of instances, how many of them are late, the age of the oldest newest
    sample, and the sum of open connections. An instance that does not answer counts until its space
    replaces or deletes it.
    """
    now = timezone.now()
    late_before = now - timedelta(seconds=_LATE_CYCLES * settings.SAMPLE_SECONDS)
    gauges = [
        GaugeMetricFamily(name, text, labels=["kind"])
        for name, text in (
            ("waypost_instances", "Brokers and routers that are sampled"),
            ("waypost_instances_late", f"Instances not sampled for {_LATE_CYCLES} sampling cycles"),
            ("waypost_instance_oldest_sample_age_seconds", "Age of the oldest newest sample"),
            ("waypost_connections", "Open connections of clients in the newest samples"),
        )
    ]
    open_connections = Cast(KeyTextTransform("connections", "integrals"), IntegerField())
    rows = (
        MeteredSource.objects.filter(ended_at__isnull=True, sampled_at__isnull=False)
        .annotate(kind=_KIND)
        .filter(kind__isnull=False)
        .values_list("kind")
        .annotate(
            n=Count("id"),
            late=Count("id", filter=Q(sampled_at__lt=late_before)),
            oldest=Min("sampled_at"),
            connections=Sum(open_connections),
        )
        .order_by("kind")
    )
    for kind, n, late, oldest, connections in rows:
        age = (now - oldest).total_seconds()
        for gauge, value in zip(gauges, (n, late, age, connections or 0), strict=True):
            gauge.add_metric([kind], value)
    yield from gauges


def _restarts() -> GaugeMetricFamily:
    """Return the gauge of incarnations that ended in the last hour without a plan, by kind.

    Planned are the restarts that metering noted (``restart_at``) and ends with the whole space.
    """
    gauge = GaugeMetricFamily(
        "waypost_instance_unplanned_ends",
        "Incarnations of instances that ended in the last hour, and that nobody planned",
        labels=["kind"],
    )
    rows = (
        MeteredSource.objects.filter(
            ended_at__gt=timezone.now() - _RECENTLY, ended_cleanly=False, restart_at__isnull=True
        )
        .annotate(kind=_KIND)
        .filter(kind__isnull=False)
        .values_list("kind")
        .annotate(n=Count("id"))
        .order_by("kind")
    )
    for kind, n in rows:
        gauge.add_metric([kind], n)
    return gauge
