"""Read users and addresses from PostgreSQL. Called by ``watcher`` in its thread only."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import structlog

from tenants.models import Address, AddressSpace, MessagingUser, SpaceType
from workers.services.auth.state import KnownUser, Picture, SpaceUsers, Verifier

logger = structlog.get_logger(__name__)


def read_all() -> dict[str, SpaceUsers]:
    """Return the users and addresses of every space that is not being deleted."""
    return _read(None)


def read_again(picture: Picture, space_ids: Collection[str]) -> dict[str, SpaceUsers]:
    """Return ``picture`` with the named spaces read again; deleted spaces are removed."""
    kept = {key: value for key, value in picture.items() if key not in space_ids}
    return kept | _read(space_ids)


def _read(space_ids: Collection[str] | None) -> dict[str, SpaceUsers]:
    spaces = AddressSpace.objects.filter(deletion_requested_at__isnull=True)
    users = MessagingUser.objects.filter(
        deletion_requested_at__isnull=True, space__deletion_requested_at__isnull=True
    )
    if space_ids is not None:
        spaces, users = spaces.filter(id__in=space_ids), users.filter(space_id__in=space_ids)
    # Read users first. A space that is created in between has no users yet: its logins fail until
    # the next read, and no login succeeds that should not.
    by_space: dict[str, dict[str, KnownUser]] = {}
    for space_id, user in _known(users.values_list("space_id", "name", "verifiers", "permissions")):
        by_space.setdefault(space_id, {})[user.name] = user
    addresses = _addresses(space_ids)
    return {
        space_id: SpaceUsers(
            withdrawn, by_space.get(space_id, {}), addresses.get(space_id, ()), tuple(patches)
        )
        for space_id, withdrawn, patches in spaces.values_list(
            "id", "send_withdrawn", "router_patches"
        )
    }


def _addresses(space_ids: Collection[str] | None) -> Mapping[str, tuple[str, ...]]:
    """Return the addresses by space, as clients name them; only standard spaces have routers."""
    rows = Address.objects.filter(
        deletion_requested_at__isnull=True,
        space__deletion_requested_at__isnull=True,
        space__type=SpaceType.STANDARD,
    )
    if space_ids is not None:
        rows = rows.filter(space_id__in=space_ids)
    found: dict[str, list[str]] = {}
    names = rows.order_by("address").values_list("space_id", "topic__address", "address")
    for space_id, topic, address in names:
        found.setdefault(space_id, []).append(f"{topic}::{address}" if topic else address)
    return {space_id: tuple(addresses) for space_id, addresses in found.items()}


def _known(rows: Iterable[tuple[str, str, Any, Any]]) -> Iterator[tuple[str, KnownUser]]:
    for space_id, name, verifiers, permissions in rows:
        try:
            verifier = Verifier(**verifiers["scram-sha-256"])
            yield space_id, KnownUser(name, verifier, _by_pattern(permissions))
        except (KeyError, TypeError, AttributeError):
            # One invalid row must not prevent the logins of all other users.
            logger.warning("a user cannot log in: the row is invalid", space=space_id, user=name)


def _by_pattern(permissions: list[dict[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    granted: dict[str, set[str]] = {}
    for grant in permissions:
        for pattern in grant["addresses"]:
            granted.setdefault(pattern, set()).update(grant["operations"])
    return {pattern: tuple(sorted(operations)) for pattern, operations in granted.items()}
