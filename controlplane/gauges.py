"""The gauges of /metrics: counts and ages, read from the database by aggregate queries.

The number of time series is bounded: most labels are a phase, a type, a state or the like. Ids are
labels only in gauges of the fifty largest spaces and tenants, and in those of ``engine_gauges``
about the fifty instances or spaces that are worst off. Names of tenants never appear.
``controlplane.health`` serves the gauges of this module, of ``lakehouse_gauges``,
``messaging_gauges``, ``engine_gauges`` and ``mail_gauges``.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Manager, Min, QuerySet
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from controlplane import engine_gauges, lakehouse_gauges, mail_gauges, messaging_gauges
from controlplane.core.models import Operation
from plans.models import Invoice
from tenants import queries
from tenants.models import Address, AddressSpace, Tenant

LARGEST = 50  # bounds the number of series that carry an id
# Rows of deleted spaces and addresses stay in the database, because their usage is billed later.
# The gauges leave them out. Query sets are lazy, so the import runs no query.
_LIVING_SPACES = AddressSpace.objects.filter(deleted_at__isnull=True)
_LIVING_ADDRESSES = Address.objects.filter(deleted_at__isnull=True)


class DatabaseCollector(Collector):
    """A Prometheus collector of all gauges of /metrics. Each scrape reads them from the database.

    Register it with a ``CollectorRegistry``; ``generate_latest`` then calls ``collect``.
    """

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Return nothing: registering the collector must not query the database."""
        return []

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield all gauges with their present values, those of the other modules included."""
        yield GaugeMetricFamily("waypost_tenants", "Tenants", value=Tenant.objects.count())
        yield from self._spaces_and_addresses()
        yield from self._waiting()
        yield _grouped(Invoice.objects, "waypost_invoices", "Invoices", {"state": "state"})
        yield from lakehouse_gauges.families()
        yield from self._largest()
        yield from messaging_gauges.families()
        yield from engine_gauges.families()
        yield from mail_gauges.families()

    def _spaces_and_addresses(self) -> Iterator[GaugeMetricFamily]:
        by_phase = {"type": "type", "phase": "phase"}
        yield _grouped(_LIVING_SPACES, "waypost_spaces", "Address spaces", by_phase)
        yield _grouped(_LIVING_ADDRESSES, "waypost_addresses", "Addresses", by_phase)
        # While no space is metered, the usage grows old without a fault. Alerts on its age read
        # this gauge to stay silent then.
        yield GaugeMetricFamily(
            "waypost_spaces_sampled",
            "Spaces that are metered",
            value=queries.list_sampled_spaces().count(),
        )

    def _waiting(self) -> Iterator[GaugeMetricFamily]:
        """Yield the numbers of unreconciled spaces and running operations, and the largest ages.

        A space is unreconciled while workers have not applied its generation. Its age is the time
        since its last change. The age of an operation is the time since it began. Without a space
        or operation, the age is 0.
        """
        spaces = _LIVING_SPACES.filter(generation__gt=F("observed_generation")).aggregate(
            n=Count("id"), oldest=Min("updated_at")
        )
        yield GaugeMetricFamily(
            "waypost_spaces_unreconciled",
            "Spaces whose desired state is not applied",
            value=spaces["n"],
        )
        # ``updated_at`` is the time of the space's last change: reconcile passes do not set it.
        yield GaugeMetricFamily(
            "waypost_space_oldest_unreconciled_seconds",
            "Time since the oldest change of a space that is not applied",
            value=_age(spaces["oldest"]),
        )
        operations = Operation.objects.filter(state=Operation.State.RUNNING).aggregate(
            n=Count("id"), oldest=Min("created_at")
        )
        yield GaugeMetricFamily(
            "waypost_operations_running", "Operations under way", value=operations["n"]
        )
        yield GaugeMetricFamily(
            "waypost_operation_oldest_running_seconds",
            "Age of the oldest running operation",
            value=_age(operations["oldest"]),
        )

    def _largest(self) -> Iterator[GaugeMetricFamily]:
        yield _grouped(
            _LIVING_ADDRESSES,
            "waypost_space_addresses",
            f"Addresses of the {LARGEST} largest spaces",
            {"space": "space_id"},
            largest=LARGEST,
        )
        yield _grouped(
            _LIVING_SPACES,
            "waypost_tenant_spaces",
            f"Spaces of the {LARGEST} largest tenants",
            {"tenant": "tenant_id"},
            largest=LARGEST,
        )


def _grouped(
    rows: Manager[Any] | QuerySet[Any],
    name: str,
    text: str,
    labels: Mapping[str, str],
    largest: int | None = None,
) -> GaugeMetricFamily:
    """Return the gauge ``name``, which counts ``rows`` in groups, by one query.

    ``labels`` maps each label of the gauge to a column of ``rows``. A group is the rows with the
    same values in these columns. With ``largest``, only that many groups appear: those with the
    most rows. ``text`` is the help text of the gauge.
    """
    family = GaugeMetricFamily(name, text, labels=list(labels))
    columns = list(labels.values())
    # The columns break ties, so that the same groups appear at each scrape.
    counted = rows.values_list(*columns).annotate(n=Count("id")).order_by("-n", *columns)
    for *values, n in counted[:largest]:
        family.add_metric(values, n)
    return family


def _age(since: datetime | None) -> float:
    return (timezone.now() - since).total_seconds() if since else 0
