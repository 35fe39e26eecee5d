"""The tables of finance that operators download, by the names in their paths."""

from collections.abc import Iterable, Sequence

from django.http import QueryDict
from django.utils import timezone

from controlplane.console.forms.finance import DayForm, MonthForm, MonthsForm
from controlplane.core.errors import Missing
from plans.exports import (
    aged_receivables,
    deferred_revenue,
    journal,
    periods_without_invoice,
    tax_report,
)
from plans.exports.tables import Column, Row


def named(report: str, query: QueryDict) -> tuple[Sequence[Column], Iterable[Row]]:
    """Return the columns and the rows of the report with this name, over what ``query`` selects.

    Raises:
        Missing: there is no such report.
        Invalid: the query names no day or month, or one that the report does not take.
    """
    now = timezone.now()
    match report:
        case "journal":
            after = query.get("after", "0")
            # Up to 18 digits fit into the bigint of the ids; PostgreSQL refuses larger numbers.
            number = int(after) if after.isdecimal() and len(after) < 19 else 0
            return journal.COLUMNS, journal.all_rows(number)
        case "deferred-revenue":
            months = deferred_revenue.report(*MonthsForm(query).months())
            return deferred_revenue.COLUMNS, (month.row() for month in months)
        case "aged-receivables":
            day = DayForm(query).day()
            groups = aged_receivables.report(day, now)
            return aged_receivables.COLUMNS, aged_receivables.rows(day, groups)
        case "periods-without-invoice":
            found = periods_without_invoice.report(MonthForm(query).first_day(), now)
            return periods_without_invoice.COLUMNS, found.rows()
        case "tax-report":
            rates = tax_report.report(*MonthsForm(query).months()).rates
            return tax_report.COLUMNS, (one.row() for one in rates)
        case "reverse-charge":
            taxes = tax_report.report(*MonthsForm(query).months())
            return tax_report.CUSTOMER_COLUMNS, taxes.customer_rows()
    raise Missing("There is no such report; the page Finance lists them.")
