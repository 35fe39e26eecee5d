"""The filter of the audit page."""

from typing import Any

from django import forms
from django.db.models import Q

from controlplane.console.audit_kinds import KINDS
from controlplane.console.audit_reads import AuditFilter
from controlplane.console.forms.base import ConsoleForm
from tenants.models import Tenant


class AuditFilterForm(ConsoleForm):
    """Asks which audit events to show.

    ``is_staff`` also offers one tenant, and kinds that belong to no tenant.
    """

    q = forms.CharField(label="Search", required=False, max_length=100)
    tenant = forms.CharField(label="Tenant", required=False, max_length=63)
    kind = forms.ChoiceField(label="Kind", required=False)
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="Until", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, is_staff: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_staff:
            del self.fields["tenant"]
        offered = [
            (key, kind.title) for key, kind in KINDS.items() if is_staff or not kind.is_internal
        ]
        self.fields["kind"].choices = [("", "Everything"), *offered]  # type: ignore[attr-defined]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the submitted values, as sentences that name the field."""
        return [
            f"{self.fields[name].label}: {reason}"
            for name, reasons in self.errors.items()
            for reason in reasons
        ]

    def clean_tenant(self) -> str:
        """Return the id of the tenant that the slug or the id names; empty without one."""
        name = self.cleaned_data["tenant"].strip()
        if not name:
            return ""
        found = Tenant.objects.filter(Q(slug=name) | Q(pk=name)).first()
        if found is None:
            raise forms.ValidationError("No tenant has this short name or id.")
        return found.pk

    def wanted(self) -> AuditFilter:
        """Return the filter; a value that is not valid does not filter, and the form says so."""
        self.full_clean()
        found = self.cleaned_data
        return AuditFilter(
            found.get("q", "").strip(),
            found.get("kind", ""),
            found.get("since"),
            found.get("until"),
            found.get("tenant", ""),
        )
