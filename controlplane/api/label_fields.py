"""Labels of spaces and addresses in the API: their fields, the filter of lists, and the change."""

from collections.abc import Mapping
from typing import Any, TypeVar

from rest_framework import serializers

from controlplane.api import listing
from controlplane.core.audit import Actor
from tenants import label_rules
from tenants.actions import labels
from tenants.models import Address, AddressSpace

Row = TypeVar("Row", AddressSpace, Address)
FILTER = listing.Filter(
    "label",
    "Rows with this label, such as `team=shop`; `team` alone: with any value of it.",
    ("labels",),
    kind=listing.Kind.LABEL,
)
_RULES = (
    f"At most {label_rules.MOST} labels {{key: value}}, such as team: shop. A key has lowercase "
    "letters, digits, dots, hyphens and underscores; a value may be empty."
)


def input_field(*, is_required: bool = False) -> serializers.DictField:
    """Return the field of a request, which replaces all labels; absent: they stay as they are."""
    absent = "" if is_required else " Absent: the labels stay as they are."
    return serializers.DictField(
        # Not trimmed: the rules refuse a value with spaces, in place of changing it.
        child=serializers.CharField(max_length=63, allow_blank=True, trim_whitespace=False),
        required=is_required,
        help_text=f"{_RULES} They replace all labels.{absent}",
    )


def output_field() -> serializers.DictField:
    """Return the field of a space or an address that the API shows."""
    return serializers.DictField(child=serializers.CharField(allow_blank=True), help_text=_RULES)


def replace(row: Row, values: Mapping[str, Any], by: Actor) -> None:
    """Replace the labels of ``row`` if ``values``, a validated request, has ``labels``. Idempotent.

    Raises:
        Invalid: ``labels.invalid``: a label breaks a rule.
    """
    # Absent is not empty: {} takes all labels away. Assigned to ``row``, whose ETag is answered.
    if "labels" in values and row.labels != values["labels"]:
        row.labels = labels.replace(row=row, labels=values["labels"], by=by).labels
