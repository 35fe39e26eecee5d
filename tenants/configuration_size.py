"""Check that the start-up files of a space still fit into the objects of a cluster.

A cluster takes 1 MiB in one object. The file of a brokered space's broker lists, for each address,
every user who may use the address. ``tenants.actions`` checks the size in the transaction that adds
an address, a user or a permission. The sizes here estimate the file that
``workers.messaging.brokers.broker_xml`` renders, and the file of roles for the patterns with which
brokers compare filters. A test checks that the estimates are never too small. Standard spaces need
no check: their plans are checked when they are published.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from controlplane.core.address_types import BY_SLUG, BrokerForm
from controlplane.core.errors import Conflict
from plans.catalog.sold_sizes import OBJECT_BYTES
from tenants.models import AddressSpace, SpaceType

# Bytes for one address without its name, and how often the file has its name.
_ADDRESS, _NAMES = 1_950, 4
# How often the file has the role of a user who may use the address. A role is the name of the user
# with a prefix and a comma. Forms that are missing here have no security settings of their own.
_ROLES = {BrokerForm.QUEUE: 3, BrokerForm.TOPIC: 7}
_ROLE = 6  # bytes of a role beside the user's name
_SUBSCRIPTION = 150  # a queue of its topic
_ESCAPED = 5  # more bytes for a character that XML escapes
# The file of roles has a line for each pattern with a wildcard, and an escape of this many bytes
# for each character that is no ASCII letter or digit.
_PATTERN, _ESCAPE = 18, 12


class ConfigurationFull(Conflict):
    """The start-up files of the space's broker would not fit into one object of a cluster."""

    code = "address_space.configuration_full"


def of(space: AddressSpace) -> int:
    """Return the estimated bytes of the start-up file of a brokered space; 0 for a standard space.

    Addresses and users that are being deleted do not count.
    """
    if space.type != SpaceType.BROKERED:
        return 0
    addresses = space.addresses.filter(deletion_requested_at__isnull=True)
    users = space.users.filter(deletion_requested_at__isnull=True)
    return estimate(
        addresses.values_list("address", "type"), users.values_list("name", "permissions")
    )


def check(space: AddressSpace, *, before: int = 0) -> None:
    """Check that the start-up file of the space fits, with the rows as this transaction left them.

    Call it after the change, with the row of the space locked. ``before`` is the result of ``of``
    before the change: a space that was too large already may shrink or stay as large.

    Raises:
        ConfigurationFull: the file does not fit; the message says what to do.
    """
    size = of(space)
    if size > max(OBJECT_BYTES, before):
        raise ConfigurationFull(
            f"The addresses and permissions of this space would take about {size:,} bytes of its "
            f"broker's file, which may have {OBJECT_BYTES:,}. Give users permissions on fewer "
            "addresses, delete some, or use a second space.",
            bytes=size,
            limit=OBJECT_BYTES,
        )


def estimate(
    addresses: Iterable[tuple[str, str]], users: Iterable[tuple[str, Sequence[Mapping[str, Any]]]]
) -> int:
    """Return the bytes that the files need at most for ``addresses`` and ``users``.

    An address is a pair of name and type. A user is a pair of name and permissions
    (``MessagingUser.permissions``).
    """
    total, stored = 0, []
    for name, kind in addresses:
        form = BY_SLUG[kind].broker_form
        if form in _ROLES:
            stored.append((name, _ROLES[form]))
            total += _ADDRESS + _NAMES * _length(name)
        else:
            total += _SUBSCRIPTION + _length(name)
    for user, permissions in users:
        patterns = [pattern for entry in permissions for pattern in entry["addresses"]]
        roles = sum(count for name, count in stored if _may_match(patterns, name))
        total += roles * (_ROLE + len(user))
        total += sum(_readers(pattern) + len(user) for pattern in set(patterns))
    return total


def _readers(pattern: str) -> int:
    if "*" not in pattern and "#" not in pattern:
        return 0
    return _PATTERN + sum(1 if sign.isascii() and sign.isalnum() else _ESCAPE for sign in pattern)


def _length(name: str) -> int:
    return len(name.encode()) + _ESCAPED * sum(name.count(sign) for sign in '&<>"$')


def _may_match(patterns: Iterable[str], name: str) -> bool:
    """Return whether one of ``patterns`` may match the name of an address.

    Wildcards are not evaluated: the text before the first one is compared with the beginning of the
    name. So the result may be True for a name that no pattern matches.
    """
    return any(
        pattern == name
        or ("*" in pattern and name.startswith(pattern.split("*")[0]))
        or (pattern.endswith("#") and name.startswith(pattern.split("*")[0].rstrip("/#")))
        for pattern in patterns
    )
