"""The operator's page of the pipeline: its lag, what waits, its runs, and quarantined samples."""

from django.http import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from controlplane import pipeline_reads
from controlplane.console import pipeline_charts
from controlplane.console.access import staff_page
from controlplane.console.scope import NavItem, StaffScope

_RUNS = 20  # of a page


@staff_page
def page(scope: StaffScope) -> HttpResponseBase:
    """Show the pipeline now, charts over ``?span=``, its runs, and the last housekeeping.

    Without a known span the charts cover the last 24 hours.
    """
    now = timezone.now()
    span = scope.request.GET.get("span", "")
    span = span if span in pipeline_reads.SPANS else "24h"
    own = reverse("console:staff_pipeline")
    context = {
        "state": pipeline_reads.state(now),
        "spans": [
            NavItem(title, f"{own}?span={key}", key == span)
            for key, title in pipeline_charts.TITLES.items()
        ],
        "span_title": pipeline_charts.TITLES[span],
        "shown": pipeline_charts.build(pipeline_reads.history(span, now), span),
        "page": scope.page_of(pipeline_reads.runs(), _RUNS),
    }
    return scope.render("staff/pipeline.html", context)


@staff_page
def quarantine(scope: StaffScope) -> HttpResponseBase:
    """List the newest quarantined samples with their reason; ``?reason=`` selects one reason."""
    counted = pipeline_reads.by_reason()
    reason = scope.request.GET.get("reason", "")
    reason = reason if reason in pipeline_reads.REASONS else ""
    own = reverse("console:staff_quarantine")
    context = {
        "page": scope.page_of(pipeline_reads.quarantined(reason)),
        "reasons": [
            NavItem("All", own, not reason),
            *(
                NavItem(f"{key} ({n})", f"{own}?reason={key}", key == reason)
                for key, n in counted.items()
            ),
        ],
        "meaning": pipeline_reads.REASONS.get(reason, ""),
    }
    return scope.render("staff/quarantine.html", context)
