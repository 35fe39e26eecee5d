"""How a running router says which of our patches it has: by the capabilities that it offers.

A patched router names each patch in its AMQP open frame.
"""

from collections.abc import Iterable

from tenants.router_patches import Patch

_PREFIX = "waypost:"


def of_capabilities(offered: Iterable[object]) -> frozenset[Patch]:
    """Return the patches among the offered capabilities; unknown ones are left out."""
    names = {str(each).removeprefix(_PREFIX) for each in offered if str(each).startswith(_PREFIX)}
    return frozenset(each for each in Patch if each in names)


def as_capability(patch: Patch) -> str:
    """Return the capability that a router with the patch offers."""
    return f"{_PREFIX}{patch}"
