"""Queries over the spaces of all tenants for operators; the number of queries is constant."""

from django.db.models import Case, Count, F, IntegerField, QuerySet, Value, When

from controlplane.core.phases import Phase
from tenants.models import AddressSpace

_TROUBLE_FIRST = [
    Phase.FAILED,
    Phase.CONFIGURING,
    Phase.PENDING,
    Phase.TERMINATING,
    Phase.ACTIVE,
]


def spaces() -> QuerySet[AddressSpace]:
    """Return all tenants' spaces that are not deleted: by phase, ``attempts``, tenant and name.

    Failed spaces come first, Active ones last.
    ``attempts`` sorts from high to low: each crashed reconcile pass adds 1, a pass that failed with
    a reason sets 1, any other pass sets 0. So spaces whose passes crash again and again come first
    within their phase.
    """
    # The database sorts, because the order must hold over all pages of the table.
    rank = Case(
        *(When(phase=phase, then=Value(n)) for n, phase in enumerate(_TROUBLE_FIRST)),
        default=Value(len(_TROUBLE_FIRST)),
        output_field=IntegerField(),
    )
    return _living().order_by(rank, "-attempts", "tenant__name", "name")


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
    return AddressSpace.objects.filter(deleted_at__isnull=True).select_related("tenant")
