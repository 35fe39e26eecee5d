"""Filters of lists, in the query string: a part of the name, a state, a label, an order."""

from typing import Any, ClassVar

from django import forms
from django.db.models import F, OrderBy, Q, QuerySet

from controlplane.console.forms.base import ConsoleForm
from controlplane.console.scope import Row
from controlplane.core.phases import Phase
from tenants import label_rules
from tenants.models import AddressType

_STATES = [("", "Any state"), *((phase.value, phase.value) for phase in Phase)]


class ListForm(ConsoleForm):
    """The filter of a list. A value that is not valid does not filter.

    ``name_column`` is the column that ``q`` searches. ``orders`` are (key, title, columns); the
    first one is the default.
    """

    name_column: ClassVar[str]
    orders: ClassVar[tuple[tuple[str, str, tuple[str | OrderBy, ...]], ...]]

    q = forms.CharField(label="Name", required=False, max_length=100)
    state = forms.ChoiceField(label="State", required=False, choices=_STATES)
    label = forms.CharField(
        label="Label",
        required=False,
        max_length=130,
        widget=forms.TextInput(attrs={"placeholder": "team=shop"}),
    )
    sort = forms.ChoiceField(label="Order", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sort"].choices = [(key, title) for key, title, _ in self.orders]  # type: ignore[attr-defined]
        # Now, because views read ``cleaned_data`` without ``is_valid``.
        self.full_clean()

    @property
    def is_filtered(self) -> bool:
        """Whether any value limits the list."""
        return any(value for name, value in self.cleaned_data.items() if name != "sort")

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows that the filter selects, in its order."""
        found = self.cleaned_data
        if found.get("q"):
            rows = rows.filter(**{f"{self.name_column}__icontains": found["q"]})
        if found.get("state"):
            rows = rows.filter(phase=found["state"])
        if found.get("label"):
            rows = rows.filter(**label_rules.lookup(found["label"]))
        key = found.get("sort") or self.orders[0][0]
        return rows.order_by(*next(columns for name, _, columns in self.orders if name == key))


class SpaceListForm(ListForm):
    """The filter of the spaces of a tenant."""

    name_column = "name"
    orders = (
        ("name", "By name", ("name",)),
        ("-name", "By name, backward", ("-name",)),
        ("new", "Newest first", ("-created_at", "name")),
        ("addresses", "Most addresses first", ("-address_count", "name")),
        ("state", "By state", ("phase", "name")),
    )


class AddressListForm(ListForm):
    """The filter of the addresses of a space."""

    name_column = "address"
    orders = (
        ("name", "By name", ("address",)),
        ("-name", "By name, backward", ("-address",)),
        ("new", "Newest first", ("-created_at", "address")),
        ("type", "By type", ("type", "address")),
        ("state", "By state", ("phase", "address")),
        (
            "messages",
            "Most messages in first",
            (F("reading__messages_in").desc(nulls_last=True), "address"),
        ),
    )

    type = forms.ChoiceField(
        label="Type", required=False, choices=[("", "Any type"), *AddressType.choices]
    )
    field_order = ["q", "type", "state", "label", "sort"]

    def apply(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return the rows that the filter selects, in its order."""
        found = super().apply(rows)
        wanted = self.cleaned_data.get("type")
        return found.filter(Q(type=wanted)) if wanted else found


class UserListForm(ListForm):
    """The filter of the messaging users of a space, which have no labels."""

    name_column = "name"
    orders = (
        ("name", "By name", ("name",)),
        ("-name", "By name, backward", ("-name",)),
        ("new", "Newest first", ("-created_at", "name")),
        ("state", "By state", ("phase", "name")),
    )
    label = None  # type: ignore[assignment]  # Django drops an inherited field that is None
