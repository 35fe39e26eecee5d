"""Fakes for the controller of custom resources: the API of one tenant, and Secrets.

``calls`` counts the requests that took effect. ``kill_after`` n raises ``Killed`` after the n-th of
them, as a process that is killed before it reads the answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from controlplane.rest_client import Json, Refused, last_segments
from workers.custom_resources.kinds import ResourceKind
from workers.custom_resources.resource import Resource
from workers.custom_resources.tenant_api import TenantApi
from workers.infra.secret_port import Owner, StoredSecret


class Killed(BaseException):
    """The process is killed."""


@dataclass
class Clock:
    """Counts requests, and kills."""

    calls: int = 0
    kill_after: int = 0

    def tick(self) -> None:
        """Count a request; kill if it is the one."""
        self.calls += 1
        if self.calls == self.kill_after:
            raise Killed


def refusal(status: int, code: str, message: str = "no", **fields: Any) -> Refused:
    """Return the error of an answer of the API."""
    return Refused({"code": code, "detail": message, "fields": fields}, status)


class FakeApi(TenantApi):
    """The API with the objects of one kind, by path; it sends nothing."""

    def __init__(self, subject: str, clock: Clock, tenant: str = "acme") -> None:
        self.subject, self.clock, self.slug = subject, clock, tenant
        self.objects: dict[str, Json] = {}
        self.keys: dict[str, tuple[Json, str]] = {}
        self.passwords: list[str] = []
        self.created = 0
        self.changes: list[Json] = []
        self.removed: list[str] = []

    def tenant(self) -> str:
        return self.slug

    def find(self, path: str, *, missing: str) -> tuple[Json, str] | None:
        found = self.objects.get(path)
        return (dict(found), f'"{found["generation"]}"') if found else None

    def create(self, path: str, body: Mapping[str, Any], *, key: str) -> Json:
        if key in self.keys:
            first, object_id = self.keys[key]
            if first != body:
                raise refusal(409, "idempotency_key.reused")
            return {"subject_id": object_id}
        path_of = f"{path}/{last_segments(body.get('name') or body['address'])}"
        if path_of in self.objects:
            raise refusal(409, f"{self.subject}.exists")
        self.place(path_of, dict(body))
        self.keys[key] = (dict(body), self.objects[path_of]["id"])
        self.clock.tick()
        return {"subject_id": self.objects[path_of]["id"]}

    def send_change(self, method: str, path: str, body: Mapping[str, Any], *, tag: str) -> Json:
        found = self.objects[path]
        if tag != f'"{found["generation"]}"':
            raise refusal(412, "generation.changed")
        self._take(found, dict(body))
        found["generation"] += 1
        self.changes.append(dict(body))
        self.clock.tick()
        return {}

    def remove(self, path: str, *, tag: str) -> None:
        self.removed.append(path)
        self.objects[path.partition("?")[0]]["deletion_requested_at"] = "now"
        self.clock.tick()

    def place(self, path: str, body: Json) -> None:
        """Make an object, as anybody may."""
        self.created += 1
        self.objects[path] = {
            "id": f"id-{self.created}",
            "generation": 1,
            "observed_generation": 1,
            "phase": "Active",
            "deletion_requested_at": None,
            "endpoints": [],
            "conditions": [{"type": "Ready", "status": "True", "reason": "Ok", "message": ""}],
        }
        self._take(self.objects[path], body)

    def _take(self, found: Json, body: Json) -> None:
        if "password" in body:
            self.passwords.append(body.pop("password"))
        found.update(body)


@dataclass
class FakeSecrets:
    """The Secrets of a cluster, by namespace and name."""

    clock: Clock = field(default_factory=Clock)
    stored: dict[tuple[str, str], StoredSecret] = field(default_factory=dict)
    written: int = 0

    def find(self, namespace: str, name: str) -> StoredSecret | None:
        return self.stored.get((namespace, name))

    def write(self, namespace: str, name: str, values: Mapping[str, str], owner: Owner) -> str:
        self.written += 1
        version = f"v{self.written}"
        self.stored[namespace, name] = StoredSecret(dict(values), version, frozenset({owner.uid}))
        self.clock.tick()
        return version


def resource(kind: ResourceKind, /, status: Json | None = None, **spec: Any) -> Resource:
    """Return a resource of the namespace ``shop`` with fields as Kubernetes writes them."""
    metadata = {"namespace": "shop", "name": "orders", "uid": "uid-1", "generation": 3}
    return Resource.of(kind, {"metadata": metadata, "spec": spec, "status": status})
