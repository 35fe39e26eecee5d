"""Forms of the operators' page of finance."""

from datetime import date
from typing import Self

from django import forms
from django.http import QueryDict
from django.utils import timezone

from controlplane.console.forms.base import ConsoleForm
from plans.exports import account_codes, report_days


class MonthsForm(ConsoleForm):
    """Asks for the first and the last month of a report, such as 2026-11; default: 12 months."""

    first = forms.CharField(label="From", required=False, max_length=7)
    last = forms.CharField(label="To", required=False, max_length=7)

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Return the form of a page's query, which shows the months also without any in it."""
        if query.get("first") or query.get("last"):
            return cls(query)
        first, last = report_days.months_of(None, None, timezone.now().date())
        return cls({"first": f"{first:%Y-%m}", "last": f"{last:%Y-%m}"})

    def months(self) -> tuple[date, date]:
        """Return the first days of both months.

        Raises:
            Invalid: one of them is no month.
        """
        # From ``data``: callers do not validate the form first, and ``months_of`` checks the texts.
        return report_days.months_of(
            self.data.get("first") or None, self.data.get("last") or None, timezone.now().date()
        )


class DayForm(ConsoleForm):
    """Asks for the day of a report, such as 2026-11-30; default: today in UTC."""

    as_of = forms.CharField(label="Day", required=False, max_length=10)

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Return the form of a page's query, which shows the day also where it is the default."""
        return cls({"as_of": query.get("as_of") or f"{timezone.now():%Y-%m-%d}"})

    def day(self) -> date:
        """Return the day.

        Raises:
            Invalid: the text is no day, or the day has not begun.
        """
        # From ``data``, as ``MonthsForm`` does.
        return report_days.day_named(self.data.get("as_of"), timezone.now())


class MonthForm(ConsoleForm):
    """Asks for the month of a report, such as 2026-11; default: the last one that has ended."""

    month = forms.CharField(label="Month", required=False, max_length=7)

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Return the form of a page's query, which shows the month also where it is the default."""
        default = report_days.ended_month(None, timezone.now())
        return cls({"month": query.get("month") or f"{default:%Y-%m}"})

    def first_day(self) -> date:
        """Return the first day of the month.

        Raises:
            Invalid: the text is no month, or the month has not ended.
        """
        return report_days.ended_month(self.data.get("month"), timezone.now())


class CodeForm(ConsoleForm):
    """Asks for the code that an accounting system has for an account of a legal entity."""

    legal_entity = forms.SlugField(label="Legal entity", max_length=63)
    account = forms.ChoiceField(
        label="Account",
        choices=[(name, name) for name in (*account_codes.ACCOUNTS, *account_codes.GROUPS)],
    )
    code = forms.CharField(
        label="Code", required=False, max_length=40, help_text="Leave empty to remove it."
    )
