"""Forms of an organization: members, API tokens and billing details."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms

from controlplane.console.forms.base import ConsoleForm
from plans.rating import periods
from tenants.models import Role, Tenant


class MemberForm(ConsoleForm):
    """Asks for the email and role of a new member."""

    email = forms.EmailField(label="Email")
    role = forms.ChoiceField(label="Role", choices=Role.choices, initial=Role.DEVELOPER)


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

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when a token issued at ``now`` expires (UTC), or None if it never expires."""
        days = self.cleaned_data["days"]
        return (now + timedelta(days=days)).astimezone(UTC) if days else None


class BillingForm(ConsoleForm):
    """Asks for a tenant's billing details: legal name, addresses, tax id, time zone of months."""

    billing_name = forms.CharField(max_length=200, label="Legal name")
    billing_email = forms.EmailField(label="Email for invoices")
    billing_address = forms.CharField(label="Address", widget=forms.Textarea(attrs={"rows": 3}))
    billing_country = forms.CharField(
        label="Country",
        min_length=2,
        max_length=2,
        help_text="Two letters, such as DE or FR.",
    )
    tax_id = forms.CharField(max_length=60, label="Tax id", required=False)
    billing_time_zone = forms.ChoiceField(
        label="Time zone of billing months",
        choices=[(name, name) for name in periods.zone_names()],
    )

    def clean_billing_country(self) -> str:
        return str(self.cleaned_data["billing_country"]).upper()

    @classmethod
    def of(cls, tenant: Tenant, data: Any = None) -> "BillingForm":
        """Return a form with the tenant's present details as initial values.

        ``data``: the submitted values; None for a form that is only shown.
        """
        return cls(data, initial={name: getattr(tenant, name) for name in cls.base_fields})
