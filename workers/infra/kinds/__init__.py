"""The registry of instance kinds. A new kind is a value of ``Kind``, a module and a row here."""

from collections.abc import Mapping

from controlplane.core.instance_names import Kind
from workers.infra.kinds import broker, router
from workers.infra.kinds.base import InstanceKind

REGISTRY: Mapping[Kind, InstanceKind] = {row.kind: row for row in (broker.KIND, router.KIND)}

# Fail at the import, not when the first instance of a kind without a row is created.
if REGISTRY.keys() != set(Kind):
    raise AssertionError(f"no description of {sorted(set(Kind) - REGISTRY.keys())}")
