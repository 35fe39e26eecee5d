"""Custom resources on the test API server, and the controller as the chart's service account."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from controlplane.embedded import ports
from tests.support.waiting import eventually
from workers.custom_resources.kinds import API_VERSION, GROUP, KINDS, VERSION

_MISSING = 404
Body = dict[str, Any]
PLURALS = {kind.kind: kind.plural for kind in KINDS}


@dataclass
class Resources:
    """The custom resources of one namespace."""

    admin: ApiClient
    namespace: str

    def create(self, kind: str, name: str, /, **spec: Any) -> None:
        """Create a resource."""
        body = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": name}, "spec": spec}
        self._objects().create_namespaced_custom_object(*self._place(kind), body)

    def find(self, kind: str, name: str) -> Body | None:
        """Return the resource as the cluster has it, or None."""
        try:
            found: Body = self._objects().get_namespaced_custom_object(*self._place(kind), name)
        except ApiException as error:
            if error.status != _MISSING:
                raise
            return None
        return found

    def change(self, kind: str, name: str, /, **spec: Any) -> None:
        """Change fields of the resource's specification."""
        self._objects().patch_namespaced_custom_object(
            *self._place(kind), name, {"spec": spec}, _content_type="application/merge-patch+json"
        )

    def delete(self, kind: str, name: str) -> None:
        """Request the deletion of the resource."""
        self._objects().delete_namespaced_custom_object(*self._place(kind), name)

    def status(self, kind: str, name: str) -> Body:
        """Return the resource's status; empty before the first pass."""
        found = self.find(kind, name)
        return dict((found or {}).get("status") or {})

    def condition(self, kind: str, name: str, type: str) -> Body:
        """Return a condition of the resource; empty if it has none of this type."""
        conditions = self.status(kind, name).get("conditions", [])
        return next((dict(one) for one in conditions if one["type"] == type), {})

    def until(self, kind: str, name: str, type: str, reason: str) -> Body:
        """Wait until the condition has the reason, and return the condition."""
        eventually(
            lambda: self.condition(kind, name, type).get("reason") == reason,
            f"{kind} {name} is {type} {reason}",
        )
        return self.condition(kind, name, type)

    def until_ready(self, kind: str, name: str) -> None:
        """Wait until the resource is ready."""
        eventually(
            lambda: self.condition(kind, name, "Ready").get("status") == "True",
            f"{kind} {name} is ready",
        )

    def until_gone(self, kind: str, name: str) -> None:
        """Wait until the resource is gone, finalizers and all."""
        eventually(lambda: self.find(kind, name) is None, f"{kind} {name} is gone")

    def give_token(self, token: str) -> None:
        """Store the tenant's token as the controller expects it."""
        core: Any = client.CoreV1Api(self.admin)
        body = {"metadata": {"name": "waypost-token"}, "stringData": {"token": token}}
        try:
            core.create_namespaced_secret(self.namespace, body)
        except ApiException:
            core.replace_namespaced_secret("waypost-token", self.namespace, body)

    def clear(self) -> None:
        """Remove every resource, without the controller's help."""
        for kind in KINDS:
            place = (GROUP, VERSION, self.namespace, kind.plural)
            for found in self._objects().list_namespaced_custom_object(*place)["items"]:
                self._remove(kind.kind, found["metadata"]["name"])

    def _remove(self, kind: str, name: str) -> None:
        try:
            self.delete(kind, name)
            self._objects().patch_namespaced_custom_object(
                *self._place(kind),
                name,
                {"metadata": {"finalizers": None}},
                _content_type="application/merge-patch+json",
            )
        except ApiException as error:
            if error.status != _MISSING:  # the controller was faster
                raise

    def _place(self, kind: str) -> tuple[str, str, str, str]:
        return GROUP, VERSION, self.namespace, PLURALS[kind]

    def _objects(self) -> Any:
        return client.CustomObjectsApi(self.admin)


@dataclass
class Process:
    """The controller as a process; ``log`` has its output."""

    arguments: list[str]
    port: int
    environment: Mapping[str, str]
    log: Path
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> None:
        """Start it, and wait until it answers its probe."""
        with self.log.open("ab") as output:
            self._running.append(
                subprocess.Popen(
                    [sys.executable, "-m", "workers.custom_resources", *self.arguments],
                    env=dict(self.environment),
                    stdout=output,
                    stderr=output,
                )
            )
        eventually(self._answers, "the controller answers its probe", seconds=120)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/healthz").status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """Kill it at once, if it runs."""
        while self._running:
            self._running[-1].kill()
            self._running.pop().wait()

    def pause(self) -> None:
        """Stop it where it is, so that it begins no request."""
        for running in self._running:
            running.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after ``pause``."""
        for running in self._running:
            running.send_signal(signal.SIGCONT)


@contextmanager
def controller(kubeconfig: Path, log: Path, *arguments: str) -> Iterator[Process]:
    """Run the controller with a kubeconfig until the block ends.

    It is killed then: its own end waits for answers that a paused API does not give.
    """
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    with ports.claiming() as claims:
        port = claims.take_any()
        process = Process([*arguments, f"--probe-port={port}"], port, environment, log)
        try:
            process.start()
            yield process
        finally:
            process.kill()
