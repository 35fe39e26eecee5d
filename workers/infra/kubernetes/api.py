"""The cluster's API as a few operations on plain manifests. Only this module sends requests to it.

Objects are written by server-side apply with one field manager (Kubernetes documentation,
"Server-Side Apply"). An error of the API becomes an ``InfraError`` whose message says what to do:
see ``refusals``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
import urllib3
from kubernetes.client import ApiClient
from urllib3.util.retry import Retry

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.infra.kubernetes import difference, ownership, refusals, resources
from workers.infra.kubernetes.resources import Manifest, Resource

logger = structlog.get_logger(__name__)

_TIMEOUT_SECONDS = (3, 15)  # connect, read
# Only requests that never reached the API are repeated here. The reconcile loop handles every
# answer, also one with Retry-After.
_RETRY = Retry(
    total=2,
    connect=2,
    read=0,
    status=0,
    other=0,
    allowed_methods=None,
    respect_retry_after_header=False,
    raise_on_status=False,
)
_BEYOND_ASCII = re.compile(r"[^\x20-\x7e]")
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_CONFLICT, _MISSING = 409, 404


class Api:
    """The API of one cluster. Every method is idempotent and raises only ``InfraError``."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def find(self, resource: Resource, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None if it does not exist."""
        status, body = self._request("GET", resource.path(namespace, name))
        if status == _MISSING:
            return None
        return self._checked(status, body, f"{resource.kind} {name}")

    def list(
        self,
        resource: Resource,
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[Manifest]:
        """Return the objects with these labels; none if the cluster does not serve the kind."""
        query = {"labelSelector": _selected(selector)}
        if fields:
            query["fieldSelector"] = _selected(fields)
        status, body = self._request("GET", resource.path(namespace), query)
        if status == _MISSING:
            return []
        found = self._checked(status, body, f"{resource.plural} in {namespace}")["items"]
        # Items of a list come without these two fields.
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [{**head, **item} for item in found]

    def apply(self, manifest: Manifest) -> Manifest:
        """Create the object, or set its fields to those of ``manifest``; return the live object.

        Fields that Waypost applied earlier and that ``manifest`` lacks are removed. A field that
        somebody edited by hand is overwritten.

        Raises:
            InfraError: ``FieldConflict`` if another applier owns a field, because two appliers
                would undo each other's changes for ever.
        """
        status, body = self._apply(manifest, force=False)
        if status == _CONFLICT and self._is_edited_by_hand(manifest, body):
            logger.warning("overwriting manual edits", object=_title(manifest))
            status, body = self._apply(manifest, force=True)
        applied = self._checked(status, body, _title(manifest))
        return self._without_additions(manifest, applied)

    def annotate(
        self, resource: Resource, namespace: str, name: str, annotations: Mapping[str, str]
    ) -> None:
        """Set annotations of an object that others created (a pod); do nothing if it is gone."""
        self.merge(resource, namespace, name, {"metadata": {"annotations": dict(annotations)}})

    def merge(self, resource: Resource, namespace: str, name: str, body: Mapping[str, Any]) -> None:
        """Set a few fields, keep the others (RFC 7396); do nothing if the object is gone."""
        path = resource.path(namespace, name)
        query = {"fieldManager": ownership.REPAIRER}
        status, answer = self._request("PATCH", path, query, body=body, content_type=_MERGE)
        if status != _MISSING:
            self._checked(status, answer, f"{resource.kind} {name}")

    def delete(self, resource: Resource, namespace: str | None, name: str) -> bool:
        """Request the deletion of the object; return True if it is gone already."""
        body = {"propagationPolicy": "Background"}  # dependents too, without waiting for them
        status, answer = self._request("DELETE", resource.path(namespace, name), body=body)
        if status == _MISSING:
            return True
        self._checked(status, answer, f"{resource.kind} {name}")
        return False

    def _apply(self, manifest: Manifest, *, force: bool) -> tuple[int, Manifest]:
        metadata = manifest["metadata"]
        path = resources.of(manifest).path(metadata.get("namespace"), metadata["name"])
        query = {"fieldManager": ownership.FIELD_MANAGER, "force": "true" if force else "false"}
        return self._request("PATCH", path, query, body=manifest, content_type=_APPLY)

    def _without_additions(self, manifest: Manifest, applied: Manifest) -> Manifest:
        """Remove fields that others added where they may not; an apply does not touch them."""
        resource = resources.of(manifest)
        added = difference.additions(resource, manifest, applied)
        if not added:
            return applied
        logger.warning("removing fields that others added", object=_title(manifest), fields=added)
        metadata = manifest["metadata"]
        status, body = self._request(
            "PATCH",
            resource.path(metadata.get("namespace"), metadata["name"]),
            {"fieldManager": ownership.REPAIRER},
            body=[_put_back(field, manifest) for field in added],
            content_type="application/json-patch+json",
        )
        cleaned = self._checked(status, body, _title(manifest))
        left = difference.additions(resource, manifest, cleaned)
        if left:
            raise InfraError(
                f"{_title(manifest)}: something in the cluster adds to {', '.join(left)} at each "
                "write. Exempt namespaces with the label app.kubernetes.io/part-of=waypost from "
                "that webhook or policy.",
                reason=Reason.ADMISSION_ADDS,
                retry=False,
            )
        return cleaned

    def _is_edited_by_hand(self, manifest: Manifest, refusal: Mapping[str, Any]) -> bool:
        """Return whether no manager in the conflict uses server-side apply, only plain updates."""
        managers = refusals.conflicting_managers(refusal)
        metadata = manifest["metadata"]
        live = self.find(resources.of(manifest), metadata.get("namespace"), metadata["name"])
        return bool(managers) and not managers & ownership.find_appliers(live)

    def _checked(self, status: int, body: Manifest, what: str) -> Manifest:
        if not 200 <= status < 300:
            raise refusals.explain(status, body, what)
        return body

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        content_type: str = "application/json",
    ) -> tuple[int, Manifest]:
        headers = {"Accept": "application/json", "Content-Type": content_type}
        # The generated client supplies credentials and connections. Bodies stay plain JSON, without
        # its model classes.
        serialized = self._client.param_serialize(
            method, path, None, list((query or {}).items()), headers, auth_settings=["BearerToken"]
        )
        verb, url, sent_headers = serialized[:3]
        try:
            response = self._client.rest_client.pool_manager.request(
                verb,
                url,
                body=_written(body, content_type) if body is not None else None,
                headers=sent_headers,
                timeout=urllib3.Timeout(*_TIMEOUT_SECONDS),
                retries=_RETRY,
            )
        except urllib3.exceptions.HTTPError as error:
            raise InfraError(
                f"The cluster's API does not answer: {type(error).__name__}. Waypost tries again; "
                "spaces continue to serve.",
                reason=Reason.CLUSTER_UNREACHABLE,
                retry=True,
            ) from error
        return response.status, _parsed(response.data)


def _written(body: object, content_type: str) -> str:
    """Return the body as text.

    The API reads an applied body as YAML, whose escapes differ from those of JSON: there are no
    surrogate pairs, but eight digits beyond the first plane (YAML 1.2, section 5.7).
    """
    if content_type != _APPLY:
        return json.dumps(body)
    return _BEYOND_ASCII.sub(_escaped, json.dumps(body, ensure_ascii=False))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _selected(values: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in values.items())


def _put_back(pointer: str, manifest: Manifest) -> Mapping[str, Any]:
    """Return the JSON Patch operation (RFC 6902) that gives a field the manifest's value."""
    value = difference.at(manifest, pointer)
    if value is None:
        return {"op": "remove", "path": pointer}
    return {"op": "add", "path": pointer, "value": value}


def _parsed(data: bytes) -> Manifest:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"message": data[:300].decode(errors="replace")}


def _title(manifest: Mapping[str, Any]) -> str:
    metadata = manifest["metadata"]
    return f"{manifest['kind']} {metadata.get('namespace', '')}/{metadata['name']}"
