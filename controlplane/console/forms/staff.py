"""Forms of the operator area."""

from collections.abc import Sequence
from datetime import datetime, time
from functools import partial
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone

from controlplane.console import fleet_reads, tenant_reads
from controlplane.console.forms.amounts import minor_amount
from controlplane.console.forms.base import ConsoleForm
from controlplane.core.phases import Phase
from plans.models import Invoice, Payment
from plans.rating import money
from plans.rating.terms import DISCOUNT
from tenants.actions import suspensions


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
    """Asks for the reason for an operator's action; the audit log shows the reason."""

    reason = forms.CharField(label="Reason", max_length=500)


class OptionalReasonForm(ConsoleForm):
    """Asks for a reason for an operator's action, which the audit log shows; it may be empty."""

    reason = forms.CharField(label="Reason", max_length=500, required=False)


class CloseRunForm(ConsoleForm):
    """Asks what a close run closes."""

    DUE, OVER, HELD = "due", "over", "held"
    what = forms.ChoiceField(
        label="What to close",
        choices=[
            (DUE, "Periods whose grace period is over"),
            (OVER, "All periods that are over, without the grace period"),
            (HELD, "Held invoices, again"),
        ],
        widget=forms.RadioSelect,
        initial=DUE,
    )


class ActingForm(ConsoleForm):
    """Asks why an operator opens the pages of a tenant; its audit log shows it."""

    reason = forms.CharField(label="Why do you open them?", max_length=500)


class SuspensionForm(ConsoleForm):
    """Asks why a tenant is suspended; its members read the reason."""

    reason = forms.CharField(
        label="Reason, for the members",
        max_length=suspensions.LONGEST_REASON,
        help_text="Such as: The invoice EU-000042 is not paid since October.",
    )


class NoteForm(ConsoleForm):
    """Asks for a note about a tenant, which only staff read."""

    text = forms.CharField(
        label="New note", max_length=4000, widget=forms.Textarea(attrs={"rows": 3})
    )


class TenantListForm(ConsoleForm):
    """The filter of the list of tenants. A value that is not valid does not filter."""

    q = forms.CharField(label="Name", required=False, max_length=100)
    plan = forms.ChoiceField(label="Plan", required=False)
    show = forms.ChoiceField(
        label="Show",
        required=False,
        choices=[("", "All"), *((key, title) for key, title in tenant_reads.SUBSETS.items())],
    )
    sort = forms.ChoiceField(
        label="Order",
        required=False,
        choices=[(key, order.title) for key, order in tenant_reads.ORDERS.items()],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        plans = [(key, title) for key, title in tenant_reads.plan_titles()]
        self.fields["plan"].choices = [("", "Any plan"), *plans]  # type: ignore[attr-defined]
        self.full_clean()

    @property
    def is_filtered(self) -> bool:
        """Whether any value limits the list."""
        return any(value for name, value in self.cleaned_data.items() if name != "sort")


class FleetForm(ConsoleForm):
    """The filter of the fleet's spaces. A value that is not valid does not filter."""

    q = forms.CharField(label="Space or tenant", required=False, max_length=100)
    state = forms.ChoiceField(
        label="State",
        required=False,
        choices=[
            ("", "Any state"),
            *((phase.value, phase.value) for phase in Phase),
            (fleet_reads.UNAPPLIED, "Changes not applied"),
            (fleet_reads.SILENT, "Does not answer"),
            (fleet_reads.ENDING, "Certificate ends soon"),
        ],
    )
    plan = forms.ChoiceField(label="Plan", required=False)
    release = forms.ChoiceField(label="Version", required=False)
    sort = forms.ChoiceField(
        label="Order",
        required=False,
        choices=[(key, title) for key, (title, _) in fleet_reads.ORDERS.items()],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        plans, releases = fleet_reads.plan_keys(), fleet_reads.release_numbers()
        self.fields["plan"].choices = [("", "Any plan"), *((key, key) for key in plans)]  # type: ignore[attr-defined]
        self.fields["release"].choices = [  # type: ignore[attr-defined]
            ("", "Any version"),
            *((str(number), f"Release {number}") for number in releases),
            (fleet_reads.NO_RELEASE, "None yet"),
        ]
        self.full_clean()

    @property
    def is_filtered(self) -> bool:
        """Whether any value limits the list."""
        return any(value for name, value in self.cleaned_data.items() if name != "sort")

    def wanted(self) -> fleet_reads.FleetFilter:
        """Return the filter and the order."""
        found = self.cleaned_data
        return fleet_reads.FleetFilter(
            found.get("q", ""),
            found.get("state", ""),
            found.get("plan", ""),
            found.get("release", ""),
            found.get("sort") or next(iter(fleet_reads.ORDERS)),
        )


class MandatoryReasonForm(ConsoleForm):
    """Asks for the reason of an operator's action; the base of forms that also ask for more."""

    reason = forms.CharField(label="Reason", max_length=1000)


class VoidForm(MandatoryReasonForm):
    """Asks why an invoice is voided."""


class ReplaceForm(MandatoryReasonForm):
    """Asks why an invoice is replaced; the credit note that voids it prints the reason."""


class WriteOffForm(MandatoryReasonForm):
    """Asks why an invoice is written off."""


class CreditNoteForm(MandatoryReasonForm):
    """Asks from which line of ``invoice`` a credit note takes back how much, and why."""

    position = forms.TypedChoiceField(label="Line", coerce=int)
    amount = forms.DecimalField(label="Amount", max_digits=20)

    def __init__(self, *args: Any, invoice: Invoice, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.digits = money.minor_digits(invoice.currency)
        self.fields["amount"].label = f"Amount before tax, {invoice.currency}"
        shown = partial(money.display, currency=invoice.currency)
        lines = invoice.lines.filter(amount_minor__gt=0)
        self.fields["position"].choices = [  # type: ignore[attr-defined]
            (line.position, f"{line.position}. {line.description}, {shown(line.amount_minor)}")
            for line in lines
        ]
        off = -sum(invoice.lines.filter(meter=DISCOUNT).values_list("amount_minor", flat=True))
        if off > 0:
            self.fields["amount"].help_text = (
                f"The invoice has discounts of {money.display(off, invoice.currency)}, and the "
                "amounts of the other lines are before them. To take back no more than the "
                "customer was charged for a line, subtract its share of the discounts."
            )

    def clean_amount(self) -> int:
        """Return the entered amount in minor units; raise ValidationError if it is wrong."""
        return minor_amount(self.cleaned_data["amount"], self.digits)


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
        # A callable, because the class is made once and the day changes.
        initial=timezone.localdate,
    )
    surplus = forms.BooleanField(
        label="What exceeds the amount due becomes credit of the tenant", required=False
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
        return minor_amount(self.cleaned_data["amount"], self.digits)


class RefundForm(ConsoleForm):
    """Asks how much of ``payment`` goes back, and why; ``left_minor`` of it is left.

    ``by_bank``: no provider sends the money back, so the form asks for the bank's reference.
    """

    amount = forms.DecimalField(label="Amount", max_digits=20)
    reason = forms.CharField(label="Reason, for the tenant", max_length=500)
    reference = forms.CharField(label="Reference of the bank", max_length=120)
    reopens = forms.BooleanField(
        label="What exceeds the tenant's credit becomes due again",
        required=False,
        help_text="Without it, issue a credit note first: the refund then pays its credit out.",
    )
    # What was left of the payment when the page was shown: a form sent twice must not pay twice.
    seen_left = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self, *args: Any, payment: Payment, left_minor: int, by_bank: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        currency = payment.invoice.currency
        self.digits = money.minor_digits(currency)
        self.fields["amount"].label = f"Amount, {currency}"
        self.fields["amount"].initial = money.to_major(left_minor, currency)
        self.fields["seen_left"].initial = left_minor
        if not by_bank:
            del self.fields["reference"]

    def clean_amount(self) -> int:
        """Return the entered amount in minor units; raise ValidationError if it is wrong."""
        return minor_amount(self.cleaned_data["amount"], self.digits)

    def show_left(self, left_minor: int) -> None:
        """Make the form, which is shown again, one for what is left of the payment now."""
        shown = QueryDict(mutable=True)
        shown.update(self.data)
        shown["seen_left"] = str(left_minor)
        self.data = shown


class DunningPauseForm(ConsoleForm):
    """Asks why the unpaid invoices of a tenant rest, and for how long."""

    reason = forms.CharField(label="Reason", max_length=500)
    until_day = forms.DateField(
        label="Ends at the end of",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Leave empty to let it rest until you resume it.",
    )

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``."""
        return "until_day" if name == "until" else name

    def until(self) -> datetime | None:
        """Return the end of the chosen day (UTC), or None for no end."""
        day = self.cleaned_data["until_day"]
        return timezone.make_aware(datetime.combine(day, time.max)) if day else None
