"""Forms of usage: which days to show, and the spend cap."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django import forms

from controlplane.console import windows
from controlplane.console.forms.amounts import minor_amount
from controlplane.console.forms.base import ConsoleForm
from controlplane.console.windows import Window
from controlplane.core.errors import Invalid
from plans.quotas.resources import AtQuota
from plans.rating import money

_DATE = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class UsageForm(ConsoleForm):
    """Asks for the first and the last day, both included.

    Links give ``window`` instead: the key of a month, a day or a range.
    """

    since = forms.DateField(label="From", required=False, widget=_DATE)
    until = forms.DateField(label="Until", required=False, widget=_DATE)
    window = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, zone: str, now: datetime, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.zone, self.now = zone, now
        # What is shown if the form is empty or not valid.
        self.chosen: Window = windows.parse("", zone, now)
        self.full_clean()
        if self.is_valid():
            # The fields show the days of the window, also if a link named it by its key.
            days = {"since": self.chosen.first, "until": self.chosen.last_day}
            self.data = {name: day.isoformat() for name, day in days.items()}

    def clean(self) -> dict[str, Any]:
        """Choose the window; add an error if the values name none that can be shown."""
        found = super().clean() or {}
        # One day alone is both the first and the last one.
        first: date | None = found.get("since") or found.get("until")
        last: date | None = found.get("until") or first
        if self.errors:
            return found
        try:
            if first and last:
                self.chosen = windows.of_days(first, last, self.zone)
            else:
                self.chosen = windows.parse(found.get("window", ""), self.zone, self.now)
        except Invalid as error:
            raise forms.ValidationError(error.message) from None
        return found

    @property
    def problems(self) -> list[str]:
        """What is wrong with the submitted values, as sentences."""
        return [str(reason) for reasons in self.errors.values() for reason in reasons]


class SpendCapForm(ConsoleForm):
    """Asks for a spend cap in the currency (euros, not cents), and for what happens at the cap."""

    amount = forms.DecimalField(label="Amount", max_value=Decimal(10**9), max_digits=20)
    action = forms.ChoiceField(
        label="When it is reached",
        initial=AtQuota.WITHDRAW_SEND,
        choices=[
            (AtQuota.NOTIFY, "Only notify"),
            (AtQuota.THROTTLE, "Throttle: fewer connections and slower senders"),
            (AtQuota.WITHDRAW_SEND, "Block sending; receiving goes on"),
            (AtQuota.REFUSE_CONNECTIONS, "Refuse connections; messages stay stored"),
        ],
        help_text="It ends by itself with the month, or when you raise the cap.",
    )

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._digits = money.minor_digits(currency)

    def clean_amount(self) -> int:
        """Return the amount in minor units.

        Raises:
            ValidationError: it is not positive, or has more decimals than the currency.
        """
        return minor_amount(self.cleaned_data["amount"], self._digits)

    @property
    def wanted(self) -> dict[str, Any]:
        """The arguments of ``spend_caps.set_cap``; the form is valid."""
        values = self.cleaned_data
        return {"amount_minor": values["amount"], "action": values["action"]}
