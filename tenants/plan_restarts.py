"""Which instances of a space restart when it moves to another plan.

A value of the plan that an instance reads only at its start makes it restart. The workers find out
by comparing specifications (``workers.reconcile.rolling``); a test compares both.
"""

from collections.abc import Sequence

from controlplane.core.instance_names import InstanceId, Kind
from plans.catalog.definitions import SpacePlanDefinition
from tenants.models import AddressSpace, SpaceType

# Fields of a space plan that restart brokers and routers.
_OF_BOTH = ("max_connections", "placement")
# All fields of a space plan that restart brokers, those of ``_OF_BOTH`` included.
_OF_BROKERS = (
    *_OF_BOTH,
    "broker_memory_mb",
    "broker_message_memory_mb",
    "broker_cpu_millis",
    "broker_disk_gb",
    "broker_journal",
    "broker_persistent",
)
# Limits of clients: routers enforce them in standard spaces, brokers in brokered ones.
_OF_CLIENTS = (
    "max_message_kb",
    "max_user_connections",
    "max_connection_sessions",
    "max_connection_senders",
    "max_connection_receivers",
)
_RATES = ("max_connection_rate", "max_user_rate")  # no router limits these
_OF_ROUTERS = (*_OF_BOTH, *_OF_CLIENTS, "max_source_connections")  # no broker limits the last


def find(space: AddressSpace, old: SpacePlanDefinition, new: SpacePlanDefinition) -> Sequence[str]:
    """Return the names of the instances that restart, brokers first.

    Routers that the new plan adds or removes are not among them: they start or end.
    """
    found: list[str] = []
    is_brokered = space.type == SpaceType.BROKERED
    of_brokers = (*_OF_BROKERS, *((*_OF_CLIENTS, *_RATES) if is_brokered else ()))
    if any(getattr(old, name) != getattr(new, name) for name in of_brokers):
        ordinals = space.brokers.order_by("ordinal").values_list("ordinal", flat=True)
        found += [InstanceId(Kind.BROKER, ordinal).name for ordinal in ordinals]
    if any(getattr(old, name) != getattr(new, name) for name in _OF_ROUTERS):
        kept = range(min(old.routers, new.routers))
        found += [InstanceId(Kind.ROUTER, ordinal).name for ordinal in kept]
    return found
