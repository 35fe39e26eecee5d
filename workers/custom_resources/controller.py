"""Runs passes for the resources of the watched namespaces, and computes their new status.

Each namespace has a Secret with a token of one tenant. A resource is reconciled with the token of
its own namespace only, so it reaches no other tenant, whatever it says.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from controlplane.core.errors import Denied, WaypostError
from controlplane.rest_client import Refused
from workers.custom_resources import conditions, passes
from workers.custom_resources.kinds import MESSAGING_USER, Deletion, ResourceKind
from workers.custom_resources.resource import Json, Note, Resource, as_status
from workers.custom_resources.tenant_api import TenantApi
from workers.infra.base import InfraError
from workers.infra.secret_port import SecretStore

TOKEN_KEY = "token"
# A refusal that ends by itself, or when somebody creates or deletes something else.
_PASSING = frozenset({404, 408, 409, 412, 429})
_SOON, _LATER = 2.0, 5.0


class TokenMissing(Denied):
    """The namespace has no Secret with a token."""

    code = "resources.token_missing"


class ClusterRefuses(Denied):
    """The cluster's API refuses the Secret of a resource, or does not answer."""

    code = "resources.cluster_refuses"


@dataclass(frozen=True)
class Outcome:
    """What a pass leaves: the new ``status``, and when to look again.

    ``again_seconds`` None: at the next change, or when all resources are compared again.
    ``message`` says for the log what is waited for.
    """

    status: Json
    again_seconds: float | None = None
    message: str = ""


@dataclass
class Controller:
    """Reconciles resources through the API at ``url``; its methods may run in several threads.

    ``token_secret``: the name of the Secret with the tenant's token, in each namespace.
    """

    url: str
    token_secret: str
    store: SecretStore
    clock: Callable[[], datetime]
    _apis: dict[str, tuple[str, TenantApi]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def apply(self, kind: ResourceKind, body: Mapping[str, Any]) -> Outcome:
        """Make the object in Waypost match the resource ``body``.

        A refusal of the API or the cluster is not raised: the condition ``Synced`` shows it.
        """
        resource = Resource.of(kind, body)
        with self._lock(resource.uid):
            try:
                result = passes.apply(resource, self._api(resource.namespace), self.store)
            except (WaypostError, InfraError) as error:
                return self._refused(resource, error)
        found = [conditions.synced(), *conditions.of_object(result.shown)]
        status = self._status(resource, found, result.note, result.shown)
        if conditions.is_ready(found):
            return Outcome(status)
        return Outcome(status, _SOON, "waiting until the workers have applied it")

    def remove(self, kind: ResourceKind, body: Mapping[str, Any]) -> Outcome:
        """Delete what the resource created, if its policy says so.

        Nothing is left to do if the outcome has no ``again_seconds``.
        """
        resource = Resource.of(kind, body)
        if resource.deletion is Deletion.RETAIN:
            self._forget(resource.uid)  # this resource does not come back
            return Outcome({})
        with self._lock(resource.uid):
            try:
                gone = passes.remove(resource, self._api(resource.namespace), self.store)
            except TokenMissing as error:
                # Without a note there is nothing to delete, or a killed pass created it just now.
                if not resource.note.id:
                    self._forget(resource.uid)
                    return Outcome({})
                return self._refused(resource, error, again=_LATER)
            except (WaypostError, InfraError) as error:
                return self._refused(resource, error, again=_LATER)
        if gone:
            self._forget(resource.uid)
            return Outcome({})
        return Outcome({"phase": "Terminating"}, _SOON, "waiting until it is deleted in Waypost")

    def _refused(
        self, resource: Resource, error: WaypostError | InfraError, again: float | None = None
    ) -> Outcome:
        expected = error if isinstance(error, WaypostError) else ClusterRefuses(str(error))
        kept = [one for one in resource.conditions if one["type"] != conditions.SYNCED]
        if not kept:
            kept = [*conditions.of_object(None)]
        found = [conditions.refused(expected), *kept]
        status = self._status(resource, found, resource.note, None)
        again = again or _retry_of(expected)
        return Outcome(status, again, f"{expected.error_code}: {expected.message}")

    def _status(
        self, resource: Resource, found: list[Json], note: Note, shown: Json | None
    ) -> Json:
        status: Json = {
            "tenant": note.tenant,
            "id": note.id,
            "created": note.created,
            "observedGeneration": resource.generation,
            "conditions": list(conditions.stamped(resource, found, self.clock())),
        }
        if shown is not None:
            status["phase"] = shown["phase"]
            status |= as_status(
                {name: shown[name] for name in resource.kind.observed if name in shown}
            )
        if resource.kind is MESSAGING_USER:
            status["secret"] = {"name": resource.secret_name, "version": note.password_version}
        return status

    def _api(self, namespace: str) -> TenantApi:
        """Return the API for the tenant of ``namespace``; connections are kept while its token is.

        Raises:
            TokenMissing: the namespace has no token.
        """
        found = self.store.find(namespace, self.token_secret)
        token = found.values.get(TOKEN_KEY, "").strip() if found else ""
        if not token:
            raise TokenMissing(
                f"The namespace {namespace} has no Secret {self.token_secret} with the key "
                f"{TOKEN_KEY}: create it with a token of the tenant."
            )
        with self._guard:
            known = self._apis.get(namespace)
            if known is None or known[0] != token:
                known = (token, TenantApi(self.url, token))
                self._apis[namespace] = known
        return known[1]

    def _lock(self, uid: str) -> threading.Lock:
        # The timer of a resource and a handler may run at once.
        with self._guard:
            return self._locks.setdefault(uid, threading.Lock())

    def _forget(self, uid: str) -> None:
        with self._guard:
            self._locks.pop(uid, None)


def _retry_of(error: WaypostError) -> float | None:
    status = error.http_status if isinstance(error, Refused) else error.status
    if status >= 500 or isinstance(error, ClusterRefuses):
        return _LATER
    return _SOON if status in _PASSING else None
