"""The filter of the audit page."""

from typing import Any

from django import forms

from controlplane.console.audit_kinds import KINDS
from controlplane.console.audit_reads import AuditFilter
from controlplane.console.forms.base import ConsoleForm


class AuditFilterForm(ConsoleForm):
    """Asks which audit events to show; ``is_staff`` also offers kinds that belong to no tenant."""

    q = forms.CharField(label="Search", required=False, max_length=100)
    kind = forms.ChoiceField(label="Kind", required=False)
    since = forms.DateField(
        label="From", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )
    until = forms.DateField(
        label="Until", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, *args: Any, is_staff: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
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

    def wanted(self) -> AuditFilter:
        """Return the filter; a value that is not valid does not filter, and the form says so."""
        self.full_clean()
        found = self.cleaned_data
        return AuditFilter(
            found.get("q", "").strip(),
            found.get("kind", ""),
            found.get("since"),
            found.get("until"),
        )
