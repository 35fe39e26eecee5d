"""Says which types of space an installation can run: standard only with a router image."""

from collections.abc import Sequence

from django.conf import settings

from controlplane.core.errors import Denied
from tenants.models import SpaceType


class TypeNotOffered(Denied):
    """The installation cannot run spaces of this type."""

    code = "space_type.not_offered"


def offered() -> Sequence[SpaceType]:
    """Return the types of space that this installation can run: brokered, and standard if possible.

    The setting ``STANDARD_SPACES_OFFERED`` says whether the installation has a router for standard
    spaces.
    """
    has_routers = bool(settings.STANDARD_SPACES_OFFERED)
    return [kind for kind in SpaceType if kind != SpaceType.STANDARD or has_routers]


def check(type: str) -> None:
    """Check that this installation can run spaces of ``type``.

    Raises:
        TypeNotOffered: the installation cannot; the message says what to do.
    """
    if type not in offered():
        raise TypeNotOffered(
            "This installation has no router image, so it runs brokered spaces only: choose a "
            "brokered plan, or ask the operator to set `router.image` in the chart's values.",
            offered=[kind.value for kind in offered()],
        )
