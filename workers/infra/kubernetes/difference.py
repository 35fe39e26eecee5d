"""Decide whether a live object still matches what Waypost wants. Pure.

Three things are compared:

* The digest of what was applied last, which is an annotation of the live object. Only it shows that
  a field is no longer wanted.
* Every wanted field, because somebody may have edited the live one.
* The protected fields (``Resource.exact`` and ``closed``), because others may have added to them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from workers.infra.kubernetes.objects import JsonObject
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Applied, document_of, metadata_of, of

DIGEST = "waypost.io/desired"
_PORT = "port"
# Lists that the API merges by a key of their elements, and that key. Elements are matched by it,
# because admission webhooks may add others.
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
    """Return a hash of a JSON value, as 16 hex digits. The order of keys does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stamped(wanted: Applied) -> Applied:
    """Return a copy of the object with the digest of its document as an annotation."""
    metadata = metadata_of(wanted)
    annotations = {**(metadata.annotations or {}), DIGEST: digest(document_of(wanted))}
    return wanted.model_copy(
        update={"metadata": metadata.model_copy(update={"annotations": annotations})}
    )


def is_settled(wanted: Applied, live: Reported) -> bool:
    """Return whether ``live`` matches ``wanted``, so that no write is needed.

    ``wanted`` must be ``stamped``. An object whose deletion was requested never matches.
    """
    if live.is_ending:
        return False
    return holds(live.document, document_of(wanted)) and not additions(wanted, live)


def additions(wanted: Applied, live: Reported) -> Sequence[str]:
    """Return the protected fields (JSON pointers) in which ``live`` differs from ``wanted``.

    A field in ``exact`` differs if it is not equal, a field in ``closed`` if it ``has_more``.
    """
    resource, ours, theirs = of(wanted), document_of(wanted), live.document
    exact = [path for path in resource.exact if not _is_same(at(theirs, path), at(ours, path))]
    closed = [
        path
        for path in resource.closed
        if has_more(at(theirs, path), at(ours, path), path.rpartition("/")[2])
    ]
    return sorted(exact + closed)


def at(document: JsonObject, pointer: str) -> object:
    """Return the value at a JSON pointer (RFC 6901), or None if it does not exist."""
    found: object = document
    for part in pointer.split("/")[1:]:
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def has_more(live: object, wanted: object, field: str = "") -> bool:
    """Return whether ``live`` has a list, a mapping or an element of a list that ``wanted`` lacks.

    Single values that ``wanted`` lacks do not count: they are defaults that the API sets. ``field``
    is the name of the field with these values; it decides how elements of lists are matched.
    """
    if isinstance(live, Mapping) and isinstance(wanted, Mapping):
        return any(has_more(value, wanted.get(key), key) for key, value in live.items())
    if isinstance(live, list) and isinstance(wanted, list):
        pairs = _paired(wanted, live, field)
        return any(ours is None or has_more(theirs, ours) for ours, theirs in pairs)
    return wanted is None and isinstance(live, Mapping | list) and bool(live)


def holds(live: object, wanted: object, field: str = "") -> bool:
    """Return whether ``live`` has every field of ``wanted`` with the same value.

    Further fields of ``live`` do not count. A list may have more elements only if the API merges
    it by a key. ``field`` is as in ``has_more``.
    """
    if _is_same(live, wanted):
        return True
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(
            holds(live.get(key), value, key) for key, value in wanted.items()
        )
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        found = live if isinstance(live, Sequence) else []
        return (field in _KEYS or len(found) == len(wanted)) and all(
            holds(theirs, ours) for theirs, ours in _paired(found, wanted, field)
        )
    return False


def _is_same(live: object, wanted: object) -> bool:
    """Return whether both are equal. An empty mapping equals None, because the API omits it."""
    return live == wanted or (live is None and wanted == {})


def _paired(
    one: Sequence[object], other: Sequence[object], field: str
) -> Sequence[tuple[object, object]]:
    """Return a pair for each element of ``other``: its counterpart in ``one`` or None, and itself.

    The merge key of ``field`` decides which elements match; without one their position does.
    """
    key = _KEYS.get(field, "")
    objects = [element for element in one if isinstance(element, Mapping)]
    others = [element for element in other if isinstance(element, Mapping)]
    if not key or len(objects) + len(others) < len(one) + len(other):
        return list(zip_longest(one[: len(other)], other))
    by_key = {_identity(element, key): element for element in objects}
    return [(by_key.get(_identity(element, key)), element) for element in others]


def _identity(element: Mapping[str, object], key: str) -> str:
    value = element.get(key) or element.get("containerPort")
    if key == _PORT:  # the API's merge key of ports includes the protocol
        return f"{value}/{element.get('protocol', 'TCP')}"
    return str(value.get("name")) if isinstance(value, Mapping) else str(value)
