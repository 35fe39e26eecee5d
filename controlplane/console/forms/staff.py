"""Forms of the operator area."""

from collections.abc import Sequence
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from django import forms
from django.utils import timezone

from controlplane.console.forms.base import ConsoleForm
from plans.models import Invoice
from plans.rating import money


class OverrideForm(ConsoleForm):
    """Asks for a new limit of one resource of a tenant, with a reason and an optional last day.

    ``resources`` are the choices: (slug, title) of each resource.
    """

    resource = forms.ChoiceField(label="Resource")
    amount = forms.IntegerField(label="New limit", min_value=0, max_value=2**62)
    reason = forms.CharField(label="Reason", max_length=500)
    expires_on = forms.DateField(
        label="Ends at the end of",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Leave empty to keep it until it is cleared.",
    )

    def __init__(self, *args: Any, resources: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["resource"].choices = resources  # type: ignore[attr-defined]

    def expires_at(self) -> datetime | None:
        """Return the end of the chosen day (UTC), or None for no end."""
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        return timezone.make_aware(datetime.combine(day, time.max))


class ReasonForm(ConsoleForm):
    """Asks for the reason for an operator's action, which goes to the audit log."""

    reason = forms.CharField(label="Reason", max_length=500)


class PaymentForm(ConsoleForm):
    """Asks for the amount, reference and day of a payment received for ``invoice``.

    ``due_minor``, the amount due in minor units, is entered already.
    """

    amount = forms.DecimalField(label="Amount", max_digits=20)
    reference = forms.CharField(
        label="Reference",
        max_length=120,
        help_text="The bank's reference. The same reference is recorded only once.",
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
        """Return the entered amount in minor units of the invoice's currency.

        Raises:
            ValidationError: it is not positive, or has more decimals than the currency.
        """
        # The form field allows more decimals than the currency has.
        minor = Decimal(self.cleaned_data["amount"]).scaleb(self.digits)
        if minor <= 0 or minor != minor.to_integral_value():
            raise forms.ValidationError(
                f"Enter a positive amount with at most {self.digits} decimals."
            )
        return int(minor)
