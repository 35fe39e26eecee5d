"""Forms by which operators change a tenant's credit, discounts, commitments, seller and tax."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.utils import timezone

from controlplane.console import meters
from controlplane.console.forms.amounts import minor_amount
from controlplane.console.forms.base import ConsoleForm
from controlplane.console.forms.staff import MandatoryReasonForm
from plans.catalog.selling import Offer
from plans.invoicing import discounting
from plans.invoicing.discounting import CouponUse, Reduction
from plans.invoicing.granting import PayBack, Wish
from plans.models import Commitment, CreditGrant, Discount, TaxExemption
from plans.rating import money
from plans.rating.periods import Period, month_of, zone
from tenants.actions.tax_details import Exemption


def day_field(label: str, *, required: bool = False, help_text: str = "") -> forms.DateField:
    """Return a field for a day."""
    return forms.DateField(
        label=label,
        required=required,
        help_text=help_text,
        widget=forms.DateInput(attrs={"type": "date"}),
    )


def end_of(day: date | None, time_zone: str = "UTC") -> datetime | None:
    """Return the instant at which ``day`` is over in a time zone; None without a day."""
    if day is None:
        return None
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone(time_zone)).astimezone(
        UTC
    )


class AmountForm(ConsoleForm):
    """The base of forms with an amount of money in ``currency``; it is cleaned to minor units."""

    amount = forms.DecimalField(label="Amount", max_digits=20)

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency
        self.fields["amount"].label = f"{self.fields['amount'].label}, {currency}"

    def clean_amount(self) -> int | None:
        """Return the amount in minor units; None if the field is optional and empty.

        Raises:
            ValidationError: it is not positive, or has more decimals than the currency.
        """
        entered = self.cleaned_data["amount"]
        return None if entered is None else minor_amount(entered, money.minor_digits(self.currency))


class GrantForm(AmountForm):
    """Asks for credit to grant: kind, amount, reference, reason and last day."""

    kind = forms.ChoiceField(label="Kind", choices=CreditGrant.Kind.choices)
    reference = forms.CharField(
        label="Reference",
        max_length=120,
        help_text="The bank's reference, for example. The same reference is granted only once.",
    )
    expires_on = day_field("Last day", help_text="Leave empty: it never expires.")
    reason = forms.CharField(label="Reason", max_length=1000)
    field_order = ["kind", "amount", "reference", "expires_on", "reason"]

    def wish(self) -> Wish:
        """Return what to grant."""
        found = self.cleaned_data
        return Wish(
            found["kind"],
            found["amount"],
            found["reference"],
            found["reason"],
            end_of(found["expires_on"]),
        )

    def field_named(self, name: str) -> str:
        return {"amount_minor": "amount", "expires_at": "expires_on"}.get(name, name)


class PayBackForm(AmountForm):
    """Asks which prepaid credit is paid back, how much of it, by which transfer, and why."""

    credit = forms.ChoiceField(label="Credit")
    reference = forms.CharField(
        label="Reference",
        max_length=120,
        help_text="That of your bank transfer. It is booked only once for each credit.",
    )
    reason = forms.CharField(label="Reason", max_length=1000)
    field_order = ["credit", "amount", "reference", "reason"]

    def __init__(self, *args: Any, credits: Sequence[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["credit"].choices = credits  # type: ignore[attr-defined]

    def wish(self) -> PayBack:
        """Return what to pay back."""
        found = self.cleaned_data
        return PayBack(found["amount"], found["reference"], found["reason"])

    def field_named(self, name: str) -> str:
        return "amount" if name == "amount_minor" else name


class ReductionForm(AmountForm):
    """Asks for a discount: a percentage or an amount, of which lines, for how many months."""

    title = forms.CharField(label="Title", max_length=100, help_text="Invoices print it.")
    percent = forms.DecimalField(
        label="Percent", required=False, max_digits=15, decimal_places=12, min_value=0
    )
    amount = forms.DecimalField(label="Or an amount a month", required=False, max_digits=20)
    months = forms.IntegerField(
        label="Billing months",
        required=False,
        min_value=1,
        max_value=120,
        help_text="The running one included. Leave empty: without end.",
    )
    meters = forms.MultipleChoiceField(
        label="Only these lines",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all lines.",
    )
    reason = forms.CharField(label="Reason", max_length=1000)
    field_order = ["title", "percent", "amount", "months", "meters", "reason"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        titles = {name: meters.title_of(name) for name in discounting.known_meters()}
        by_title = sorted(titles.items(), key=lambda item: item[1])
        self.fields["meters"].choices = by_title  # type: ignore[attr-defined]

    def reduction(self) -> Reduction:
        """Return the discount; the action checks it."""
        found = self.cleaned_data
        return Reduction(
            found["title"], found["percent"], found["amount"], found["meters"], found["months"]
        )

    def field_named(self, name: str) -> str:
        return "amount" if name == "amount_minor" else name


class CommitmentForm(AmountForm):
    """Asks for a minimum commitment; it begins with the running billing month."""

    title = forms.CharField(label="Title", max_length=100, help_text="Invoices print it.")
    amount = forms.DecimalField(label="Least a month, before tax", max_digits=20)
    last_day = day_field("Last day", help_text="Leave empty: without end.")
    reason = forms.CharField(label="Reason", max_length=1000)
    field_order = ["title", "amount", "last_day", "reason"]

    def span(self, time_zone: str, now: datetime) -> Period | None:
        """Return the time of the commitment; None: from the running month on, without end."""
        ends_at = end_of(self.cleaned_data["last_day"], time_zone)
        return Period(month_of(now, time_zone).starts_at, ends_at) if ends_at else None

    def clean_last_day(self) -> date | None:
        """Refuse a day in the past."""
        day: date | None = self.cleaned_data["last_day"]
        if day is not None and day < timezone.localdate():
            raise forms.ValidationError("Choose today or a later day.")
        return day


class EndDiscountForm(MandatoryReasonForm):
    """Asks which discount ends, whether the running month still has it, and why."""

    discount = forms.ChoiceField(label="Discount")
    at_once = forms.BooleanField(label="Take it from the running month, too", required=False)
    field_order = ["discount", "at_once", "reason"]

    def __init__(self, *args: Any, discounts: Sequence[Discount], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["discount"].choices = [(row.pk, row.title) for row in discounts]  # type: ignore[attr-defined]


class EndCommitmentForm(MandatoryReasonForm):
    """Asks which commitment ends, on which day, and why."""

    commitment = forms.ChoiceField(label="Commitment")
    last_day = day_field("Last day", help_text="Leave empty: the last day of this billing month.")
    field_order = ["commitment", "last_day", "reason"]

    def __init__(self, *args: Any, commitments: Sequence[Commitment], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["commitment"].choices = [(row.pk, row.title) for row in commitments]  # type: ignore[attr-defined]

    def ends_at(self, time_zone: str) -> datetime | None:
        """Return the end of the chosen day; None without one."""
        return end_of(self.cleaned_data["last_day"], time_zone)

    def field_named(self, name: str) -> str:
        return "last_day" if name == "ends_at" else name


class SellerForm(MandatoryReasonForm):
    """Asks from which legal entity, and in which currency, a tenant buys."""

    offer = forms.ChoiceField(label="Seller and currency")
    field_order = ["offer", "reason"]

    def __init__(self, *args: Any, offers: Sequence[Offer], present: Offer, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offers = {one.value: one for one in offers}
        self.fields["offer"].choices = [(one.value, one.title) for one in offers]  # type: ignore[attr-defined]
        self.fields["offer"].initial = present.value

    def wanted(self) -> Offer:
        """Return the chosen offer."""
        return self.offers[self.cleaned_data["offer"]]


class ExemptionForm(ConsoleForm):
    """Asks for a certificate of tax exemption."""

    category = forms.ChoiceField(label="Tax", choices=TaxExemption.Category.choices)
    certificate = forms.CharField(label="Number of the certificate", max_length=60)
    text = forms.CharField(
        label="Text on invoices",
        max_length=300,
        help_text="By which law nothing is charged, such as: Section 4 no. 21 UStG.",
    )
    starts_on = day_field("First day", required=True)
    ends_on = day_field("Last day", help_text="Leave empty: without end.")

    def wanted(self) -> Exemption:
        """Return the certificate."""
        return Exemption(**self.cleaned_data)


class EndExemptionForm(MandatoryReasonForm):
    """Asks which certificate ends, its last day, and why."""

    exemption = forms.ChoiceField(label="Certificate")
    ends_on = day_field("Last day", required=True)
    field_order = ["exemption", "ends_on", "reason"]

    def __init__(self, *args: Any, exemptions: Sequence[TaxExemption], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["exemption"].choices = [(row.pk, row.certificate) for row in exemptions]  # type: ignore[attr-defined]


class RegisterAnswerForm(ConsoleForm):
    """Asks what the register of VAT ids answered."""

    is_registered = forms.TypedChoiceField(
        label="The register says",
        coerce=lambda value: value == "yes",
        choices=[("yes", "the id is registered"), ("no", "it does not know the id")],
    )
    reference = forms.CharField(
        label="Reference", max_length=120, help_text="The consultation number, for example."
    )


class CouponCreateForm(ReductionForm):
    """Asks for a new coupon. Its amount, if it has one, is in the chosen currency."""

    code = forms.CharField(label="Code", max_length=40)
    coupon_currency = forms.ChoiceField(label="Currency of the amount", required=False)
    limit = forms.IntegerField(
        label="Tenants at most", required=False, min_value=1, help_text="Leave empty: no limit."
    )
    expires_on = day_field("Last day to redeem it", help_text="Leave empty: without end.")
    field_order = [
        "code", "title", "percent", "amount", "coupon_currency", "months", "meters", "limit",
        "expires_on", "reason",
    ]  # fmt: skip

    def __init__(self, *args: Any, currencies: Sequence[str], **kwargs: Any) -> None:
        # The currency decides how many decimals the amount may have.
        data = args[0] if args else None
        wanted = (data or {}).get("coupon_currency")
        currency = wanted if wanted in currencies else currencies[0]
        super().__init__(*args, currency=currency, **kwargs)
        self.fields["amount"].label = "Or an amount a month"
        self.fields["coupon_currency"].choices = [(one, one) for one in currencies]  # type: ignore[attr-defined]

    def use(self) -> CouponUse:
        """Return how many tenants may redeem the coupon, until when, and its amount's currency."""
        found = self.cleaned_data
        return CouponUse(found["limit"], end_of(found["expires_on"]), found["coupon_currency"])


class EndCouponForm(MandatoryReasonForm):
    """Asks which coupon nobody may redeem any more, and why."""

    code = forms.ChoiceField(label="Coupon")
    field_order = ["code", "reason"]

    def __init__(self, *args: Any, codes: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].choices = [(code, code) for code in codes]  # type: ignore[attr-defined]
