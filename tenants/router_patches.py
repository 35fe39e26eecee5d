"""Waypost's patches to the router (Qpid Dispatch), and what they change for clients of a space.

An installation may run routers without some of these patches. A running router reports its patches
(``workers.messaging.routers.patches``). ``AddressSpace.router_patches`` stores those that all
running routers of a space have. The patches are in ``charts/images/router/patches``, one file each,
with the reason.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum


class Patch(StrEnum):
    """One patch, by the name that routers report. A router works without any of them.

    Each comment says what the patch does. ``Without`` says what happens at a router that lacks it.
    """

    # SCRAM logins work with strict clients such as Qpid JMS. Without: the space offers only PLAIN.
    SASL_OUTCOME = "sasl-outcome"
    # A permission that ends in a wildcard matches no internal address. Without: exact names only.
    POLICY_HOST = "policy-host"
    # All routers hold the link routes of topics, so a client finds its durable subscription through
    # each of them. Without: only the first running router holds them.
    CONTAINER_ID = "container-id"
    # Browsers and filters on a queue are refused. Without: a browser consumes the messages, and
    # filters are ignored.
    NO_BROWSE = "no-browse"
    # An address that is being deleted accepts no new link, even while its counters are kept.
    CLOSED_ADDRESS = "closed-address"
    # Clients see every refusal of a link. Without: Qpid JMS takes some refused links for open.
    REFUSED_LINK = "refused-link"
    # While the auth service is down, logins fail as a temporary error. Without: they fail as if the
    # password were wrong.
    SASL_CODE = "sasl-code"
    # A probe of the router's health costs no memory. Without: each one keeps about 200 bytes.
    HEALTH_STATE = "health-state"


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
_UNSUBSCRIBE_FAILS = (
    "Qpid JMS cannot end a durable subscription of a standard space: unsubscribe fails with an "
    "exception. Use an address of type subscription, which you can delete."
)
_UNSUBSCRIBE_DOES_NOTHING = (
    "Qpid JMS cannot end a durable subscription of this space: unsubscribe returns, and the "
    "subscription stays. Use an address of type subscription, which you can delete."
)


def notes_for_clients(patches: Collection[str], routers: int) -> Sequence[str]:
    """Return what clients of a standard space should know about the limits of its routers.

    Each note is a text of one or two sentences, for people. ``patches`` is
    ``AddressSpace.router_patches``: the patches that all running routers of the space have.
    ``routers``: the number of routers of the space's plan.
    """
    notes = [_BROWSING_IS_REFUSED if Patch.NO_BROWSE in patches else _BROWSING_TAKES]
    reports = Patch.REFUSED_LINK in patches
    notes.append(_UNSUBSCRIBE_FAILS if reports else _UNSUBSCRIBE_DOES_NOTHING)
    # With one router, every client reaches the router that holds the subscription.
    if routers > 1 and Patch.CONTAINER_ID not in patches:
        notes.append(_DURABLE_MOVE)
    return notes
