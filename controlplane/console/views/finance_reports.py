"""The operator's views of reports of finance: receivables, periods without an invoice, tax."""

from django.http import HttpResponseBase
from django.utils import timezone

from controlplane.console.access import staff_page
from controlplane.console.forms.base import form_status
from controlplane.console.forms.finance import DayForm, MonthForm, MonthsForm
from controlplane.console.scope import StaffScope
from plans.exports import aged_receivables, periods_without_invoice, tax_report
from tenants import queries

_MOST = 200  # rows of a table; the file has all


@staff_page
def receivables(scope: StaffScope) -> HttpResponseBase:
    """Show what tenants owed on ``?as_of=``, by the age of the debt; by default today."""
    form, now = DayForm.of(scope.request.GET), timezone.now()
    # If the day is wrong, the form says so, and the page has no table.
    day = form.attempt(form.day)
    context = {
        "form": form,
        "day": day,
        "groups": aged_receivables.report(day, now) if day else [],
        "most": _MOST,
        "query": scope.request.GET.urlencode(),
    }
    return scope.render("staff/receivables.html", context, form_status(form))


@staff_page
def open_items(scope: StaffScope, tenant: str) -> HttpResponseBase:
    """Show the invoices of which a tenant owed something on ``?as_of=``; by default today."""
    form, now, row = DayForm.of(scope.request.GET), timezone.now(), queries.get_tenant(tenant)
    day = form.attempt(form.day)
    context = {
        "form": form,
        "day": day,
        "tenant": row,
        "items": aged_receivables.open_items(day, now, row) if day else [],
        "query": scope.request.GET.urlencode(),
    }
    return scope.render("staff/open_items.html", context, form_status(form))


@staff_page
def periods(scope: StaffScope) -> HttpResponseBase:
    """Show what is missing of ``?month=``, by default of the last month that has ended."""
    form = MonthForm.of(scope.request.GET)
    month = form.attempt(form.first_day)
    context = {
        "form": form,
        "report": periods_without_invoice.report(month, timezone.now()) if month else None,
        "most": _MOST,
        "query": scope.request.GET.urlencode(),
    }
    return scope.render("staff/periods_without_invoice.html", context, form_status(form))


@staff_page
def tax(scope: StaffScope) -> HttpResponseBase:
    """Show VAT by country and rate, and reverse charge, of ``?first=`` to ``?last=``."""
    form = MonthsForm.of(scope.request.GET)
    context = {
        "form": form,
        "report": form.attempt(lambda: tax_report.report(*form.months())),
        "most": _MOST,
        "query": scope.request.GET.urlencode(),
    }
    return scope.render("staff/tax_report.html", context, form_status(form))
