"""Which events a caller may have sent to a channel: those that the caller may see.

The row of an event's kind names the permission that it needs (``EventKind.needs``). API and portal
check it before they call an action, as they check other permissions. Otherwise a token that may
only manage channels could send itself the invoices.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from controlplane.core.errors import Denied
from tenants.notifications.event_kinds import CHOOSABLE
from tenants.notifications.models import Channel, Delivery
from tenants.permissions import Permission

# Whether the caller has a permission, by role and by the limits of the token.
May: TypeAlias = Callable[[Permission], bool]


class KindDenied(Denied):
    """The caller may not see what events of these kinds say; the message names the kinds."""

    code = "notification_kind.denied"


def require_new(kinds: Sequence[str], may: May) -> None:
    """Check that the caller may have a new channel for ``kinds``; an empty list means all.

    Raises:
        KindDenied: the caller lacks the permission of at least one kind.
    """
    require(_expanded(kinds), may)


def require_changed(
    channel: Channel, kinds: Sequence[str] | None, url: str | None, may: May
) -> None:
    """Check that the caller may change the events or the URL of a channel; None: it stays.

    The caller needs the permissions of the kinds that are added. A new URL needs those of all kinds
    of the channel, and of deliveries to it that still wait. What is taken away needs none.

    Raises:
        KindDenied: the caller lacks the permission of at least one of these kinds.
    """
    before = _expanded(channel.kinds)
    after = before if kinds is None else _expanded(kinds)
    added = after - before
    if url is not None:
        waiting = Delivery.objects.filter(channel=channel, state=Delivery.State.WAITING)
        added = after | set(waiting.values_list("event__kind", flat=True))
    require(added, may)


def require(kinds: Iterable[str], may: May) -> None:
    """Check that the caller may see events of ``kinds``. Unknown kinds are not checked here.

    Raises:
        KindDenied: the caller lacks the permission of at least one kind.
    """
    wanted = set(kinds)
    # Kinds that go to one receiver alone, such as a test, are not subscribed to.
    refused = [kind for kind in CHOOSABLE if kind.key in wanted and not may(kind.needs)]
    if refused:
        named = ", ".join(f"{kind.key} (needs {kind.needs})" for kind in refused)
        raise KindDenied(
            f"You may not see these events, so you may not have them sent: {named}. Name only "
            "other kinds, or ask an owner or admin to do this.",
            kinds=[f"You may not see these events: {', '.join(kind.key for kind in refused)}."],
        )


def _expanded(kinds: Sequence[str]) -> set[str]:
    """Return the keys that a channel with ``kinds`` gets: all that can be chosen if none is."""
    return set(kinds or (kind.key for kind in CHOOSABLE))
