"""The gauges of /metrics about mails that did not reach the mail server.

``controlplane.gauges`` yields these gauges with its own.
"""

from collections.abc import Iterator

from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from tenants.notifications import undelivered_mails


def families() -> Iterator[GaugeMetricFamily]:
    """Yield the gauges of this module with their present values, read by two queries."""
    found = undelivered_mails.count(timezone.now())
    yield GaugeMetricFamily(
        "waypost_mails_late", "Mails that wait for more than 15 minutes", value=found.late
    )
    yield GaugeMetricFamily(
        "waypost_mails_failed", "Mails that were given up in 24 hours", value=found.failed
    )
