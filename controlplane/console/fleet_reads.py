"""Queries over the spaces of all tenants for operators; the number of queries is constant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Case, Count, F, IntegerField, OrderBy, Q, QuerySet, Value, When
from django.utils import timezone

from controlplane.core.errors import Missing
from controlplane.core.phases import Phase
from tenants.models import AddressSpace, EngineRelease, SpaceSecret

UNAPPLIED = "unapplied"
SILENT = "silent"
ENDING = "ending"
ENDING_WITHIN = timedelta(days=7)  # workers renew certificates long before
NO_RELEASE = "none"
# The order of the list.
_TROUBLE_FIRST = [
    Phase.FAILED,
    Phase.CONFIGURING,
    Phase.PENDING,
    Phase.TERMINATING,
    Phase.ACTIVE,
]
# ``attempts`` sorts from high to low: each crashed reconcile pass adds 1, a pass that failed with
# a reason sets 1, any other pass sets 0. So spaces whose passes crash again and again come first
# within their phase. The last two columns make the order hold over all pages of the table.
ORDERS: Mapping[str, tuple[str, Sequence[str | OrderBy]]] = {
    "trouble": ("Trouble first", ("rank", "-attempts", "tenant__name", "name")),
    "waiting": ("Longest waiting first", ("updated_at", "tenant__name", "name")),
    "old": ("Oldest first", ("created_at", "id")),
    "new": ("Newest first", ("-created_at", "id")),
    "name": ("By name", ("name", "tenant__name", "id")),
    "release": (
        "Oldest version first",
        (F("observed_release__number").asc(nulls_first=True), "tenant__name", "name"),
    ),
}


@dataclass(frozen=True)
class FleetFilter:
    """Selects and orders spaces of all tenants. An empty value does not filter.

    ``text`` is a part of the name of the space or tenant, or the id of the space. ``state`` is a
    phase, ``UNAPPLIED``, ``SILENT`` or ``ENDING``, which selects spaces with a certificate that
    ends within ``ENDING_WITHIN``. ``plan`` is the key of a space plan, ``release`` the number
    of the release that the space runs, or ``NO_RELEASE``. ``order`` is a key of ``ORDERS``.
    """

    text: str = ""
    state: str = ""
    plan: str = ""
    release: str = ""
    order: str = "trouble"


def spaces(wanted: FleetFilter) -> QuerySet[AddressSpace]:
    """Return the spaces of all tenants that ``wanted`` selects and that are not deleted."""
    # The database sorts, because the order must hold over all pages of the table.
    rank = Case(
        *(When(phase=phase, then=Value(n)) for n, phase in enumerate(_TROUBLE_FIRST)),
        default=Value(len(_TROUBLE_FIRST)),
        output_field=IntegerField(),
    )
    rows = _living().annotate(rank=rank)
    if wanted.text:
        rows = rows.filter(
            Q(name__icontains=wanted.text)
            | Q(pk=wanted.text)
            | Q(tenant__name__icontains=wanted.text)
            | Q(tenant__slug__icontains=wanted.text)
        )
    if wanted.state == UNAPPLIED:
        rows = rows.exclude(generation=F("observed_generation"))
    elif wanted.state == SILENT:
        rows = rows.filter(silent_since__isnull=False)
    elif wanted.state == ENDING:
        soon = timezone.now() + ENDING_WITHIN
        ending = SpaceSecret.objects.filter(expires_at__lt=soon)
        rows = rows.filter(pk__in=ending.values("space"))
    elif wanted.state:
        rows = rows.filter(phase=wanted.state)
    if wanted.plan:
        rows = rows.filter(space_plan__key=wanted.plan)
    if wanted.release == NO_RELEASE:
        rows = rows.filter(observed_release__isnull=True)
    elif wanted.release:
        rows = rows.filter(observed_release__number=wanted.release)
    return rows.order_by(*ORDERS[wanted.order][1])


def get(space_id: str) -> AddressSpace:
    """Return a space of any tenant by its id; raise Missing if none that is not deleted has it."""
    found = _living().select_related("release").filter(pk=space_id).first()
    if found is None:
        raise Missing("There is no such space, or it is deleted.", code="address_space.missing")
    return found


def plan_keys() -> list[str]:
    """Return the keys of the plans of all spaces that are not deleted, sorted."""
    return sorted(set(_living().order_by().values_list("space_plan__key", flat=True)))


def release_numbers() -> list[int]:
    """Return the numbers of all releases, newest first."""
    return list(EngineRelease.objects.order_by("-number").values_list("number", flat=True))


def phases() -> list[tuple[str, int]]:
    """Return (phase, number of spaces of all tenants), failed first.

    Deleted spaces do not count. Phases without spaces are left out.
    """
    counted = _living().order_by().values_list("phase").annotate(count=Count("id"))
    found = dict(counted)
    return [(phase.value, found[phase]) for phase in _TROUBLE_FIRST if phase in found]


def waiting() -> QuerySet[AddressSpace]:
    """Return the spaces of all tenants whose newest generation the workers have not applied yet.

    The space that was last changed longest ago comes first. Deleted spaces are left out.
    """
    return _living().exclude(generation=F("observed_generation")).order_by("updated_at", "id")


def _living() -> QuerySet[AddressSpace]:
    return AddressSpace.objects.filter(deleted_at__isnull=True).select_related(
        "tenant", "space_plan", "observed_release"
    )
