"""Serializer fields for the settings of an address, made from the registry of settings.

``api.addresses`` adds them to its serializers. The registry is ``core.address_types.SETTINGS``.
"""

from typing import Any

from rest_framework import serializers

from controlplane.core.address_types import SETTINGS, Setting
from controlplane.core.setting_values import Text, Whole
from tenants.models import SpaceType

Field = serializers.Field[Any, Any, Any, Any]


def input_fields() -> dict[str, Field]:
    """Return {name: field} for each setting, for the desired state that a client sends."""
    return {setting.name: input_field(setting) for setting in SETTINGS}


def output_fields() -> dict[str, Field]:
    """Return {name: field} for each setting, for an address that the API shows."""
    return {setting.name: output_field(setting) for setting in SETTINGS}


def input_field(setting: Setting) -> Field:
    """Return a field that accepts a value of ``setting`` in a request.

    For a number, an absent value or null means the plan's value. An absent text is empty. For the
    name of another address, an empty value means none. An absent one means none too, unless the
    setting has a default target.
    """
    number = setting.value
    if isinstance(number, Whole):
        # The setting's own range is narrower. ``tenants.address_rules`` checks it and refuses with
        # the code ``address.invalid``, which clients compare.
        return serializers.IntegerField(
            min_value=0,
            max_value=int(number.width),
            required=False,
            allow_null=True,
            default=None,
            help_text=f"{setting.help_text} {number.range_words()}{_where(setting)} "
            "Null or absent: the plan's value.",
        )
    if isinstance(number, Text):
        # ``tenants.address_rules`` checks it and refuses with the code ``address.invalid``.
        return serializers.CharField(
            max_length=number.longest,
            required=False,
            default="",
            allow_blank=True,
            help_text=f"{setting.help_text}{_where(setting)}",
        )
    return serializers.CharField(
        max_length=255,
        required=False,
        # Without a default of its own, the field is missing in the values of such a request.
        default=serializers.empty if number.default else "",
        allow_blank=True,
        help_text=f"{setting.help_text}{_where(setting)}",
    )


def _where(setting: Setting) -> str:
    is_everywhere = set(setting.spaces) == set(SpaceType.values)
    fixed = " It can never change." if setting.is_fixed and not setting.is_relation else ""
    where = "" if is_everywhere else f" Only in {' and '.join(setting.spaces)} spaces."
    return f"{fixed}{where}"


def output_field(setting: Setting) -> Field:
    """Return a read-only field that takes the value of ``setting`` from a row of ``Address``."""
    if isinstance(setting.value, Whole):
        return serializers.IntegerField(
            allow_null=True, help_text=f"{setting.help_text} Null: the plan's value."
        )
    # A relation is a foreign key to another address, any other a column with its name.
    if setting.is_relation:
        return serializers.CharField(source=f"{setting.name}.address", default="")
    return serializers.CharField(allow_blank=True, help_text=setting.help_text)
