"""A made-up node: stands in for scheduler and kubelet on the test API server.

Binds every pending pod to itself, reports it running and ready, and completes deletions. Pods whose
name is in ``withheld`` stay unready, those of ``missing`` images cannot be started, those in
``homeless`` are taken by no node for the reason given, and of those in ``lost`` it confirms no
deletion, as a node that is away: so that things can fail in a test.
"""

import threading
from collections.abc import Callable, Iterator
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
        self._pods: dict[str, Any] = {}  # by uid, as they were heard of last
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
            _delete(self._core.delete_namespace, pod.metadata.namespace)
            _delete(
                self._core.delete_namespaced_pod,
                *(pod.metadata.name, pod.metadata.namespace),
                grace_period_seconds=0,
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
        """Hear of changes for a second, then look at every pod again.

        A thousand pods that are asked for every second take more of this machine than the tests do.
        """
        pods = self._core.list_pod_for_all_namespaces
        if self._seen is None:
            listed = pods()
            self._pods = {pod.metadata.uid: pod for pod in listed.items}
            self._seen = listed.metadata.resource_version
            for pod in listed.items:
                self._look_at(pod)
        watching: Any = watch.Watch()
        for event in watching.stream(pods, timeout_seconds=1, resource_version=self._seen):
            pod = event["object"]
            if self._stopping.is_set():
                return
            if event["type"] == "DELETED":
                self._pods.pop(pod.metadata.uid, None)
                self.ended(pod)
            elif self._remember(pod):
                self._look_at(pod)
        self._seen = watching.resource_version
        self._look_again()

    def _look_again(self) -> None:
        """Look at every pod again: a test changed what is to happen to it, or a container ended."""
        for pod in list(self._pods.values()):
            self._look_at(pod)

    def _remember(self, pod: Any) -> bool:
        """Remember how a pod is, and return true, unless a newer state of it is known."""
        known = self._pods.get(pod.metadata.uid)
        is_new = known is None or _version(known) <= _version(pod)
        if is_new:
            self._pods[pod.metadata.uid] = pod
        return is_new

    def _write_status(self, pod: Any, status: dict[str, Any]) -> None:
        """Write a part of the pod's status; from now on the pod is known with it."""
        self._remember(
            self._core.patch_namespaced_pod_status(
                pod.metadata.name, pod.metadata.namespace, {"status": status}
            )
        )

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
        self._write_status(pod, {"conditions": [{**told, "message": why}]})

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
        self._write_status(pod, {"containerStatuses": [told]})

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
        self._write_status(pod, status)


class ListeningNode(Node):
    """A node that looks at a pod when it changes, and never at all of them again.

    What a test changes of ``withheld``, ``missing``, ``homeless`` or ``lost`` goes unnoticed.
    """

    def _look_again(self) -> None:
        """Leave the pods alone."""


def _version(pod: Any) -> int:
    return int(pod.metadata.resource_version)


def _delete(delete: Callable[..., object], *what: str, **options: object) -> None:
    """Delete something that the cluster may be deleting, or has deleted, by itself."""
    try:
        delete(*what, **options)
    except ApiException as error:
        if error.status not in _GONE_OR_CHANGED:
            raise


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
        thread.join(120)
        try:
            assert not thread.is_alive()
        finally:
            node.leave()
