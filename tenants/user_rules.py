"""Validation of a messaging user's name, password and permissions.

Pure: reads neither rows nor settings, so it needs no lock.
"""

import re
from collections.abc import Sequence
from typing import Any

from controlplane.core.errors import Invalid

OPERATIONS = ("send", "recv")  # what a permission can allow
MIN_PASSWORD = 8  # characters
MAX_PASSWORD = 200  # characters
MAX_GRANTS = 100  # entries in the permissions of one user
_LEGAL_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?")
_RESERVED_NAMES = ("wp-", "waypost")  # prefixes of Waypost's own logins
# The characters that a legal address may have (``tenants.address_rules``), and the wildcards ``*``
# and ``#``.
_LEGAL_PATTERN = re.compile(r"[^\s$+:][^\s+]{0,254}")


def check_name(name: str) -> None:
    """Check the name of a new messaging user. Whether the name is taken is not checked.

    Raises:
        Invalid: the name has an illegal character or length, or begins with a reserved prefix.
    """
    # The name is a SASL identity and a key in the broker's properties files.
    if not _LEGAL_NAME.fullmatch(name):
        raise _refuse(
            "name",
            "1 to 63 characters of a-z, 0-9, '.', '_', '-', with a letter or digit at both ends.",
        )
    if name.startswith(_RESERVED_NAMES):
        raise _refuse("name", f"These prefixes are reserved: {', '.join(_RESERVED_NAMES)}.")


def check_password(password: str) -> None:
    """Check that a password has 8 to 200 characters, all of them printable ASCII.

    SASLprep (RFC 4013) leaves such a text unchanged, so every login mechanism hashes the same
    bytes.

    Raises:
        Invalid: the password is too short or too long, or has another character.
    """
    is_long_enough = MIN_PASSWORD <= len(password) <= MAX_PASSWORD
    if not (is_long_enough and password.isascii() and password.isprintable()):
        reason = f"{MIN_PASSWORD} to {MAX_PASSWORD} ASCII letters, digits, symbols and spaces."
        raise _refuse("password", reason)


def check_permissions(permissions: Sequence[Any]) -> list[dict[str, list[str]]]:
    """Check permissions as a caller sent them; return their stored form.

    ``MessagingUser.permissions`` describes that form. Whether addresses match a pattern is not
    checked.

    Raises:
        Invalid: an entry is malformed, or there are more than ``MAX_GRANTS`` entries.
    """
    if len(permissions) > MAX_GRANTS:
        raise _refuse(
            "permissions", f"At most {MAX_GRANTS} entries; use patterns to cover more addresses."
        )
    return [_permission(index, entry) for index, entry in enumerate(permissions)]


def _permission(index: int, entry: Any) -> dict[str, list[str]]:
    at = f"permissions[{index}]"
    if not isinstance(entry, dict) or set(entry) != {"addresses", "operations"}:
        raise _refuse(at, "Give {addresses: [pattern], operations: [send, recv]}.")
    addresses, allowed = entry["addresses"], entry["operations"]

    def is_names(value: Any) -> bool:
        is_list = isinstance(value, list) and 0 < len(value) <= MAX_GRANTS
        return is_list and all(isinstance(name, str) for name in value)

    if not is_names(allowed) or not set(allowed) <= set(OPERATIONS):
        raise _refuse(f"{at}.operations", "A list of: send, recv.")
    if not is_names(addresses) or not all(is_pattern(pattern) for pattern in addresses):
        raise _refuse(
            f"{at}.addresses",
            f"1 to {MAX_GRANTS} addresses; '*' matches one level between '/', and '#' at the end "
            "matches all further levels.",
        )
    # In the order of ``OPERATIONS``, so that equal permissions are stored equally.
    return {"addresses": list(addresses), "operations": sorted(set(allowed), reverse=True)}


def is_pattern(pattern: str) -> bool:
    """Return whether ``pattern`` is a legal pattern of addresses in a permission.

    A legal pattern has only characters of addresses and the wildcards '*' and '#'. Each wildcard is
    a whole level between '/', and '#' can only be the last level.
    """
    if not _LEGAL_PATTERN.fullmatch(pattern) or not pattern.isprintable():
        return False
    levels = pattern.split("/")
    whole = all(level in {"*", "#"} or not set(level) & {"*", "#"} for level in levels)
    return whole and "#" not in levels[:-1]


def _refuse(field: str, reason: str) -> Invalid:
    return Invalid(f"{field}: {reason}", code="messaging_user.invalid", **{field: [reason]})
