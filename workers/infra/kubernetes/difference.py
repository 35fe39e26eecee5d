"""Whether a live object still says what we want it to say. Pure.

Two things are compared. The digest of what we applied last, because a field that we stopped wanting
is only in the live object. And every field that we want, because anybody may have edited it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from workers.infra.kubernetes.resources import Manifest, Resource

DIGEST = "waypost.io/desired"
# Lists that the API merges by a key of their elements; admission may add elements of its own.
# Source: Kubernetes API reference, "patch merge key" of each field.
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "ports": "port",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "imagePullSecrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeClaimTemplates": "metadata",
}


def digest(value: object) -> str:
    """Return 16 hex digits that stand for a JSON value."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamped(manifest: Manifest) -> Manifest:
    """Return the manifest with its own digest as an annotation."""
    metadata = manifest["metadata"]
    annotations = {**metadata.get("annotations", {}), DIGEST: digest(manifest)}
    return {**manifest, "metadata": {**metadata, "annotations": annotations}}


def is_settled(resource: Resource, wanted: Manifest, live: Mapping[str, Any] | None) -> bool:
    """Return whether ``live`` holds all of ``wanted`` (stamped), and nothing of ours besides."""
    if live is None or live["metadata"].get("deletionTimestamp"):
        return False
    if any(live.get(field) != wanted.get(field) for field in resource.exact):
        return False
    merged = {key: value for key, value in wanted.items() if key not in resource.exact}
    return holds(live, merged)


def holds(live: object, wanted: object, field: str = "") -> bool:
    """Return whether ``live`` says all that ``wanted`` says; it may say more."""
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            holds(live.get(key), value, key) for key, value in wanted.items()
        )
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return _holds_list(live if isinstance(live, Sequence) else [], wanted, field)
    return bool(live == wanted)


def _holds_list(live: Sequence[Any], wanted: Sequence[Any], field: str) -> bool:
    key = _KEYS.get(field, "")
    if not key or not all(isinstance(each, Mapping) for each in wanted):
        return len(live) == len(wanted) and all(map(holds, live, wanted))
    by_key = {_identity(each, key): each for each in live if isinstance(each, Mapping)}
    return all(holds(by_key.get(_identity(each, key)), each) for each in wanted)


def _identity(element: Mapping[str, Any], key: str) -> str:
    value = element.get(key) or element.get("containerPort")
    return str(value.get("name")) if isinstance(value, Mapping) else str(value)
