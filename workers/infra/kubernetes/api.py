"""The cluster's API as five verbs on plain manifests; the one module that speaks to it.

Server-side apply with one field manager (Kubernetes documentation, "Server-Side Apply"). What the
API answers becomes an ``InfraError`` whose message says in words what to do: see ``refusals``.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
import urllib3
from kubernetes.client import ApiClient
from urllib3.util.retry import Retry

from workers.infra.base import InfraError
from workers.infra.kubernetes import difference, ownership, refusals, resources
from workers.infra.kubernetes.resources import Manifest, Resource

logger = structlog.get_logger(__name__)

_TIMEOUT_SECONDS = (3, 15)  # connect, read
# Only what never reached the API is sent again here; an answer, Retry-After too, is the loop's.
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
    """One cluster. Every method raises only ``InfraError``, and can be repeated."""

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def find(self, resource: Resource, namespace: str | None, name: str) -> Manifest | None:
        """Return the object, or None where there is none."""
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
        """Return the objects with these labels; none where the kind is not known at all."""
        query = {"labelSelector": _selected(selector)}
        if fields:
            query["fieldSelector"] = _selected(fields)
        status, body = self._request("GET", resource.path(namespace), query)
        if status == _MISSING:
            return []
        found = self._checked(status, body, f"{resource.plural} in {namespace}")["items"]
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return [{**head, **item} for item in found]

    def apply(self, manifest: Manifest) -> Manifest:
        """Make the object say what ``manifest`` says, and nothing more of ours.

        A field that somebody edited by hand is taken back; one that another applier owns is
        refused (``FieldConflict``), for two appliers would undo each other for ever.
        """
        status, body = self._apply(manifest, force=False)
        if status == _CONFLICT and self._is_edited_by_hand(manifest, body):
            logger.warning("taking back what was edited by hand", object=_title(manifest))
            status, body = self._apply(manifest, force=True)
        applied = self._checked(status, body, _title(manifest))
        return self._without_additions(manifest, applied)

    def annotate(
        self, resource: Resource, namespace: str, name: str, annotations: Mapping[str, str]
    ) -> None:
        """Set annotations of an object that others made (a pod); nothing if it is gone."""
        self.merge(resource, namespace, name, {"metadata": {"annotations": dict(annotations)}})

    def merge(self, resource: Resource, namespace: str, name: str, body: Mapping[str, Any]) -> None:
        """Set a few fields and leave the others (RFC 7396); nothing if the object is gone."""
        path = resource.path(namespace, name)
        query = {"fieldManager": ownership.REPAIRER}
        status, answer = self._request("PATCH", path, query, body=body, content_type=_MERGE)
        if status != _MISSING:
            self._checked(status, answer, f"{resource.kind} {name}")

    def delete(self, resource: Resource, namespace: str | None, name: str) -> bool:
        """Ask for the object's end; True when it is gone already."""
        body = {"propagationPolicy": "Background"}
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
        """Take away what others added where nobody may: an apply leaves their fields alone."""
        resource = resources.of(manifest)
        added = difference.additions(resource, manifest, applied)
        if not added:
            return applied
        logger.warning("taking out what was added", object=_title(manifest), fields=added)
        metadata = manifest["metadata"]
        status, body = self._request(
            "PATCH",
            resource.path(metadata.get("namespace"), metadata["name"]),
            {"fieldManager": ownership.REPAIRER},
            body=[_put_back(each, manifest) for each in added],
            content_type="application/json-patch+json",
        )
        cleaned = self._checked(status, body, _title(manifest))
        left = difference.additions(resource, manifest, cleaned)
        if left:
            raise InfraError(
                f"{_title(manifest)}: something in the cluster adds to {', '.join(left)} at each "
                "write. Exempt namespaces with the label app.kubernetes.io/part-of=waypost from "
                "that webhook or policy.",
                reason="AdmissionAdds",
                retry=False,
            )
        return cleaned

    def _is_edited_by_hand(self, manifest: Manifest, refusal: Mapping[str, Any]) -> bool:
        """Return whether none of those in our way applies (server-side) what it wants."""
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
                "spaces go on serving meanwhile.",
                reason="ClusterUnreachable",
                retry=True,
            ) from error
        return response.status, _parsed(response.data)


def _written(body: object, content_type: str) -> str:
    """Return the body as text. What is applied is read as YAML, whose escapes are not JSON's.

    YAML 1.2, 5.7: no surrogate pairs, but eight digits for what is beyond the first plane.
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
    """Return the operation (RFC 6902) that makes a field say what the manifest says."""
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
