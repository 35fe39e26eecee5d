"""The form fields of the settings of addresses, and the values of settings as texts."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from controlplane.core import address_types
from controlplane.core.address_types import SETTING, Setting
from controlplane.core.setting_values import Text, Whole
from plans.catalog.definitions import AddressPlanDefinition
from tenants.models import Address

# The names by which the API calls settings; a form calls them by their titles.
_NAMES = re.compile(rf"\b({'|'.join(name for name in SETTING if '_' in name)})\b")
# HTML attributes of inputs for names that programs use: browsers must not alter them.
_MONO = {"autocapitalize": "none", "autocomplete": "off", "spellcheck": "false"}


def form_name(setting: Setting) -> str:
    """Return the name of a setting's form field: the setting's name with the form's unit.

    For example, ``message_ttl_ms`` -> ``message_ttl_seconds``. Names without a unit stay.
    """
    if not isinstance(setting.value, Whole):
        return setting.name
    unit = setting.value.unit
    return setting.name.removesuffix(unit.suffix) + unit.form_suffix


def setting_field(
    setting: Setting, existing: Sequence[Address], space_type: str
) -> forms.Field | None:
    """Return the form field of a setting: a number, a text, or the choice of an address.

    For a setting that names another address, the choices are those of ``existing`` (addresses of
    the space) whose type is in ``refers_to``. If there are none, the result is None.
    """
    number = setting.value
    if isinstance(number, Whole):
        unit = number.unit
        return forms.IntegerField(
            label=f"{setting.title}, {unit.form_title}" if unit.form_title else setting.title,
            required=False,
            help_text=_help_text(setting),
            # Rounded up: one millisecond is less than the smallest whole second.
            min_value=-(-number.smallest // unit.size),
            max_value=number.largest // unit.size,
        )
    if isinstance(number, Text):
        options = [("", "the default"), *((choice, choice) for choice in number.choices)]
        texts: dict[str, Any] = {
            "label": setting.title,
            "required": False,
            "help_text": _help_text(setting),
        }
        if number.choices:
            return forms.ChoiceField(choices=options, **texts)
        return forms.CharField(
            max_length=number.longest, widget=forms.TextInput(attrs=_MONO), **texts
        )
    names = [row.address for row in existing if row.type in number.refers_to[space_type]]
    # What the space does with the message if the address names no target.
    is_lost = setting.name == "dead_letter"
    none = "none: the message is deleted" if is_lost else "where dead letters go"
    choices = [("", none), *((name, name) for name in names)]
    usual = [row.address for row in existing if row.type == number.refers_to[space_type][0]]
    return (
        forms.ChoiceField(
            label=setting.title,
            required=False,
            help_text=_help_text(setting),
            choices=choices,
            initial=number.default if number.default in usual else "",
        )
        if names
        else None
    )


def _help_text(setting: Setting) -> str:
    """Return what a setting does, with the titles of other settings in place of their names."""
    return _NAMES.sub(lambda found: f"“{SETTING[found[0]].title}”", setting.help_text)


def base_value(setting: Setting, entered: Any) -> Any:
    """Return the value of a setting in base units; ``entered`` is the value of its form field.

    An empty field gives None for a number, '' for other settings.
    """
    if not isinstance(setting.value, Whole):
        return entered or ""
    # ``is None``, because zero is a value.
    return None if entered is None else entered * setting.value.unit.size


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of ``values``, {setting: value in base units}, that a request must name.

    '' is a value of ``dead_letter``: an absent one means the default of the space.
    """
    return {
        name: value
        for name, value in values.items()
        if value is not None and (value != "" or name == "dead_letter")
    }


def fill_default(
    field: forms.Field, setting: Setting, plans: Sequence[AddressPlanDefinition]
) -> None:
    """Make the field of a number say which value an address gets that has none of its own.

    ``plans`` are the address plans to choose from. If all have the same value, it is also the
    placeholder. The help texts of settings that plans do not have already state their defaults.
    """
    number = setting.value
    if not isinstance(number, Whole) or setting.name not in address_types.of_plans():
        return
    titles: dict[int | None, list[str]] = {}
    for plan in plans:
        titles.setdefault(getattr(plan, setting.name), []).append(plan.title)
    texts = {value: "no value" if value is None else as_text(setting, value) for value in titles}
    if len(titles) == 1:
        words = ", ".join(texts.values())
    else:
        words = "; ".join(f"{texts[value]} in {', '.join(of)}" for value, of in titles.items())
    field.help_text += f" Default: {words}."
    [value, *others] = titles
    if value is not None and not others:
        field.widget.attrs["placeholder"] = str(-(-value // number.unit.size))


def as_text(setting: Setting, value: Any) -> str:
    """Return ``value``, in base units, as text with a unit; ``not set`` for None or ''.

    The unit is that of the portal's form, such as seconds. A value that is no whole number of
    those is shown in the base unit.
    """
    if value in (None, ""):
        return "not set"
    if not isinstance(setting.value, Whole):
        return str(value)
    unit = setting.value.unit
    whole, rest = divmod(value, unit.size)
    if rest:  # more exact than the unit of the form
        return f"{value:,} {unit.title}"
    return f"{whole:,} {unit.form_title}".strip()
