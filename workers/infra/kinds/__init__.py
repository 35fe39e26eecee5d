"""The registry of instance kinds. A new kind is a value of ``Kind``, a module and a row here."""

from collections.abc import Mapping

from controlplane.core.instance_names import Kind
from workers.infra.kinds import broker, router
from workers.infra.kinds.base import InstanceKind

REGISTRY: Mapping[Kind, InstanceKind] = {row.kind: row for row in (broker.KIND, router.KIND)}

# A kind without a row must not wait for its first instance to fail.
if REGISTRY.keys() != set(Kind):
    raise AssertionError(f"no description of {sorted(set(Kind) - REGISTRY.keys())}")
