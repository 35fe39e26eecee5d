"""Translate between our router patches and the AMQP capabilities that stand for them.

A patched router offers one capability for each of its patches in its AMQP open frame.
"""

from collections.abc import Iterable

from tenants.router_patches import Patch

_PREFIX = "waypost:"


def of_capabilities(offered: Iterable[object]) -> frozenset[Patch]:
    """Return the patches of a router that offers these capabilities; ignore other capabilities."""
    names = {
        str(capability).removeprefix(_PREFIX)
        for capability in offered
        if str(capability).startswith(_PREFIX)
    }
    return frozenset(patch for patch in Patch if patch in names)


def as_capability(patch: Patch) -> str:
    """Return the capability that a router with the patch offers."""
    return f"{_PREFIX}{patch}"
