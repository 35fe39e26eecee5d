"""Forms of an organization: members, API tokens, billing details, consent to help."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from plans.rating import periods
from tenants.actions import support_access
from tenants.actions.api_tokens import TokenScope
from tenants.models import Role, Tenant
from tenants.permissions import NOT_FOR_LIMITED_TOKENS, Permission


class MemberForm(ConsoleForm):
    """Asks for the email and role of a new member."""

    email = forms.EmailField(label="Email")
    role = forms.ChoiceField(label="Role", choices=Role.choices)


class RoleForm(ConsoleForm):
    """Asks for a member's new role."""

    role = forms.ChoiceField(choices=Role.choices)


class TokenForm(ConsoleForm):
    """Asks for the name, role and lifetime of a new API token for a program."""

    name = forms.CharField(
        max_length=100,
        label="Name",
        help_text="The program that uses it, such as terraform or nightly-report.",
    )
    role = forms.ChoiceField(label="Role", choices=Role.choices, initial=Role.DEVELOPER)
    days = forms.TypedChoiceField(
        label="Valid for",
        coerce=int,
        initial=90,
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year"), (0, "no expiry")],
    )

    spaces = forms.CharField(
        label="Only these spaces",
        required=False,
        max_length=2000,
        help_text="Names, with spaces between them. Empty: all spaces, and what belongs to none.",
    )
    permissions = forms.MultipleChoiceField(
        label="Only these permissions",
        required=False,
        choices=[
            (item.value, item.value.replace("_", " "))
            for item in Permission
            # With such a permission, a limited token could issue a token without limits.
            if item not in NOT_FOR_LIMITED_TOKENS
        ],
        widget=forms.CheckboxSelectMultiple,
        help_text="None chosen: all of the role. With manage messaging, a token can make messaging "
        "users, who send and receive, and delete spaces with their messages.",
    )

    def scope(self) -> TokenScope:
        """Return the limits of the token."""
        return TokenScope(self.cleaned_data["spaces"].split(), self.cleaned_data["permissions"])

    def scope_now(self) -> TokenScope:
        """Return the limits that the form shows now, which may not be valid."""
        spaces, permissions = self["spaces"].value() or "", self["permissions"].value() or []
        return TokenScope(spaces.split(), permissions)

    def days_now(self) -> int:
        """Return the chosen number of days, or the initial one if there is no valid choice."""
        # A form that was not sent has no ``cleaned_data``; one with errors lacks the wrong fields.
        valid = getattr(self, "cleaned_data", {})
        return int(valid.get("days", self.fields["days"].initial))

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when a token issued at ``now`` expires (UTC), or None if it never expires."""
        days = self.cleaned_data["days"]
        return (now + timedelta(days=days)).astimezone(UTC) if days else None


class BillingForm(ConsoleForm):
    """Asks for a tenant's billing details: legal name, addresses, tax id, time zone of months."""

    billing_name = forms.CharField(max_length=200, label="Legal name")
    billing_email = forms.EmailField(
        label="Email for invoices",
        help_text="Gets a mail about each invoice that is issued, overdue or still unpaid, besides "
        "the members who get these mails.",
    )
    billing_address = forms.CharField(label="Address", widget=forms.Textarea(attrs={"rows": 3}))
    billing_country = forms.CharField(
        label="Country",
        max_length=60,
        help_text="Two letters, such as DE or FR.",
    )
    tax_id = forms.CharField(max_length=60, label="Tax id", required=False)
    billing_time_zone = forms.ChoiceField(
        label="Time zone of billing months",
        choices=[(name, name) for name in periods.zone_names()],
    )

    def clean_billing_country(self) -> str:
        code = str(self.cleaned_data["billing_country"]).upper()
        # A field of two letters would make Georgia (GE) of Germany without a word.
        if len(code) != 2 or not code.isascii() or not code.isalpha():
            raise forms.ValidationError(
                "Write the two letters of the country, such as DE for Germany.", code="country"
            )
        return code

    def details_now(self) -> dict[str, str]:
        """Return {name: value} that the form shows now, which may not be valid."""
        shown = {name: self[name].value() or "" for name in self.fields}
        # What is valid replaces what was typed: the country then is in capitals.
        return {**shown, **getattr(self, "cleaned_data", {})}

    @classmethod
    def of(cls, tenant: Tenant, data: Any = None) -> "BillingForm":
        """Return a form with the tenant's present details as initial values.

        ``data``: the submitted values; None for a form that is only shown.
        """
        # The fields have the names of the columns.
        return cls(data, initial={name: getattr(tenant, name) for name in cls.base_fields})


class CouponForm(ConsoleForm):
    """Asks for the code of a coupon."""

    code = forms.CharField(label="Code", max_length=40)


class ConsentForm(ConsoleForm):
    """Asks what the operator may do in the tenant's pages, and for how long."""

    role = forms.ChoiceField(
        label="The operator may",
        widget=forms.RadioSelect,
        choices=[
            # The roles without rights over money, tokens and members (``support_consents.ROLES``).
            (Role.VIEWER, "look at spaces, addresses and usage, but at no message"),
            (Role.DEVELOPER, "also change messaging, and read and change stored messages"),
        ],
        initial=Role.VIEWER,
    )
    hours = forms.TypedChoiceField(
        label="For",
        coerce=int,
        initial=8,
        choices=[(n, f"{n} hour{'' if n == 1 else 's'}") for n in support_access.HOURS],
    )


class ConfirmPlanForm(ConsoleForm):
    """Confirms a change of plan. ``version`` is the version of the plan that the page priced."""

    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, version: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offered_version = version

    def clean(self) -> dict[str, Any]:
        """Refuse a confirmation that does not name the version on offer."""
        cleaned = super().clean() or {}
        if cleaned.get("version") != self.offered_version:
            raise forms.ValidationError(
                "The prices of this plan have changed since you opened the page. Check them below."
            )
        return cleaned
