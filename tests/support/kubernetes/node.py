"""A made-up node: stands in for scheduler and kubelet on the test API server.

Binds every pending pod to itself, reports it running and ready, and completes deletions. Pods whose
name is in ``withheld`` stay unready, those of ``missing`` images cannot be started, those in
``homeless`` are taken by no node for the reason given, and of those in ``lost`` it confirms no
deletion, as a node that is away: so that things can fail in a test.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from kubernetes import client, watch
from kubernetes.client import ApiClient, ApiException

NAME = "node-0"
_ROOM = {"cpu": "64", "memory": "256Gi", "pods": "5000"}
_GONE_OR_CHANGED = (403, 404, 409)  # 403: its namespace is ending
_TOO_OLD = 410  # a watch that fell behind begins again


class Node:
    """The node's loop over every pod of the cluster. Base of nodes that run processes."""

    def __init__(self, api: ApiClient) -> None:
        self._core: Any = client.CoreV1Api(api)
        self._stopping = threading.Event()
        self._next_ip = 0
        self._seen: str | None = None  # the version of the last change that was heard of
        self.withheld: set[str] = set()
        self.missing: set[str] = set()
        self.homeless: dict[str, str] = {}
        self.lost: set[str] = set()

    def register(self) -> None:
        self._core.create_node({"metadata": {"name": NAME}, "status": {"capacity": _ROOM}})
        ready = {"type": "Ready", "status": "True", "reason": "Test"}
        self._core.patch_node_status(
            NAME, {"status": {"conditions": [ready], "capacity": _ROOM, "allocatable": _ROOM}}
        )

    def leave(self) -> None:
        """Take the node away with what ran on it, so that another one may come."""
        own = f"spec.nodeName={NAME}"
        for pod in self._core.list_pod_for_all_namespaces(field_selector=own).items:
            self._core.delete_namespace(pod.metadata.namespace)
            self._core.delete_namespaced_pod(
                pod.metadata.name, pod.metadata.namespace, grace_period_seconds=0
            )
        self._core.delete_node(NAME)

    def run(self) -> None:
        """Look at every pod that changes until told to stop; never ends by an error of a pod."""
        while not self._stopping.is_set():
            try:
                self._watch()
            except ApiException as error:
                if error.status != _TOO_OLD:
                    raise
                self._seen = None

    def _watch(self) -> None:
        watching: Any = watch.Watch()
        pods = self._core.list_pod_for_all_namespaces
        for event in watching.stream(pods, timeout_seconds=1, **self._since()):
            if self._stopping.is_set():
                return
            if event["type"] == "DELETED":
                self.ended(event["object"])
            else:
                self._look_at(event["object"])
        self._seen = watching.resource_version

    def _since(self) -> dict[str, str]:
        """Return what to ask of a watch: nothing, so that every pod is looked at again."""
        return {}

    def stop(self) -> None:
        self._stopping.set()

    def _look_at(self, pod: Any) -> None:
        name = pod.metadata.name
        try:
            if name in self.lost:
                return
            if pod.metadata.deletion_timestamp:
                self.end(pod)
                self._core.delete_namespaced_pod(
                    pod.metadata.name, pod.metadata.namespace, grace_period_seconds=0
                )
            elif not pod.spec.node_name and name in self.homeless:
                self._leave_outside(pod, self.homeless[name])
            elif not pod.spec.node_name:
                self._bind(pod)
            elif pod.spec.containers[0].image in self.missing:
                self._refuse(pod)
            elif name not in self.withheld:
                self._keep(pod)
        except ApiException as error:
            if error.status not in _GONE_OR_CHANGED:
                raise

    def _leave_outside(self, pod: Any, why: str) -> None:
        """Say of a pod, once, that no node can take it."""
        if pod.status.conditions:
            return
        told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        self._core.patch_namespaced_pod_status(
            pod.metadata.name,
            pod.metadata.namespace,
            {"status": {"conditions": [{**told, "message": why}]}},
        )

    def _refuse(self, pod: Any) -> None:
        """Say of a pod, once, that its image cannot be had."""
        if pod.status.container_statuses:
            return
        (container,) = pod.spec.containers
        why = {"reason": "ImagePullBackOff", "message": f"no image {container.image}"}
        told = {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"waiting": why},
        }
        self._core.patch_namespaced_pod_status(
            pod.metadata.name, pod.metadata.namespace, {"status": {"containerStatuses": [told]}}
        )

    def _keep(self, pod: Any) -> None:
        if not _is_ready(pod):
            if self.start(pod):
                self.report(pod, ready=True)
        elif not self.refresh(pod):
            self.report(pod, ready=False)

    def start(self, pod: Any) -> bool:
        """Run the pod's containers; True once they are ready. Nothing runs here, so it is."""
        return True

    def refresh(self, pod: Any) -> bool:
        """Give a running pod what changed; False when it is no longer ready."""
        return True

    def restarts(self, pod: Any) -> int:
        """Return how often the pod's container was started again."""
        return 0

    def end(self, pod: Any) -> None:
        """Stop the pod's containers."""

    def ended(self, pod: Any) -> None:
        """Forget a pod that is gone."""

    def _bind(self, pod: Any) -> None:
        body = {
            "metadata": {"name": pod.metadata.name},
            "target": {"kind": "Node", "name": NAME},
        }
        self._core.create_namespaced_pod_binding(
            pod.metadata.name, pod.metadata.namespace, body, _preload_content=False
        )

    def report(self, pod: Any, *, ready: bool) -> None:
        """Write the pod's status as a kubelet would."""
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        self._next_ip += 1
        conditions = [
            {"type": condition, "status": str(ready), "lastTransitionTime": now}
            for condition in ("Ready", "ContainersReady")
        ] + [
            {"type": condition, "status": "True", "lastTransitionTime": now}
            for condition in ("Initialized", "PodScheduled")
        ]
        containers = [
            {
                "name": container.name,
                "image": container.image,
                "imageID": "",
                "ready": ready,
                "started": True,
                "restartCount": self.restarts(pod),
                "state": {"running": {"startedAt": now}},
            }
            for container in pod.spec.containers
        ]
        status = {
            "phase": "Running",
            "podIP": f"10.244.{self._next_ip >> 8 & 255}.{self._next_ip & 255}",
            "startTime": now,
            "conditions": conditions,
            "containerStatuses": containers,
        }
        self._core.patch_namespaced_pod_status(
            pod.metadata.name, pod.metadata.namespace, {"status": status}
        )


class ListeningNode(Node):
    """A node that looks at a pod when it changes, and never at all of them again.

    A thousand pods looked at every second take more of this machine than what is measured on it.
    What a test changes of ``withheld``, ``missing``, ``homeless`` or ``lost`` goes unnoticed.
    """

    def _since(self) -> dict[str, str]:
        return {"resource_version": self._seen} if self._seen else {}


def _is_ready(pod: Any) -> bool:
    return any(
        condition.type == "Ready" and condition.status == "True"
        for condition in pod.status.conditions or []
    )


@contextmanager
def running(node: Node) -> Iterator[Node]:
    """Run the node's loop in a thread until the block ends."""
    node.register()
    thread = threading.Thread(target=node.run, name="node", daemon=True)
    thread.start()
    try:
        yield node
    finally:
        node.stop()
        thread.join(30)
        try:
            assert not thread.is_alive()
        finally:
            node.leave()
