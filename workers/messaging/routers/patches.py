"""Our patches to the real router, and how a running router says which of them it has.

A patched router names each patch among the capabilities that it offers with its AMQP open frame.
The patches are in ``charts/images/router/patches``, one file each, with the reason.
"""

from collections.abc import Iterable
from enum import StrEnum

_PREFIX = "waypost:"


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


def of_capabilities(offered: Iterable[object]) -> frozenset[Patch]:
    """Return the patches among the offered capabilities; unknown ones are left out."""
    names = {str(each).removeprefix(_PREFIX) for each in offered if str(each).startswith(_PREFIX)}
    return frozenset(each for each in Patch if each in names)


def as_capability(patch: Patch) -> str:
    """Return the capability that a router with the patch offers."""
    return f"{_PREFIX}{patch}"
