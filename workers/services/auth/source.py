"""Read the users of spaces, and the addresses of standard spaces, from PostgreSQL.

Rows whose deletion is requested are left out, and so is everything in a space whose deletion is
requested. Only ``watcher`` calls this module, in its own thread.
"""

from collections.abc import Collection, Mapping

import structlog

from controlplane.core import address_types
from tenants.models import Address, AddressSpace, MessagingUser, SpaceType
from workers.services.auth.state import KnownUser, Picture, SpaceUsers, Verifier

logger = structlog.get_logger(__name__)


def read_all() -> dict[str, SpaceUsers]:
    """Read every space that is not being deleted: {space id: its users and addresses}.

    A brokered space has its users but no addresses in the result.

    Raises:
        django.db.Error: the database is unavailable.
    """
    return _Reading(None).run()


def read_again(picture: Picture, space_ids: Collection[str]) -> dict[str, SpaceUsers]:
    """Return a copy of ``picture`` in which the spaces ``space_ids`` are read again.

    The entries of other spaces are taken over. A space of ``space_ids`` that does not exist, or
    whose deletion was requested, is not in the result.

    Raises:
        django.db.Error: the database is unavailable.
    """
    kept = {key: value for key, value in picture.items() if key not in space_ids}
    return kept | _Reading(space_ids).run()


class _Reading:
    """Reads the spaces ``space_ids`` from the database once; None stands for all spaces."""

    def __init__(self, space_ids: Collection[str] | None) -> None:
        self._space_ids = space_ids

    def run(self) -> dict[str, SpaceUsers]:
        spaces = AddressSpace.objects.filter(deletion_requested_at__isnull=True)
        if self._space_ids is not None:
            spaces = spaces.filter(id__in=self._space_ids)
        # The spaces are read last, in the loop below: a deletion or a withdrawal of sending that is
        # stored in between counts already. A space that is created in between has no users yet, so
        # its logins fail until the next read.
        users = self._users()
        addresses, read_only = self._addresses()
        return {
            space_id: SpaceUsers(
                withdrawn,
                # Nobody may log in while connections are refused.
                {} if refused else users.get(space_id, {}),
                addresses.get(space_id, ()),
                read_only.get(space_id, ()),
                tuple(patches),
            )
            for space_id, withdrawn, refused, patches in spaces.values_list(
                "id", "send_withdrawn", "connections_refused", "router_patches"
            )
        }

    def _users(self) -> Mapping[str, Mapping[str, KnownUser]]:
        """Return {space id: {name: user}}, and log each user whose row is invalid.

        Such a user is left out, and so is a space without users.
        """
        rows = MessagingUser.objects.filter(
            deletion_requested_at__isnull=True, space__deletion_requested_at__isnull=True
        )
        if self._space_ids is not None:
            rows = rows.filter(space_id__in=self._space_ids)
        found: dict[str, dict[str, KnownUser]] = {}
        columns = ("space_id", "name", "verifiers", "permissions")
        for space_id, name, verifiers, permissions in rows.values_list(*columns):
            try:
                verifier = Verifier(**verifiers["scram-sha-256"])
                user = KnownUser(name, verifier, _by_pattern(permissions))
            except (KeyError, TypeError, AttributeError):
                # One invalid row must not prevent the logins of all other users.
                logger.warning(
                    "a user cannot log in: the row is invalid", space=space_id, user=name
                )
            else:
                found.setdefault(space_id, {})[name] = user
        return found

    def _addresses(self) -> tuple[Mapping[str, tuple[str, ...]], Mapping[str, tuple[str, ...]]]:
        """Return {space id: addresses}, and {space id: read-only addresses}, of standard spaces.

        Addresses are as clients name them. No client may send to a read-only one. Brokered spaces
        are left out: their clients log in at the broker itself.
        """
        rows = Address.objects.filter(
            deletion_requested_at__isnull=True,
            space__deletion_requested_at__isnull=True,
            space__type=SpaceType.STANDARD,
        )
        if self._space_ids is not None:
            rows = rows.filter(space_id__in=self._space_ids)
        found: dict[str, list[str]] = {}
        read_only: dict[str, list[str]] = {}
        columns = ("space_id", "topic__address", "address", "type")
        for space_id, topic, address, kind in rows.order_by("address").values_list(*columns):
            found.setdefault(space_id, []).append(f"{topic}::{address}" if topic else address)
            if address_types.BY_SLUG[kind].is_read_only:
                read_only.setdefault(space_id, []).append(address)
        return (
            {space_id: tuple(addresses) for space_id, addresses in found.items()},
            {space_id: tuple(addresses) for space_id, addresses in read_only.items()},
        )


def _by_pattern(permissions: list[dict[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    """Merge the ``permissions`` of a user into {address pattern: sorted operations}."""
    granted: dict[str, set[str]] = {}
    for grant in permissions:
        for pattern in grant["addresses"]:
            granted.setdefault(pattern, set()).update(grant["operations"])
    return {pattern: tuple(sorted(operations)) for pattern, operations in granted.items()}
