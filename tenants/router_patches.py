"""Our patches to the real router, and what their presence means for who uses a space.

A running router offers its patches (``workers.messaging.routers.patches``); a space remembers those
that all of its routers have (``AddressSpace.router_patches``). The patches themselves are in
``charts/images/router/patches``, one file each, with the reason.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum


class Patch(StrEnum):
    """One patch, by the name it is offered under. A router that lacks one still works."""

    # Logins by SCRAM work with strict clients such as Qpid JMS. Without: PLAIN alone is offered.
    SASL_OUTCOME = "sasl-outcome"
    # A permission that ends in a wildcard opens no internal address. Without: exact names only.
    POLICY_HOST = "policy-host"
    # Every router may hold the link routes: durable subscriptions are found through each of them.
    CONTAINER_ID = "container-id"
    # A browser or a filter on a queue is refused. Without: messages are taken, filters ignored.
    NO_BROWSE = "no-browse"
    # An address that is being deleted takes no new link, whatever still holds its counters.
    CLOSED_ADDRESS = "closed-address"


_BROWSING_IS_REFUSED = (
    "Queues of a standard space can neither be browsed nor read with a selector: the attempt is "
    "refused with amqp:not-implemented. Use a brokered space for that."
)
_BROWSING_TAKES = (
    "Do not browse queues of this space and do not use selectors: its routers do not refuse it, "
    "and a browser takes the messages away. Use a brokered space for that."
)
_DURABLE_MOVE = (
    "A durable subscription by link name may be lost when a router is away: use an address of type "
    "subscription, which is served by every router."
)


def notes_for_clients(patches: Collection[str], routers: int) -> Sequence[str]:
    """Return what a client of a standard space must know, one sentence or two each.

    ``patches``: those of the space's routers; ``routers``: how many its plan has.
    """
    notes = [_BROWSING_IS_REFUSED if Patch.NO_BROWSE in patches else _BROWSING_TAKES]
    if routers > 1 and Patch.CONTAINER_ID not in patches:
        notes.append(_DURABLE_MOVE)
    return notes
