"""Forms of the operator area."""

from collections.abc import Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.utils import timezone

from controlplane.console.forms.base import ConsoleForm
from plans import money
from plans.models import Invoice


class OverrideForm(ConsoleForm):
    """One limit of one tenant, for a reason, for a time."""

    resource = forms.ChoiceField(label="Resource")
    amount = forms.IntegerField(label="New limit", min_value=0, max_value=2**62)
    reason = forms.CharField(label="Reason", max_length=500)
    expires_on = forms.DateField(
        label="Ends at the end of",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Empty: it holds until it is cleared.",
    )

    def __init__(self, *args: Any, resources: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["resource"].choices = resources  # type: ignore[attr-defined]

    def expires_at(self) -> datetime | None:
        """Return the end of the chosen day, UTC, or None."""
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        return timezone.make_aware(datetime.combine(day, time.max))


class ReasonForm(ConsoleForm):
    """Why an operator does something."""

    reason = forms.CharField(label="Reason", max_length=500)


class PaymentForm(ConsoleForm):
    """Money that came in for an invoice."""

    amount = forms.DecimalField(label="Amount", max_digits=20)
    reference = forms.CharField(
        label="Reference",
        max_length=120,
        help_text="The bank's reference: the same one is booked once.",
    )
    received_on = forms.DateField(
        label="Received on",
        widget=forms.DateInput(attrs={"type": "date"}),
        initial=timezone.localdate,
    )

    def __init__(self, *args: Any, invoice: Invoice, due_minor: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.digits = money.minor_digits(invoice.currency)
        self.fields["amount"].label = f"Amount, {invoice.currency}"
        self.fields["amount"].initial = money.to_major(due_minor, invoice.currency)

    def clean_amount(self) -> int:
        """Return the amount in minor units."""
        minor = Decimal(self.cleaned_data["amount"]).scaleb(self.digits)
        if minor <= 0 or minor != minor.to_integral_value():
            raise forms.ValidationError(f"A positive amount with at most {self.digits} decimals.")
        return int(minor)
