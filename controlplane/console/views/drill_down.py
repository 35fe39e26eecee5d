"""Views behind an invoice: a line by days and hours, its samples, and the change between two.

The tenant's pages and the operators' pages show the same; only their links differ. Samples are read
by a worker: the page requests a reading and shows it once it is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.dateparse import parse_datetime

from controlplane.console import charts, invoice_reads
from controlplane.console.access import staff_page, tenant_page
from controlplane.console.charts import Bar, BarChart
from controlplane.console.scope import Scope, StaffScope, TenantScope
from controlplane.core.errors import Invalid, WaypostError
from controlplane.core.models import Operation
from plans.invoicing import document, drill_down, explaining, sample_readings
from plans.invoicing.drill_down import DAY, DrillDown
from plans.invoicing.sample_readings import Hour
from plans.models import Invoice, ReadRow, SampleReading
from plans.rating.attribution import Share
from plans.rating.periods import Period, zone
from plans.usage import reading as usage_reading
from plans.usage.meters import BY_SLUG
from tenants.permissions import Permission

_TICKS = 7  # labels below a chart


@dataclass(frozen=True)
class _Links:
    """The URLs of an invoice's pages, for its tenant or for operators."""

    scope: Scope
    invoice: Invoice

    def to(self, page: str, *args: object, **query: str) -> str:
        """Return the URL of ``page``: invoice, invoice_line, invoice_samples or invoice_change."""
        if self.scope.tenant is not None:
            url = reverse(f"console:{page}", args=[self.scope.tenant.slug, self.invoice.pk, *args])
        else:
            url = reverse(f"console:staff_{page}", args=[self.invoice.pk, *args])
        return f"{url}?{urlencode(query)}" if query else url

    @property
    def name(self) -> str:
        return self.invoice.number or "Not numbered yet"

    @property
    def crumbs(self) -> list[tuple[str, str]]:
        tenant = self.scope.tenant
        listed = (
            reverse("console:invoices", args=[tenant.slug])
            if tenant
            else reverse("console:staff_invoices")
        )
        return [("Invoices", listed), (self.name, self.to("invoice"))]


@dataclass(frozen=True)
class _Row:
    """A step of a line as the page shows it; ``link`` leads to its hours or its samples."""

    label: str
    link: str
    used: Decimal
    included: Decimal
    billed: Decimal


@tenant_page(Permission.VIEW_BILLING)
def line(scope: TenantScope, invoice: str, position: int) -> HttpResponseBase:
    """Show the days of an invoice line, or with ``?day=`` the hours of one of its days."""
    return _line(scope, invoice_reads.get(scope.tenant, invoice), position)


@staff_page
def staff_line(scope: StaffScope, invoice: str, position: int) -> HttpResponseBase:
    """Show operators the days or hours of an invoice line of any tenant."""
    return _line(scope, invoice_reads.get(None, invoice), position)


@tenant_page(Permission.VIEW_BILLING)
def samples(scope: TenantScope, invoice: str) -> HttpResponseBase:
    """Show the samples of a part of the invoice's period; on POST request that they are read.

    ``?starts_at=`` and ``?ends_at=`` are the part; without them it is the whole period.
    """
    return _samples(scope, invoice_reads.get(scope.tenant, invoice))


@staff_page
def staff_samples(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Show operators the samples of a part of an invoice's period; POST requests to read them."""
    return _samples(scope, invoice_reads.get(None, invoice))


@tenant_page(Permission.VIEW_BILLING)
def change(scope: TenantScope, invoice: str) -> HttpResponseBase:
    """Show why the invoice differs from an earlier one, which ``?from=`` names."""
    return _change(scope, invoice_reads.get(scope.tenant, invoice))


@staff_page
def staff_change(scope: StaffScope, invoice: str) -> HttpResponseBase:
    """Show operators why an invoice differs from an earlier one of its tenant."""
    return _change(scope, invoice_reads.get(None, invoice))


def _line(scope: Scope, row: Invoice, position: int) -> HttpResponseBase:
    day = _day(scope.request.GET.get("day", ""))
    context: dict[str, Any] = {"links": (links := _Links(scope, row)), "day": day}
    try:
        found = drill_down.hours(row, position, day) if day else drill_down.days(row, position)
    # A line such as a fee has no days, and the page says why.
    except drill_down.NoUsageBehind as error:
        made = document.loaded(row.document)
        shown = drill_down.line_of(made, position)
        spaces = _spaces(shown, {space["space_id"]: space["space"] for space in made["usage"]})
        context |= {
            "line": shown,
            "why": error.message,
            "spaces": spaces,
            "currency": row.currency,
            "crumbs": links.crumbs,
            "crumb": shown["description"],
        }
        return scope.render("invoices/line.html", context)
    rows = [_row(found, share, links, position) for share in found.steps]
    back = [(found.usage.line["description"], links.to("invoice_line", position))] if day else []
    context |= {
        "found": found,
        "line": found.usage.line,
        "rows": rows,
        "chart": _chart(found, rows),
        "totals": _totals(found, rows),
        "currency": row.currency,
        "crumbs": [*links.crumbs, *back],
        "crumb": f"{day:%-d %B %Y}" if day else found.usage.line["description"],
        "samples_url": links.to("invoice_samples", **_query(found.usage.window)),
    }
    return scope.render("invoices/line.html", context)


def _row(found: DrillDown, share: Share, links: _Links, position: int) -> _Row:
    usage, part = found.usage, found.part(share)
    # The days of an invoice begin at midnight in its billing time zone.
    local = part.starts_at.astimezone(zone(usage.time_zone))
    if found.step == DAY:
        label = f"{local:%a %-d %b}"
        link = links.to("invoice_line", position, day=local.date().isoformat())
    else:
        label, link = f"{local:%H:%M}", links.to("invoice_samples", **_query(part))
    billed = usage.billed_units(share.billed)
    return _Row(label, link, usage.units(share.used), usage.units(share.included), billed)


def _totals(found: DrillDown, rows: Sequence[_Row]) -> _Row:
    used = [row.used for row in rows]
    # The peak of a period is the highest of its steps.
    total = max(used, default=Decimal(0)) if found.usage.is_peak else sum(used, Decimal(0))
    included, billed = (
        sum((getattr(row, name) for row in rows), Decimal(0)) for name in ("included", "billed")
    )
    return _Row("Highest" if found.usage.is_peak else "Sum", "", total, included, billed)


def _chart(found: DrillDown, rows: Sequence[_Row]) -> BarChart:
    every = max(1, -(-len(rows) // _TICKS))
    bars = [Bar(row.label, row.used, row.label if n % every == 0 else "")
            for n, row in enumerate(rows)]  # fmt: skip
    title = f"{found.usage.line['description']} by {found.step}"
    return BarChart("line", title, found.usage.unit, bars)


def _spaces(line: dict[str, Any], names: dict[str, str]) -> list[tuple[str, str, int]]:
    """Return (space, hours as text, amount in minor units) of a line of hours; [] for others."""
    if line["kind"] != "lifetime":
        return []
    return [
        (
            names.get(row["space_id"], row["space_id"]),
            charts.words(Decimal(row["used_base"]) / line["detail"]["base_per_unit"]),
            row["amount_minor"],
        )
        for row in line["detail"].get("spaces", [])
    ]


def _samples(scope: Scope, row: Invoice) -> HttpResponseBase:
    part, links = _part(scope, row), _Links(scope, row)
    if scope.request.method == "POST":
        sample_readings.request(invoice=row, part=part, by=scope.actor)
        return redirect(links.to("invoice_samples", **_query(part)))
    reading = sample_readings.find(row, part)
    operation = sample_readings.operation_of(reading) if reading else None
    names = {space["space_id"]: space["space"] for space in document.loaded(row.document)["usage"]}
    context = {
        "links": links,
        "part": part,
        "is_whole": part == Period(row.starts_at, row.ends_at),
        "reading": reading,
        "operation": operation,
        "polls": operation is not None and operation.state == Operation.State.RUNNING,
        "here": scope.request.get_full_path(),
        "crumbs": links.crumbs,
        "manifest": row.manifest,
        "most_rows": sample_readings.MOST_ROWS,
        "whole_url": links.to("invoice_samples"),
        **(_read(scope, reading, row, names, links) if reading and reading.finished_at else {}),
    }
    return scope.render("invoices/samples.html", context)


def _read(
    scope: Scope, reading: SampleReading, row: Invoice, names: dict[str, str], links: _Links
) -> dict[str, Any]:
    """Return the context of a reading that is finished."""
    hours = [Hour.from_plain(hour) for hour in reading.hours]
    # An invoice that an early version drafted stores no zone in its row.
    time_zone = zone(row.time_zone or "UTC")
    in_gold: dict[str, int] = {}
    for hour in hours:
        for meter, quantity in hour.used.items():
            # Not a sum: of peaks, ``merged`` keeps the highest.
            in_gold[meter] = usage_reading.merged(meter, in_gold.get(meter, 0), quantity)
    counters = scope.page_of(
        reading.rows.filter(kind=ReadRow.Kind.COUNTER).order_by("position"), name="counters"
    )
    return {
        "hours": [
            (
                f"{hour.starts_at.astimezone(time_zone):%a %-d %b %H:%M}",
                links.to("invoice_samples", **_query(_hour(reading, hour))),
                hour,
            )
            for hour in hours
        ],
        "meters": [
            (BY_SLUG[meter].title, in_gold.get(meter, 0), reading.from_samples.get(meter, 0))
            for meter in BY_SLUG
            if in_gold.get(meter) or reading.from_samples.get(meter)
        ],
        "counters": [_counter(counter.values, names) for counter in counters],
        "counter_pages": counters,
        "samples": scope.page_of(
            reading.rows.filter(kind=ReadRow.Kind.SAMPLE).order_by("position")
        ),
    }


def _hour(reading: SampleReading, hour: Hour) -> Period:
    ends_at = datetime.fromtimestamp(hour.starts_at.timestamp() + 3600, UTC)
    # The first and the last hour may be in the reading only in part.
    part = Period(reading.starts_at, reading.ends_at).clip(hour.starts_at, ends_at)
    return part or Period(reading.starts_at, reading.ends_at)


def _counter(values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return a counter for display: its space by name, and a line for each meter."""
    meters = [
        (BY_SLUG[meter].title, reached["before"], reached["after"], reached["used"])
        for meter, reached in values["meters"].items()
    ]
    instance = values["source"].partition("/")[2]
    space = names.get(values["space_id"], values["space_id"])
    return {**values, "space": space, "instance": instance, "reached": meters}


def _change(scope: Scope, row: Invoice) -> HttpResponseBase:
    older = scope.request.GET.get("from", "")[:64]
    # An invoice without a currency has no document yet, so nothing to compare.
    known = invoice_reads.of(row.tenant).exclude(pk=row.pk).exclude(currency="")
    choices = list(known[:24])
    earlier = [choice for choice in choices if choice.starts_at < row.starts_at]
    chosen = older or (earlier[0].pk if earlier else "")
    links = _Links(scope, row)
    context: dict[str, Any] = {
        "links": links,
        "crumbs": links.crumbs,
        "choices": choices,
        "chosen": chosen,
        "row": row,
    }
    if chosen:
        try:
            context["change"] = explaining.explain(row.tenant, chosen, row.pk)
            context["titles"] = {c.value: words for c, words in explaining.TITLES.items()}
        except WaypostError as error:
            context["problem"] = error.message
    return scope.render("invoices/change.html", context)


def _part(scope: Scope, row: Invoice) -> Period:
    """Return the part of the invoice's period that the query names.

    Raises:
        Invalid: a time in the query is not valid, or has no time zone.
    """
    query, bounds = scope.request.GET, []
    for name, default in (("starts_at", row.starts_at), ("ends_at", row.ends_at)):
        try:
            # Django raises for a time that cannot be, such as hour 25, and else returns None.
            found = parse_datetime(query[name]) if query.get(name) else default
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise Invalid(
                "The link names no time: go back and follow it again.", code="usage.window"
            )
        bounds.append(found)
    return Period(*bounds)


def _query(part: Period) -> dict[str, str]:
    ends = {"starts_at": part.starts_at, "ends_at": part.ends_at}
    return {name: end.astimezone(UTC).isoformat() for name, end in ends.items()}


def _day(text: str) -> date | None:
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise Invalid(
            "The link names no day: go back and follow it again.", code="usage.window"
        ) from None
