"""The cluster's API as a few operations on typed objects. Only this module sends requests to it.

``Api.apply`` writes objects by server-side apply (Kubernetes documentation, "Server-Side Apply").
Repairs are patches under a second field manager: see ``ownership``. An error of the API becomes an
``InfraError`` whose message says what to do: see ``refusals``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Generic

import structlog
import urllib3
from kubernetes.client import ApiClient
from pydantic import ValidationError
from urllib3.util.retry import Retry

from controlplane.core.reasons import Reason
from workers.infra.base import InfraError
from workers.infra.kubernetes import difference, labels, ownership, refusals, resources, yaml_text
from workers.infra.kubernetes.objects import JsonObject
from workers.infra.kubernetes.refusals import Refusal
from workers.infra.kubernetes.reported import Metadata, Part, Reported
from workers.infra.kubernetes.resources import (
    Applied,
    ReportedT,
    Resource,
    document_of,
    metadata_of,
    name_of,
    path_of,
    title_of,
)

logger = structlog.get_logger(__name__)

_TIMEOUT_SECONDS = (3, 15)  # connect, read
# The API sends a bookmark into a quiet watch about once a minute, so a longer silence means that
# the connection is lost. Source: k8s.io/apiserver, storage/cacher, "defaultBookmarkFrequency".
_WATCH_SILENCE_SECONDS = 90
# Repeat only requests whose connection failed. Any answer goes to the caller, even Retry-After.
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
_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_CONFLICT, _MISSING, _GONE = 409, 404, 410


class _Collection(Part):
    """The API's answer to a list request; only its objects and its version are read."""

    metadata: Metadata = Metadata()
    items: Sequence[Mapping[str, object]] = ()


class _WatchEvent(Part):
    """One line of a watch (API reference, WatchEvent)."""

    type: str
    object: Mapping[str, object]


@dataclass(frozen=True)
class Listing(Generic[ReportedT]):
    """Objects of one kind, and the version of the collection from which a watch continues."""

    objects: Sequence[ReportedT]
    version: str


@dataclass(frozen=True)
class Change(Generic[ReportedT]):
    """One change in a watch; with ``deleted``, ``object`` is the last state."""

    object: ReportedT
    deleted: bool


class Api:
    """A client of one cluster's API, which may be shared. Every method is idempotent.

    Raises:
        InfraError: any method: the API refuses or does not answer.
        ValueError: any method: a name is not legal in a path (``Resource.path``).
    """

    def __init__(self, client: ApiClient) -> None:
        self._client = client

    def find(
        self, resource: Resource[ReportedT], namespace: str | None, name: str
    ) -> ReportedT | None:
        """Return the object, or None if it does not exist."""
        status, body = self._request("GET", resource.path(namespace, name))
        if status == _MISSING:
            return None
        return _read(resource, _checked(status, body, f"{resource.kind} {name}"))

    def list(
        self,
        resource: Resource[ReportedT],
        namespace: str | None,
        selector: Mapping[str, str],
        fields: Mapping[str, str] | None = None,
    ) -> Sequence[ReportedT]:
        """Return the objects that have all labels of ``selector`` and all values of ``fields``.

        ``namespace`` None means all namespaces. Empty if the cluster does not serve the kind.
        """
        query = {"labelSelector": labels.as_query(selector)}
        if fields:
            query["fieldSelector"] = labels.as_query(fields)
        return self._list(resource, namespace, query).objects

    def list_to_watch(
        self, resource: Resource[ReportedT], selector: Mapping[str, str]
    ) -> Listing[ReportedT]:
        """Return the objects with all labels of ``selector``, in all namespaces, to ``watch``."""
        return self._list(resource, None, {"labelSelector": labels.as_query(selector)})

    def watch(
        self,
        resource: Resource[ReportedT],
        selector: Mapping[str, str],
        version: str,
        seconds: int,
    ) -> Iterator[Change[ReportedT]]:
        """Yield the changes in all namespaces since ``version``, for at most about ``seconds``.

        Ends also when the API ends the watch, or no longer knows ``version``. The caller then lists
        again. An object that cannot be read is left out, because the watch must go on.
        """
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
            "resourceVersion": version,
            "labelSelector": labels.as_query(selector),
        }
        response = self._send("GET", resource.path(None), query, watches=True)
        with _as_unreachable(), closing(response):
            if response.status != 200:
                body = _parsed(response.read())
                if response.status == _GONE:
                    return  # an unknown version: the caller lists again, as after any other end
                raise refusals.explain(
                    response.status, Refusal.of(body), f"watch of {resource.plural}"
                )
            for line in _lines(response):
                event = _WatchEvent.model_validate(_parsed(line))
                if event.type == "ERROR":
                    return  # the version is too old, or the API is about to stop
                if event.type == "BOOKMARK":
                    continue
                try:
                    found = resource.reported.of(dict(event.object))
                except ValidationError:
                    continue
                yield Change(found, deleted=event.type == "DELETED")

    def apply(self, wanted: Applied) -> Reported:
        """Create the object, or set its fields to those of ``wanted``; return the live object.

        Fields that Waypost applied earlier and that ``wanted`` lacks are removed. A field that
        somebody edited by hand is overwritten. Additions to protected fields are removed.

        Raises:
            InfraError: ``FieldConflict`` if another manager applies one of the fields too, because
                the two would undo each other's changes for ever. ``AdmissionAdds`` if the cluster
                adds to a protected field again at once.
        """
        status, body = self._apply(wanted, force=False)
        if status == _CONFLICT and self._is_edited_by_hand(wanted, body):
            logger.warning("overwriting manual edits", object=title_of(wanted))
            status, body = self._apply(wanted, force=True)
        applied = _read(resources.of(wanted), _checked(status, body, title_of(wanted)))
        return self._without_additions(wanted, applied)

    def annotate(
        self,
        resource: Resource[Reported],
        namespace: str,
        name: str,
        annotations: Mapping[str, str],
    ) -> None:
        """Set annotations of an object that Waypost does not apply itself, such as a pod.

        Other annotations stay. Do nothing if the object is gone.
        """
        self.merge(resource, namespace, name, {"metadata": {"annotations": dict(annotations)}})

    def merge(
        self, resource: Resource[Reported], namespace: str, name: str, body: JsonObject
    ) -> None:
        """Set the fields in ``body`` and keep all others (JSON Merge Patch, RFC 7396).

        Do nothing if the object is gone.
        """
        path = resource.path(namespace, name)
        query = {"fieldManager": ownership.REPAIRER}
        status, answer = self._request("PATCH", path, query, body=body, content_type=_MERGE)
        if status != _MISSING:
            _checked(status, answer, f"{resource.kind} {name}")

    def delete(self, resource: Resource[Reported], namespace: str | None, name: str) -> bool:
        """Request the deletion of the object; return True only if it was gone before."""
        body = {"propagationPolicy": "Background"}  # dependents too, without waiting for them
        status, answer = self._request("DELETE", resource.path(namespace, name), body=body)
        if status == _MISSING:
            return True
        _checked(status, answer, f"{resource.kind} {name}")
        return False

    def _list(
        self, resource: Resource[ReportedT], namespace: str | None, query: Mapping[str, str]
    ) -> Listing[ReportedT]:
        status, body = self._request("GET", resource.path(namespace), query)
        if status == _MISSING:
            return Listing([], "")
        found = _checked(status, body, f"{resource.plural} in {namespace}")
        # Items of a list come without these two fields.
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        with _as_unreadable(f"list of {resource.plural}"):
            collection = _Collection.model_validate(found)
        objects = [_read(resource, {**head, **item}) for item in collection.items]
        return Listing(objects, collection.metadata.resource_version)

    def _apply(self, wanted: Applied, *, force: bool) -> tuple[int, JsonObject]:
        query = {"fieldManager": ownership.FIELD_MANAGER, "force": "true" if force else "false"}
        return self._request(
            "PATCH", path_of(wanted), query, body=document_of(wanted), content_type=_APPLY
        )

    def _without_additions(self, wanted: Applied, applied: Reported) -> Reported:
        """Remove what others added to protected fields of ``applied``; return the live object.

        An apply leaves such additions, because it changes only the fields in ``wanted``.

        Raises:
            InfraError: ``AdmissionAdds``: the cluster adds to a protected field again at once.
        """
        added = difference.additions(wanted, applied)
        if not added:
            return applied
        logger.warning("removing fields that others added", object=title_of(wanted), fields=added)
        document = document_of(wanted)
        status, body = self._request(
            "PATCH",
            path_of(wanted),
            {"fieldManager": ownership.REPAIRER},
            body=[_put_back(field, document) for field in added],
            content_type="application/json-patch+json",
        )
        cleaned = _read(resources.of(wanted), _checked(status, body, title_of(wanted)))
        left = difference.additions(wanted, cleaned)
        if left:
            raise InfraError(
                f"{title_of(wanted)}: something in the cluster adds to {', '.join(left)} at each "
                "write. Exempt namespaces with the label app.kubernetes.io/part-of=waypost from "
                "that webhook or policy.",
                reason=Reason.ADMISSION_ADDS,
                retry=False,
            )
        return cleaned

    def _is_edited_by_hand(self, wanted: Applied, refusal: JsonObject) -> bool:
        """Return whether all managers in a conflict wrote by plain updates, as an editor does.

        ``refusal`` is the body of the cluster's answer to the apply. False if it names no manager.
        """
        managers = refusals.conflicting_managers(Refusal.of(refusal))
        namespace = metadata_of(wanted).namespace
        live = self.find(resources.of(wanted), namespace, name_of(wanted))
        return bool(managers) and not managers & ownership.find_appliers(live)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: JsonObject | Sequence[JsonObject] | None = None,
        content_type: str = "application/json",
    ) -> tuple[int, JsonObject]:
        response = self._send(method, path, query, body=body, content_type=content_type)
        return response.status, _parsed(response.data)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: JsonObject | Sequence[JsonObject] | None = None,
        content_type: str = "application/json",
        watches: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        """Send the request. With ``watches``, the body of the response is left to be read."""
        headers = {"Accept": "application/json", "Content-Type": content_type}
        # The generated client supplies credentials and connections. Its methods for single kinds do
        # not fit: each has another name, and they refuse an answer that does not fit its models.
        serialized = self._client.param_serialize(
            method, path, None, list((query or {}).items()), headers, auth_settings=["BearerToken"]
        )
        verb, url, sent_headers = serialized[:3]
        write = yaml_text.dumps if content_type == _APPLY else json.dumps
        text = write(body) if body is not None else None
        connect, read = _TIMEOUT_SECONDS
        with _as_unreachable():
            response: urllib3.BaseHTTPResponse = self._client.rest_client.pool_manager.request(
                verb,
                url,
                body=text,
                headers=sent_headers,
                timeout=urllib3.Timeout(connect, _WATCH_SILENCE_SECONDS if watches else read),
                retries=_RETRY,
                preload_content=not watches,
            )
        return response


@contextmanager
def _as_unreachable() -> Iterator[None]:
    try:
        yield
    except urllib3.exceptions.HTTPError as error:
        raise InfraError(
            f"The cluster's API does not answer: {type(error).__name__}. Waypost tries again; "
            "spaces continue to serve.",
            reason=Reason.CLUSTER_UNREACHABLE,
            retry=True,
        ) from error


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    """Yield each line of a response as soon as it has arrived."""
    rest = b""
    for part in response.stream(None):
        *whole, rest = (rest + part).split(b"\n")  # a part may end inside a line
        yield from whole


def _put_back(pointer: str, document: JsonObject) -> JsonObject:
    """Return the JSON Patch operation (RFC 6902) that gives a field its value in ``document``.

    It removes the field if ``document``, the wanted object, lacks it.
    """
    value = difference.at(document, pointer)
    if value is None:
        return {"op": "remove", "path": pointer}
    return {"op": "add", "path": pointer, "value": value}  # replaces too: RFC 6902, 4.1


def _read(resource: Resource[ReportedT], document: JsonObject) -> ReportedT:
    """Return the object that ``document`` describes.

    Raises:
        InfraError: ``ObjectUnreadable``: a field that Waypost reads has another type.
    """
    with _as_unreadable(resource.kind):
        return resource.reported.of(document)


@contextmanager
def _as_unreadable(what: str) -> Iterator[None]:
    try:
        yield
    except ValidationError as error:
        fields = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors())
        raise InfraError(
            f"The cluster reports a {what} in a form that this version of Waypost does "
            f"not read: {fields}. Use a version of Kubernetes that docs/operate/install.md names.",
            reason=Reason.OBJECT_UNREADABLE,
            retry=False,
        ) from error


def _checked(status: int, body: JsonObject, what: str) -> JsonObject:
    """Return the body; raise ``InfraError`` if the response is not successful."""
    if not 200 <= status < 300:
        raise refusals.explain(status, Refusal.of(body), what)
    return body


def _parsed(data: bytes) -> JsonObject:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"message": data[:300].decode(errors="replace")}
