"""Views of usage: the page with charts and tables, and the usage cells behind them as CSV.

A usage cell is the quantity of one space, address, meter and bucket (15 minutes).
"""

import csv
from collections.abc import Iterator
from urllib.parse import urlencode

from django.http import HttpResponseBase, StreamingHttpResponse
from django.utils import timezone

from controlplane.console import usage_tables, windows
from controlplane.console.access import tenant_page
from controlplane.console.scope import TenantScope
from controlplane.console.windows import Window
from controlplane.core.spreadsheets import harmless
from plans.usage import reading
from tenants import queries
from tenants.models import AddressSpace
from tenants.permissions import Permission


@tenant_page(Permission.VIEW)
def page(scope: TenantScope) -> HttpResponseBase:
    """Show the tenant's usage of a month by days, or of a day by hours, for all spaces or one.

    ``?window=`` names the month or day (default: this month), ``?space=`` the space.
    """
    window, chosen = _requested(scope)
    series = usage_tables.read(scope.tenant.id, window, chosen.id if chosen else "")
    context = {
        "window": window,
        "chosen": chosen,
        "as_of": reading.as_of(),
        "spaces": queries.list_spaces(scope.tenant),
        "panels": usage_tables.panels(series, window),
        "steps": usage_tables.steps(series, window, lambda day: _link(scope, day, chosen)),
        "breakdown": _breakdown(scope, window, chosen),
        "links": _links(scope, window, chosen),
    }
    return scope.render("usage/page.html", context)


@tenant_page(Permission.VIEW)
def cells(scope: TenantScope) -> HttpResponseBase:
    """Download every usage cell of the window as CSV, in base units.

    ``?window=`` and ``?space=`` select as on the usage page.
    """
    window, chosen = _requested(scope)
    rows = reading.cells(scope.tenant.id, window.starts_at, window.ends_at)
    names = queries.space_names(scope.tenant)
    # By id, because a deleted space may have the same name.
    kept = [cell for cell in rows if chosen is None or cell.space_id == chosen.id]
    lines = _lines(kept, names)
    name = f"waypost-usage-{scope.tenant.slug}-{window.key}.csv"
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _requested(scope: TenantScope) -> tuple[Window, AddressSpace | None]:
    query = scope.request.GET
    window = windows.parse(query.get("window", ""), scope.tenant.billing_time_zone, timezone.now())
    name = query.get("space", "")
    return window, queries.get_space(scope.tenant, name) if name else None


def _link(scope: TenantScope, key: str, chosen: AddressSpace | None, page: str = "usage") -> str:
    space = {"space": chosen.name} if chosen else {}
    return f"{scope.url(page)}?{urlencode({'window': key, **space})}"


def _links(scope: TenantScope, window: Window, chosen: AddressSpace | None) -> dict[str, str]:
    # There is no usage in the future, so the current window has no next one.
    is_current = window.ends_at > timezone.now()
    return {
        "previous": _link(scope, window.previous.key, chosen),
        "next": "" if is_current else _link(scope, window.next.key, chosen),
        "month": "" if window.kind == "month" else _link(scope, window.month.key, chosen),
        "csv": _link(scope, window.key, chosen, "usage_csv"),
    }


def _breakdown(
    scope: TenantScope, window: Window, chosen: AddressSpace | None
) -> list[usage_tables.Row]:
    bounds = (scope.tenant.id, window.starts_at, window.ends_at)
    if chosen:
        figures = reading.by_address(*bounds, space_id=chosen.id)
        return usage_tables.breakdown(
            figures,
            lambda figure: figure.address,
            # Meters of connections have an empty address.
            lambda address: (address or "the space as a whole", ""),
        )
    names = queries.space_names(scope.tenant)
    alive = {space.id for space in queries.list_spaces(scope.tenant)}

    def describe(space_id: str) -> tuple[str, str]:
        name = names.get(space_id, space_id)
        if space_id not in alive:  # it has usage but cannot be selected any more
            return f"{name} (deleted)", ""
        return name, f"{scope.url('usage')}?{urlencode({'window': window.key, 'space': name})}"

    return usage_tables.breakdown(reading.by_space(*bounds), lambda f: f.space_id, describe)


def _lines(cells: list[reading.UsageCell], names: dict[str, str]) -> Iterator[str]:
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
