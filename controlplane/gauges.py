"""The gauges of /metrics. Each is one grouped query, and the number of its labels is bounded.

Names of tenants never appear: a label is a phase, a type, a state or, for the fifty largest spaces
and tenants, an id. Called by ``controlplane.health`` only.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from django.db.models import Count, F, Max, Min
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from controlplane.core.models import Operation
from plans.models import Invoice, UsageCopy
from tenants import queries
from tenants.models import Address, AddressSpace, Tenant
from workers.models import LandingBatch

LARGEST = 50  # bounds the number of series that carry an id


class DatabaseCollector(Collector):
    """Reads every gauge from the database at each scrape."""

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: registering the collector must not query the database."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield all gauges with their present values."""
        yield _plain("waypost_tenants", "Tenants", Tenant.objects.count())
        yield _spaces()
        yield _addresses()
        yield _sampled_spaces()
        yield from _unreconciled()
        yield from _operations()
        yield _invoices()
        yield from _usage()
        yield _largest_spaces()
        yield _largest_tenants()


def _plain(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _spaces() -> GaugeMetricFamily:
    family = GaugeMetricFamily("waypost_spaces", "Address spaces", labels=["type", "phase"])
    rows = AddressSpace.objects.filter(deleted_at__isnull=True)
    for kind, phase, n in rows.values_list("type", "phase").annotate(n=Count("id")).order_by():
        family.add_metric([kind, phase], n)
    return family


def _sampled_spaces() -> GaugeMetricFamily:
    """Count the metered spaces; without any, old usage is normal and alerts on it stay silent."""
    sampled = queries.list_sampled_spaces().count()
    return _plain("waypost_spaces_sampled", "Spaces that are metered", sampled)


def _unreconciled() -> Iterator[GaugeMetricFamily]:
    waiting = AddressSpace.objects.filter(
        deleted_at__isnull=True, generation__gt=F("observed_generation")
    ).aggregate(n=Count("id"), oldest=Min("updated_at"))
    yield _plain(
        "waypost_spaces_unreconciled", "Spaces whose desired state is not applied", waiting["n"]
    )
    # ``updated_at`` is the time of the change: reconcile passes do not set it.
    yield _plain(
        "waypost_space_oldest_unreconciled_seconds",
        "Time since the oldest change of a space that is not applied",
        _age(waiting["oldest"]),
    )


def _age(since: datetime | None) -> float:
    return (timezone.now() - since).total_seconds() if since else 0


def _addresses() -> GaugeMetricFamily:
    family = GaugeMetricFamily("waypost_addresses", "Addresses", labels=["type", "phase"])
    rows = Address.objects.filter(deleted_at__isnull=True)
    for kind, phase, n in rows.values_list("type", "phase").annotate(n=Count("id")).order_by():
        family.add_metric([kind, phase], n)
    return family


def _operations() -> Iterator[GaugeMetricFamily]:
    running = Operation.objects.filter(state=Operation.State.RUNNING).aggregate(
        n=Count("id"), oldest=Min("created_at")
    )
    yield _plain("waypost_operations_running", "Operations under way", running["n"])
    yield _plain(
        "waypost_operation_oldest_running_seconds",
        "Age of the oldest running operation",
        _age(running["oldest"]),
    )


def _invoices() -> GaugeMetricFamily:
    family = GaugeMetricFamily("waypost_invoices", "Invoices", labels=["state"])
    rows = Invoice.objects.values_list("state").annotate(n=Count("id")).order_by()
    for state, n in rows:
        family.add_metric([state], n)
    return family


def _usage() -> Iterator[GaugeMetricFamily]:
    as_of = UsageCopy.objects.aggregate(as_of=Max("as_of"))["as_of"]
    if as_of is not None:
        # No gauge before the first copy: an age of 0 would look like fresh usage.
        yield _plain(
            "waypost_usage_as_of_age_seconds",
            "Age of the usage that pages and quotas read",
            _age(as_of),
        )
    yield _plain(
        "waypost_landing_batches_uncommitted",
        "Landed usage that is not in the Delta log yet",
        LandingBatch.objects.exclude(state=LandingBatch.State.COMMITTED).count(),
    )


def _largest_spaces() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "waypost_space_addresses", f"Addresses of the {LARGEST} largest spaces", labels=["space"]
    )
    living = Address.objects.filter(deleted_at__isnull=True)
    # The id breaks ties, so that the same spaces appear at each scrape.
    rows = living.values_list("space_id").annotate(n=Count("id")).order_by("-n", "space_id")
    for space, n in rows[:LARGEST]:
        family.add_metric([space], n)
    return family


def _largest_tenants() -> GaugeMetricFamily:
    family = GaugeMetricFamily(
        "waypost_tenant_spaces", f"Spaces of the {LARGEST} largest tenants", labels=["tenant"]
    )
    living = AddressSpace.objects.filter(deleted_at__isnull=True)
    rows = living.values_list("tenant_id").annotate(n=Count("id")).order_by("-n", "tenant_id")
    for tenant, n in rows[:LARGEST]:
        family.add_metric([tenant], n)
    return family
