"""Views of usage: the page with charts and tables, and the usage cells behind them as CSV.

A usage cell is the quantity of one space, address, meter and bucket (15 minutes).
"""

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from django.http import HttpResponseBase, StreamingHttpResponse
from django.urls import reverse
from django.utils import timezone

from controlplane.console import limits, meters, usage_tables
from controlplane.console.access import tenant_page
from controlplane.console.formats import AT_QUOTA
from controlplane.console.forms.base import form_status
from controlplane.console.forms.usage import UsageForm
from controlplane.console.meters import Shown
from controlplane.console.scope import TenantScope
from controlplane.console.windows import Window
from controlplane.core.errors import Invalid
from controlplane.core.spreadsheets import harmless
from plans.export_kinds import INFO, FileFormat
from plans.invoicing import month_costs
from plans.quotas import standings
from plans.quotas.enforcement import amount_words
from plans.quotas.resources import words
from plans.quotas.standings import Standing
from plans.rating.periods import Period
from plans.usage import reading
from tenants import queries
from tenants.models import AddressSpace
from tenants.permissions import Permission


@dataclass(frozen=True)
class _Request:
    """What a request for usage selects.

    ``space`` is None for all spaces. ``address`` is '' for all addresses.
    """

    form: UsageForm
    space: AddressSpace | None
    address: str

    @property
    def window(self) -> Window:
        return self.form.chosen

    def selects(self, cell: reading.UsageCell) -> bool:
        """Return whether the space and the address of ``cell`` are selected."""
        # By id, because a deleted space may have the same name.
        is_space = self.space is None or cell.space_id == self.space.id
        return is_space and self.address in ("", cell.address)


@dataclass(frozen=True)
class Quota:
    """A monthly limit as the page shows it; all are texts."""

    title: str
    used: str
    landed: str
    tail: str
    limit: str
    action: str

    @classmethod
    def of(cls, standing: Standing) -> "Quota":
        used, landed, tail, limit = (
            amount_words(standing.resource, amount, standing.currency)
            for amount in (
                standing.used,
                standing.use.landed,
                standing.use.tail,
                standing.limit or 0,
            )
        )
        title = words(standing.resource)
        title = f"{title[:1].upper()}{title[1:]}"
        return cls(title, used, landed, tail, limit, AT_QUOTA[standing.at_quota])


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the tenant's usage of a month or some days by days, or of a day by hours.

    ``?window=`` names the month, the day or the range (default: this month); ``?since=`` and
    ``?until=`` are its days. ``?space=`` and ``?address=`` select one space and one address in it.
    Members who may see amounts also see what a month costs, by space or by the label ``?label=``.
    """
    asked = _requested(scope)
    window, chosen, now = asked.window, asked.space, timezone.now()
    wanted = meters.relevant(limits.named_meters(scope.tenant))
    space_id = chosen.id if chosen else ""
    series = usage_tables.read(scope.tenant.id, window, space_id, asked.address, wanted)
    key, spaces = scope.request.GET.get("label", ""), list(queries.list_spaces(scope.tenant))
    quotas: list[Quota] = []
    # Quotas count the use of the current month, so they say nothing about another window.
    if window.starts_at <= now < window.ends_at:
        found = standings.of_tenant(scope.tenant, now, with_money=scope.may["view_billing"])
        quotas = [Quota.of(quota) for quota in found if quota.limit is not None]
    context = {
        "form": asked.form,
        "window": window,
        "chosen": chosen,
        "address": asked.address,
        "as_of": reading.as_of(),
        "alerts": limits.alerts(scope.tenant, with_money=scope.may["view_billing"]),
        "quotas": quotas,
        "spaces": spaces,
        "panels": usage_tables.panels(series, window),
        "steps": usage_tables.steps(series, window, lambda day: _link(scope, day, asked)),
        "breakdown": _breakdown(scope, asked, {space.id for space in spaces}, wanted),
        "exports": _exports(scope, window),
        "links": _links(scope, asked, now),
        "costs": month_costs.of_month(
            scope.tenant, Period(window.starts_at, window.ends_at), key, now
        )
        if scope.may["view_billing"] and chosen is None and window.kind == "month"
        else None,
    }
    return scope.render("usage/page.html", context, form_status(asked.form))


@tenant_page(Permission.VIEW)
def cells(scope: TenantScope) -> HttpResponseBase:
    """Download every usage cell of the window as CSV, in base units.

    The query string selects as on the usage page.

    Raises:
        Invalid: the query names no valid window. Missing: there is no such space.
    """
    asked = _requested(scope)
    if not asked.form.is_valid():
        raise Invalid(" ".join(asked.form.problems), code="usage.window")
    window = asked.window
    rows = reading.cells(scope.tenant.id, window.starts_at, window.ends_at)
    # Before the response begins: an error in a stream can no longer become an error page.
    names = queries.space_names(scope.tenant)
    lines = _lines((cell for cell in rows if asked.selects(cell)), names)
    name = f"waypost-usage-{scope.tenant.slug}-{window.key}.csv"
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _requested(scope: TenantScope) -> _Request:
    """Return what the request selects.

    Raises:
        Missing: there is no such space.
    """
    query = scope.request.GET
    form = UsageForm(query, zone=scope.tenant.billing_time_zone, now=timezone.now())
    name = query.get("space", "")
    space = queries.get_space(scope.tenant, name) if name else None
    return _Request(form, space, query.get("address", "")[:255] if space else "")


def _link(scope: TenantScope, key: str, asked: _Request, page: str = "usage") -> str:
    values = {
        "window": key,
        "space": asked.space.name if asked.space else "",
        "address": asked.address,
    }
    shown = {name: value for name, value in values.items() if value}
    return f"{scope.url(page)}?{urlencode(shown)}"


def _links(scope: TenantScope, asked: _Request, now: datetime) -> dict[str, str]:
    window = asked.window
    # There is no usage in the future, so the current window has no next one.
    is_current = window.ends_at > now
    return {
        "previous": _link(scope, window.previous.key, asked),
        "next": "" if is_current else _link(scope, window.next.key, asked),
        "month": "" if window.kind == "month" else _link(scope, window.month.key, asked),
        "csv": _link(scope, window.key, asked, "usage_csv"),
    }


def _exports(scope: TenantScope, window: Window) -> list[tuple[str, str]]:
    """Return (title, URL) of each file of an export over ``window`` that the member may see."""
    query, slug = urlencode({"window": window.key}), scope.tenant.slug
    return [
        (
            f"{info.title}, {format.title()}",
            f"{reverse('console:export', args=[slug, kind, format])}?{query}",
        )
        for kind, info in INFO.items()
        if scope.may["view_billing"] or not info.shows_money
        for format in FileFormat
    ]


def _breakdown(
    scope: TenantScope, asked: _Request, alive: Collection[str], columns: Sequence[Shown]
) -> list[usage_tables.Row]:
    """Return a row for each space or address; ``alive`` are the ids of spaces that are left."""
    window = asked.window
    bounds = (scope.tenant.id, window.starts_at, window.ends_at)
    if asked.space:
        found = reading.by_address(*bounds, space_id=asked.space.id)
        return _by_address(scope, asked, found, columns)
    names = queries.space_names(scope.tenant)

    def describe(space_id: str) -> tuple[str, str]:
        name = names.get(space_id, space_id)
        if space_id not in alive:  # it has usage but cannot be selected any more
            return f"{name} (deleted)", ""
        return name, f"{scope.url('usage')}?{urlencode({'window': window.key, 'space': name})}"

    found = reading.by_space(*bounds)
    return usage_tables.breakdown(found, lambda f: f.space_id, describe, columns)


def _by_address(
    scope: TenantScope,
    asked: _Request,
    figures: list[reading.Figure],
    columns: Sequence[Shown],
) -> list[usage_tables.Row]:
    """Return a row for each address of the chosen space, or for the chosen address alone."""

    def describe(address: str) -> tuple[str, str]:
        if not address:  # meters of connections belong to no address
            return "the space as a whole", ""
        return address, _link(scope, asked.window.key, replace(asked, address=address))

    wanted = [figure for figure in figures if asked.address in ("", figure.address)]
    return usage_tables.breakdown(wanted, lambda figure: figure.address, describe, columns)


def _lines(cells: Iterable[reading.UsageCell], names: dict[str, str]) -> Iterator[str]:
    # ``writerow`` returns the result of ``write``, which is the finished line.
    writer = csv.writer(_Echo())
    yield writer.writerow(["bucket_at", "space_id", "space", "address", "meter", "quantity"])
    for cell in cells:
        yield writer.writerow(
            [
                cell.bucket_at.isoformat(),
                cell.space_id,
                # Text that a spreadsheet would run as a formula gets an apostrophe.
                harmless(names.get(cell.space_id, "")),
                harmless(cell.address),
                cell.meter,
                cell.quantity,
            ]
        )


class _Echo:
    """A file-like object for ``csv.writer`` that returns each line instead of storing it."""

    def write(self, line: str) -> str:
        return line
