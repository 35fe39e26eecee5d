"""Says which labels spaces and addresses may have, and reads labels from text. Pure.

A label is a key with a value, such as ``team=checkout``. The value may be empty.
"""

import re
from collections.abc import Mapping
from typing import Any

from controlplane.core.errors import Invalid

MOST = 16  # labels of one space or address
# The key of a Kubernetes label without a prefix, in lower case.
_KEY = re.compile(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?")
# As the value of a Kubernetes label; may be empty.
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")


def parse(text: str) -> dict[str, str]:
    """Return the labels that ``text`` names, separated by spaces or commas: ``team=shop env=prod``.

    Raises:
        Invalid: a label breaks a rule, a key comes twice, or there are more than ``MOST`` labels.
    """
    found: dict[str, str] = {}
    for word in text.replace(",", " ").split():
        key, _, value = word.partition("=")
        if key in found:
            raise _invalid(f"The label {key} comes twice: keep one of them.")
        found[key] = value
    check(found)
    return found


def check(labels: Mapping[str, str]) -> None:
    """Check keys, values and their number.

    Raises:
        Invalid: ``labels.invalid``: a label breaks a rule, which the message names, or there are
        more than ``MOST`` labels.
    """
    if len(labels) > MOST:
        raise _invalid(f"At most {MOST} labels, and these are {len(labels)}.")
    for key, value in labels.items():
        if not _KEY.fullmatch(key):
            raise _invalid(
                f"{key[:80]!r} is no key of a label: use up to 63 lowercase letters, digits, dots, "
                "hyphens and underscores, with a letter or digit at both ends."
            )
        if not _VALUE.fullmatch(value):
            raise _invalid(
                f"{value[:80]!r} is no value of a label: use up to 63 letters, digits, dots, "
                "hyphens and underscores, with a letter or digit at both ends."
            )


def text(labels: Mapping[str, str]) -> str:
    """Return labels as ``parse`` reads them, sorted by key."""
    return " ".join(f"{key}={value}" for key, value in sorted(labels.items()))


def lookup(selector: str, column: str = "labels") -> dict[str, Any]:
    """Return the lookup of Django for rows whose JSON ``column`` has the label ``selector``.

    ``selector`` is a key, which selects every value, or ``key=value``.
    """
    key, equals, value = selector.partition("=")
    return {f"{column}__contains": {key: value}} if equals else {f"{column}__has_key": key}


def _invalid(message: str) -> Invalid:
    return Invalid(message, code="labels.invalid", labels=[message])
