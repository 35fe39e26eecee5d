"""/tenants/{tenant}/metrics: a tenant's spaces, addresses and quotas for its own Prometheus.

Only a token of the tenant may read the metrics; a person's login may not. At most
``MOST_ADDRESSES`` addresses appear, and ``waypost_addresses_left_out`` is the number of the others.
All values come from the database, where the workers have stored them.
"""

from collections.abc import Iterator, Sequence

from django.db.models import Count, IntegerField, Max, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from rest_framework.request import Request

from controlplane.api import authentication, quotas, schema
from controlplane.api.authentication import TokenPrincipal
from controlplane.api.views import TenantView
from controlplane.core.errors import Denied
from tenants import live_readings
from tenants.live_readings import LiveReading
from tenants.models import AddressSpace, Tenant
from tenants.permissions import Permission
from workers.models import MeteredSource

MOST_ADDRESSES = 2000  # in one answer
# The names of fields of ``LiveReading`` and of its ``gauges``.
_COUNTERS = {"messages_in": "Messages received", "messages_out": "Messages delivered"}
_GAUGES = {
    "depth": "Stored messages",
    "stored_bytes": "Stored bytes",
    "delivering": "Messages that are delivered and not acknowledged",
    "consumers": "Consumers",
    "producers": "Producers",
    "dead_lettered": "Dead letters since the start of the engines",
}


class TenantMetricsView(TenantView):
    """Answers with the metrics of one tenant, for Prometheus."""

    needs = {"GET": Permission.VIEW}

    @schema.describe("Get metrics", response={(200, "text/plain"): OpenApiTypes.STR})
    def get(self, request: Request, tenant: str) -> HttpResponse:
        """Return spaces, addresses and quotas of the tenant in Prometheus' text format.

        Send a token of the tenant: a person's login is refused (403). The messages in and out of an
        address are counted since its first sample. The answer names at most 2,000 addresses.
        `waypost_addresses_left_out` is the number of other addresses, such as those without a
        sample.
        """
        if not isinstance(authentication.caller(request), TokenPrincipal):
            raise Denied("Only a tenant's token reads metrics: create one with the role viewer.")
        registry = CollectorRegistry()
        registry.register(TenantCollector(self.tenant))
        return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class TenantCollector(Collector):
    """A Prometheus collector of the metrics of one tenant.

    It reads the database by a number of queries that does not depend on the size of the tenant.
    """

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant

    def describe(self) -> Sequence[Metric]:
        """Return nothing: registering the collector must not query the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the tenant's spaces, of their addresses, and of its quotas.

        Values of spaces and addresses are those of the newest stored samples.
        """
        living = Q(addresses__deleted_at__isnull=True)
        spaces = list(
            AddressSpace.objects.filter(tenant=self._tenant, deleted_at__isnull=True)
            .annotate(n_addresses=Count("addresses", filter=living))
            .order_by("name")
        )
        yield from _spaces(spaces)
        yield from _addresses(spaces)
        yield from self._quotas()

    def _quotas(self) -> Iterator[Metric]:
        used = GaugeMetricFamily("waypost_quota_used", "Use of a quota", labels=["resource"])
        limit = GaugeMetricFamily("waypost_quota_limit", "Limit of a quota", labels=["resource"])
        for row in quotas.rows(self._tenant, with_money=False):
            used.add_metric([row["resource"]], row["used"])
            if row["limit"] is not None:
                limit.add_metric([row["resource"]], row["limit"])
        yield from (used, limit)


def _spaces(spaces: Sequence[AddressSpace]) -> Iterator[Metric]:
    phase = GaugeMetricFamily("waypost_space_phase", "1", labels=["space", "type", "phase"])
    held = GaugeMetricFamily("waypost_space_addresses", "Addresses of a space", labels=["space"])
    age = GaugeMetricFamily(
        "waypost_space_sample_age_seconds", "Age of the newest sample", labels=["space"]
    )
    connections = GaugeMetricFamily(
        "waypost_space_connections", "Open connections", labels=["space"]
    )
    names = {space.pk: space.name for space in spaces}
    for space in spaces:
        phase.add_metric([space.name, space.type, space.phase], 1)
        held.add_metric([space.name], _held(space))
    sources = MeteredSource.objects.filter(
        space_id__in=names, ended_at__isnull=True, sampled_at__isnull=False
    ).exclude(source__endswith="/space")
    opened = Cast(KeyTextTransform("connections", "integrals"), IntegerField())
    rows = sources.values("space_id").annotate(newest=Max("sampled_at"), open=Sum(opened))
    for row in rows:
        name = names[row["space_id"]]
        age.add_metric([name], (timezone.now() - row["newest"]).total_seconds())
        connections.add_metric([name], row["open"] or 0)
    yield from (phase, held, age, connections)


def _addresses(spaces: Sequence[AddressSpace]) -> Iterator[Metric]:
    labels = ["space", "address"]
    counters = {
        name: CounterMetricFamily(f"waypost_address_{name}", text, labels=labels)
        for name, text in _COUNTERS.items()
    }
    gauges = {
        name: GaugeMetricFamily(f"waypost_address_{name}", text, labels=labels)
        for name, text in _GAUGES.items()
    }
    shown = 0
    for space, address, reading in _readings(spaces):
        shown += 1
        for name, counter in counters.items():
            counter.add_metric([space.name, address], getattr(reading, name))
        for name, gauge in gauges.items():
            value = getattr(reading.gauges, name)
            if value is not None:  # None: the engines cannot know the value
                gauge.add_metric([space.name, address], value)
    yield from (*counters.values(), *gauges.values())
    yield GaugeMetricFamily(
        "waypost_addresses_left_out",
        "Addresses without a reading, or over the limit of this page",
        value=sum(_held(space) for space in spaces) - shown,
    )


def _readings(spaces: Sequence[AddressSpace]) -> Iterator[tuple[AddressSpace, str, LiveReading]]:
    """Yield (space, name of the address, newest reading) of addresses of ``spaces``.

    Yields ``MOST_ADDRESSES`` at most, and none without a reading. The order is that of ``spaces``
    and then by name, so that the same addresses appear at each scrape.
    """
    found = live_readings.of_spaces([space.pk for space in spaces], MOST_ADDRESSES)
    for space in spaces:
        for address, reading in found.get(space.pk, {}).items():
            yield space, address, reading


def _held(space: AddressSpace) -> int:
    return int(vars(space)["n_addresses"])
