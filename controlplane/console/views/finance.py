"""Views of what finance takes: the operators' page, and files of exports."""

from typing import IO

from django.contrib import messages
from django.http import FileResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from controlplane.console import report_tables, windows
from controlplane.console.access import staff_page, tenant_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.finance import CodeForm, MonthsForm
from controlplane.console.scope import Scope, StaffScope, TenantScope
from controlplane.core.downloads import attached
from controlplane.core.errors import Missing
from plans.export_kinds import INFO, MEDIA_TYPES, ExportKind, FileFormat
from plans.exports import account_codes, deferred_revenue, registry, tables
from plans.rating.periods import Period
from tenants.permissions import Permission


@staff_page
def page(scope: StaffScope) -> HttpResponseBase:
    """Show deferred revenue by month, files for accounting, and the codes of accounts."""
    return _page(scope, CodeForm())


@require_POST
@staff_page
def change_code(scope: StaffScope) -> HttpResponseBase:
    """Set or remove the code of one account; on an error the page is shown with it. POST only."""
    form = CodeForm(scope.request.POST)
    if form.is_valid():
        changed = form.attempt(
            account_codes.change,
            legal_entity=form.cleaned_data["legal_entity"],
            codes={form.cleaned_data["account"]: form.cleaned_data["code"]},
            by=scope.actor,
        )
        if changed is not None:
            messages.success(scope.request, "The code is stored. It counts from the next export.")
            return redirect(reverse("console:staff_finance"))
    return _page(scope, form)


@staff_page
def report(scope: StaffScope, report: str) -> HttpResponseBase:
    """Download a report as CSV: the one with this name, over what the query selects."""
    columns, rows = report_tables.named(report, scope.request.GET)
    return _file(tables.write(columns, rows, FileFormat.CSV), FileFormat.CSV, report)


@staff_page
def all_charges(scope: StaffScope, suffix: str) -> HttpResponseBase:
    """Download the charges of all tenants by FOCUS over ``?window=``, by default this month."""
    # ``focus`` reads the bounds of this month in the billing time zone of each invoice.
    return _export(scope, ExportKind.FOCUS, suffix, "UTC")


@tenant_page(Permission.VIEW)
def export(scope: TenantScope, kind: str, suffix: str) -> HttpResponseBase:
    """Download an export of the tenant over ``?window=``, as on the page of usage.

    Answers 404 if there is no such export, or if it shows money that the member may not see.
    """
    if kind not in INFO or (INFO[ExportKind(kind)].shows_money and not scope.may["view_billing"]):
        raise Missing("There is no such export that you may see.")
    return _export(scope, ExportKind(kind), suffix, scope.tenant.billing_time_zone)


def _export(scope: Scope, kind: ExportKind, suffix: str, zone: str) -> HttpResponseBase:
    if suffix not in list(FileFormat):
        raise Missing("There is no such file; the page of usage lists the formats.")
    window = windows.parse(scope.request.GET.get("window", ""), zone, timezone.now())
    format = FileFormat(suffix)
    period = Period(window.starts_at, window.ends_at)
    owner = scope.tenant.slug if scope.tenant else "all"
    return _file(
        registry.file(kind, format, period, scope.tenant), format, f"{kind}-{owner}-{window.key}"
    )


def _file(file: IO[bytes], format: FileFormat, name: str) -> FileResponse:
    return attached(file, f"waypost-{name}.{format}", MEDIA_TYPES[format])


def _page(scope: StaffScope, code: CodeForm) -> HttpResponseBase:
    form = MonthsForm(scope.request.GET)
    # If the months are wrong, the form says so, and the rest of the page is shown.
    months = form.attempt(lambda: deferred_revenue.report(*form.months())) or []
    window = windows.parse("", "UTC", timezone.now())
    context = {
        "form": form,
        "months": months,
        "disagreements": deferred_revenue.disagreements(months),
        "query": scope.request.GET.urlencode(),
        "windows": [window, window.previous],
        "formats": [(str(format), format.title()) for format in FileFormat],
        "codes": account_codes.Codes.read().by_key.items(),
        "code": code,
    }
    return scope.render("staff/finance.html", context, form_status(form, code))
