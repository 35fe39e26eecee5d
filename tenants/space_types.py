"""Which types of space this installation can run. Called by the action, the API and the portal."""

from collections.abc import Sequence

from django.conf import settings

from controlplane.core.errors import Denied
from tenants.models import SpaceType


class TypeNotOffered(Denied):
    """The installation cannot run spaces of this type."""

    code = "space_type.not_offered"


def offered() -> Sequence[SpaceType]:
    """Return the types that can run here: without routers only those that need none."""
    return [each for each in SpaceType if each != SpaceType.STANDARD or _has_routers()]


def check(type: str) -> None:
    """Return when spaces of the type can run here.

    Raises:
        TypeNotOffered: they cannot; the message says what to do.
    """
    if type not in offered():
        raise TypeNotOffered(
            "This installation has no router image, so it runs brokered spaces only: choose a "
            "brokered plan, or ask the operator to set `router.image` in the chart's values.",
            offered=[each.value for each in offered()],
        )


def _has_routers() -> bool:
    return bool(settings.STANDARD_SPACES_OFFERED)
