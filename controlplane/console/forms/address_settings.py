"""The form of an address's settings, and the settings as texts for people who only read them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from django import forms

from controlplane.console.forms.base import ConsoleForm
from controlplane.console.forms.setting_fields import (
    as_text,
    base_value,
    form_name,
    setting_field,
)
from controlplane.core import address_types
from controlplane.core.address_types import SETTING, SETTINGS, AddressSettings, Setting
from controlplane.core.setting_values import Whole
from plans.catalog.definitions import AddressPlanDefinition
from tenants.models import Address

_FIXED = "Fixed when the address was created: delete the address and create it again to change it."


class ShownSetting(NamedTuple):
    """One setting of an address as texts for a page.

    ``words`` is the value with its unit. ``note`` says that the value is from the plan, or that it
    is fixed, or is empty.
    """

    title: str
    words: str
    note: str


def offered(address: Address) -> list[Setting]:
    """Return the settings that ``address`` can have, by its type and the type of its space."""
    return [row for row in SETTINGS if row.is_offered(address.space.type, address.type)]


def shown(address: Address, plan: AddressPlanDefinition) -> list[ShownSetting]:
    """Return every setting that ``address`` can have, with the value in force on ``plan``."""
    own = address.settings
    now = address_types.effective(own, plan)
    rows = []
    for setting in offered(address):
        value = getattr(now, setting.name)
        note = "fixed" if setting.is_fixed else ""
        if setting.name in address_types.of_plans() and getattr(own, setting.name) is None:
            note = "" if value is None else "from the plan"
        rows.append(ShownSetting(setting.title, as_text(setting, value), note))
    return rows


def fixed(address: Address) -> list[ShownSetting]:
    """Return those settings of ``address`` that can never change, with the reason as note."""
    return [
        ShownSetting(row.title, as_text(row, getattr(address.settings, row.name)), _FIXED)
        for row in offered(address)
        if row.is_fixed
    ]


class AddressSettingsForm(ConsoleForm):
    """Asks for those settings of an address that can change.

    An empty field means the plan's value, or the default of a setting that plans do not have.
    ``generation`` is a hidden field: the address's generation when the page was made. The view
    passes it to the action, which refuses to overwrite a change that somebody else has made since.
    """

    generation = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self,
        *args: Any,
        address: Address,
        plan: AddressPlanDefinition,
        existing: Sequence[Address],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.own = address.settings
        self.fields["generation"].initial = address.generation
        self.shown: dict[str, Setting] = {}
        others = [row for row in existing if row.pk != address.pk]
        for setting in offered(address):
            field = setting_field(setting, others, address.space.type)
            if field is None or setting.is_fixed:
                continue
            value = getattr(self.own, setting.name)
            _fill(field, setting, value, getattr(plan, setting.name, None))
            self.shown[form_name(setting)] = setting
            self.fields[form_name(setting)] = field

    @property
    def setting_fields(self) -> list[forms.BoundField]:
        """The fields of all settings that can change, without the hidden ``generation``."""
        return [self[name] for name in self.shown]

    def settings(self) -> AddressSettings:
        """Return all settings of the address with the changes of the valid form, in base units."""
        # An untouched field keeps its value, which may be more exact than the unit of the form.
        changes = {
            setting.name: base_value(setting, self.cleaned_data[name])
            for name, setting in self.shown.items()
            if name in self.changed_data
        }
        return replace(self.own, **changes)

    def field_named(self, name: str) -> str:
        """Return the name of the form field that an error calls ``name``.

        An error names a setting as the API does, such as ``message_ttl_ms``; the name of the form
        field has the form's unit instead (``message_ttl_seconds``).
        """
        return form_name(SETTING[name]) if name in SETTING else name


def _fill(field: forms.Field, setting: Setting, value: Any, of_plan: int | None) -> None:
    """Set a field's initial value to ``value``, the address's own, and extend its help text.

    The help text of a number then says which value the plan has (``of_plan``; None: no value), and
    the exact own value if the form's unit cannot express it.
    """
    number = setting.value
    if not isinstance(number, Whole):
        field.initial = value
        choices = getattr(field, "choices", None)
        # A target that is being deleted is no choice, but it is what the address has.
        if choices is not None and value and value not in dict(choices):
            field.choices = [*choices, (value, value)]  # type: ignore[attr-defined]
        return
    if value is not None:
        field.initial = -(-value // number.unit.size)
        if value % number.unit.size:
            field.help_text += f" Now exactly {as_text(setting, value)}."
    if setting.name in address_types.of_plans():
        words = "no value" if of_plan is None else as_text(setting, of_plan)
        field.help_text += f" The plan has {words}."
        if of_plan is not None:
            field.widget.attrs["placeholder"] = str(-(-of_plan // number.unit.size))
