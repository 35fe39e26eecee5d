"""Whether a live object still says what we want it to say. Pure.

Two things are compared. The digest of what we applied last, because a field that we stopped wanting
is only in the live object. And every field that we want, because anybody may have edited it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from workers.infra.kubernetes.resources import Manifest, Resource

DIGEST = "waypost.io/desired"
_PORT = "port"
# Lists that the API merges by a key of their elements; admission may add elements of its own.
# Source: Kubernetes API reference, "patch merge key" of each field.
_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "ports": _PORT,
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
    return holds(live, wanted) and not additions(resource, wanted, live)


def additions(resource: Resource, wanted: Manifest, live: Mapping[str, Any]) -> Sequence[str]:
    """Return the fields (JSON pointers) into which somebody put what we did not write."""
    exact = [each for each in resource.exact if not _is_same(at(live, each), at(wanted, each))]
    closed = [
        each
        for each in resource.closed
        if has_more(at(live, each), at(wanted, each), each.rpartition("/")[2])
    ]
    return sorted(exact + closed)


def at(manifest: Mapping[str, Any], pointer: str) -> object:
    """Return the field of a JSON pointer (RFC 6901); None where it is not."""
    found: Any = manifest
    for part in pointer.split("/")[1:]:
        found = (found or {}).get(part)
    return found


def has_more(live: object, wanted: object, field: str = "") -> bool:
    """Return whether ``live`` has a list, a mapping or an element that ``wanted`` has not.

    A single value beside ours is a default of the API's.
    """
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return any(has_more(value, wanted.get(key), key) for key, value in live.items())
    if isinstance(live, list) and isinstance(wanted, list):
        pairs = _paired(wanted, live, field)
        return any(ours is None or has_more(theirs, ours) for ours, theirs in pairs)
    return wanted is None and isinstance(live, Mapping | list) and bool(live)


def holds(live: object, wanted: object, field: str = "") -> bool:
    """Return whether ``live`` says all that ``wanted`` says; it may say more."""
    if _is_same(live, wanted):
        return True
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            holds(live.get(key), value, key) for key, value in wanted.items()
        )
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return _holds_list(live if isinstance(live, Sequence) else [], wanted, field)
    return False


def _is_same(live: object, wanted: object) -> bool:
    """Return whether both say the same; the API leaves out a mapping that is empty."""
    return live == wanted or (live is None and wanted == {})


def _holds_list(live: Sequence[Any], wanted: Sequence[Any], field: str) -> bool:
    if field not in _KEYS and len(live) != len(wanted):
        return False
    return all(holds(theirs, ours) for theirs, ours in _paired(live, wanted, field))


def _paired(
    one: Sequence[Any], other: Sequence[Any], field: str
) -> Sequence[tuple[Any | None, Any]]:
    """Return each element of ``other`` after the one of ``one`` that is its counterpart, if any."""
    key = _KEYS.get(field, "")
    if not key or not all(isinstance(each, Mapping) for each in (*one, *other)):
        return list(zip_longest(one[: len(other)], other))
    by_key = {_identity(each, key): each for each in one}
    return [(by_key.get(_identity(each, key)), each) for each in other]


def _identity(element: Mapping[str, Any], key: str) -> str:
    value = element.get(key) or element.get("containerPort")
    if key == _PORT:  # the API's key of ports has the protocol too
        return f"{value}/{element.get('protocol', 'TCP')}"
    return str(value.get("name")) if isinstance(value, Mapping) else str(value)
