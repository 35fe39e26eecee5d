"""Compute the status of an instance from the objects that the cluster reports. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from controlplane.core.instance_names import InstanceId, Kind
from workers.infra.base import InstanceStatus
from workers.infra.kubernetes import refusals, sizes
from workers.infra.kubernetes.instances import RESTART
from workers.infra.kubernetes.isolation import QUOTA, Taken
from workers.infra.kubernetes.resources import Manifest, name_of

_Object = Mapping[str, Any]
# The namespace controller needs seconds; volumes may take a minute.
_ENDS_WITHIN = timedelta(minutes=3)
_POD_ENDS_WITHIN = timedelta(minutes=1)  # after its grace period
_NOT_MADE = "FailedCreate"  # Source: pkg/controller/statefulset, "recordPodEvent"
_CREATIONS = frozenset({_NOT_MADE, "SuccessfulCreate"})
_NOT_LISTENING = "it runs, but does not listen on the port of its readiness probe"
_BACKING_OFF = "CrashLoopBackOff"  # Source: pkg/kubelet/images and kuberuntime, "doBackOff"
_NO_TROUBLE = frozenset({"ContainerCreating", "PodInitializing"})
_LONGEST_MESSAGE = 300
# Phrases in messages of the scheduler, and what to do about each.
_SCHEDULING_ADVICE: Mapping[str, str] = {
    "volume node affinity conflict": (
        "Its volume is on a node that is down or full: bring the node back, or see "
        '"A volume is lost" in docs/operate/disaster.md'
    ),
    "unbound immediate PersistentVolumeClaims": (
        "Its volume was not created: check the events of the claim and its storage class"
    ),
    "Insufficient": "No node has enough free resources: add a node, or free resources",
}


def status(stateful_set: Manifest, pods: Sequence[Manifest], now: datetime) -> InstanceStatus:
    """Return the status of one instance; ``pods`` are those of its namespace."""
    name = name_of(stateful_set)
    pod = next((candidate for candidate in pods if _is_of(candidate, stateful_set)), None)
    kind = kind_of(stateful_set)
    if pod is None:
        return InstanceStatus(name, kind, running=False, message=_absence(stateful_set))
    return InstanceStatus(
        name,
        kind,
        running=_is_ready(pod) and _is_current(stateful_set, pod),
        message=_message(stateful_set, pod),
        boot=_boot(pod),
        trouble=_end_trouble(pod, now)
        or ("" if _is_ready(pod) or _is_ending(pod) else _trouble(pod)),
    )


def is_instance(stateful_set: Manifest) -> bool:
    """Return whether the name is that of an instance; anybody can set our labels."""
    return InstanceId.find(name_of(stateful_set)) is not None


def kind_of(stateful_set: Manifest) -> Kind:
    """Return the kind by the name, because labels can be edited."""
    return InstanceId.parse(name_of(stateful_set)).kind


def _is_of(pod: Manifest, stateful_set: Manifest) -> bool:
    """Return whether the stateful set owns the pod.

    By uid: a deleted stateful set of the same name may have left its pod.
    """
    owners = {owner["uid"] for owner in pod["metadata"].get("ownerReferences", [])}
    return stateful_set["metadata"]["uid"] in owners


def why_missing(events: Sequence[Manifest]) -> str:
    """Return why a pod is not created, from events of its stateful set; empty if they do not tell.

    Only the last event counts, because the cluster keeps events for an hour.
    """
    creations = [event for event in events if event.get("reason") in _CREATIONS]
    # Events have times in whole seconds: of two in one second, the success came last.
    last = max(
        creations,
        key=lambda event: (_time_of(event), event["reason"] != _NOT_MADE),
        default=None,
    )
    if last is None or last["reason"] != _NOT_MADE:
        return ""
    return refusals.why_not_made(str(last.get("message", "")))


def taken(stateful_sets: Iterable[Manifest], quotas: Mapping[str, Manifest]) -> Taken:
    """Return what a space uses now; the usage of volumes comes from the status of its quota."""
    memory: dict[Kind, list[int]] = {kind: [] for kind in Kind}
    for stateful_set in stateful_sets:
        if is_instance(stateful_set):
            memory[kind_of(stateful_set)].append(_memory_limit(stateful_set))
    used = quotas.get(QUOTA, {}).get("status", {}).get("used", {})
    return Taken(
        memory,
        volumes=int(used.get("persistentvolumeclaims", 0)),
        storage_mb=sizes.at_least_mebibytes(str(used.get("requests.storage", "0"))),
    )


def _memory_limit(stateful_set: _Object) -> int:
    """Return the memory limit in MiB; 0 if somebody edited it into a form that we never write."""
    (container, *_) = stateful_set["spec"]["template"]["spec"]["containers"]
    limit = str(container.get("resources", {}).get("limits", {}).get("memory", ""))
    return sizes.mebibytes(limit)


def ending_trouble(namespace: Manifest, now: datetime) -> str:
    """Return why the deletion of a namespace takes too long; empty while it is in time.

    Source: Kubernetes API reference, NamespaceCondition (``…Failure``, ``Namespace…Remaining``).
    """
    requested_at = namespace["metadata"].get("deletionTimestamp")
    if requested_at is None or now - datetime.fromisoformat(requested_at) < _ENDS_WITHIN:
        return ""
    reasons = [
        str(condition.get("message", condition["type"]))
        for condition in namespace.get("status", {}).get("conditions", [])
        if condition["status"] == "True"
    ]
    return " ".join(reasons) or "the cluster does not say why."


def made_from(stateful_set: Manifest) -> str:
    """Return the digest of what a stateful set makes its pod from (``instances.RESTART``)."""
    return str(stateful_set["spec"]["template"]["metadata"].get("annotations", {}).get(RESTART, ""))


def _is_current(stateful_set: Manifest, pod: Manifest) -> bool:
    """Return whether the pod was made from the current template and is not being deleted."""
    made = str(pod["metadata"].get("annotations", {}).get(RESTART, ""))
    return made == made_from(stateful_set) and not _is_ending(pod)


def _is_ending(pod: _Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _is_ready(pod: _Object) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod.get("status", {}).get("conditions", [])
    )


def _message(stateful_set: Manifest, pod: Manifest) -> str:
    if not _is_current(stateful_set, pod):
        return "being replaced"
    if _is_ready(pod):
        return "ready"
    return _trouble(pod) or _silence(pod) or (_NOT_LISTENING if _has_started(pod) else _start(pod))


def _start(pod: _Object) -> str:
    """Return the message of a pod that starts, with how its previous run ended if there was one."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    ends = [_last_end(container) for container in containers]
    return ". ".join(["starting", *(f"Before, {end}" for end in ends[:1] if end)])


def _silence(pod: _Object) -> str:
    """Return a message if the node of a pod that is not ready does not answer; else empty.

    The node controller then sets the pod's Ready condition to False, and the containers keep the
    status that the node reported last. Source: Kubernetes documentation, Nodes, "Node controller".
    """
    containers = pod.get("status", {}).get("containerStatuses", [])
    if containers and all(container.get("ready") for container in containers):
        return f"its node {pod['spec']['nodeName']} does not answer"
    return ""


def _has_started(pod: _Object) -> bool:
    """Return whether the startup probe has passed since the container started."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    return any(container.get("started") for container in containers)


def _trouble(pod: Manifest) -> str:
    return _container_trouble(pod) or _scheduling_trouble(pod)


def _container_trouble(pod: _Object) -> str:
    for container in pod.get("status", {}).get("containerStatuses", []):
        state = container.get("state", {})
        ended = state.get("terminated")
        if ended:
            return _end(ended)
        waiting = state.get("waiting") or {}
        reason = waiting.get("reason", "")
        if reason and reason not in _NO_TROUBLE:
            # The kubelet's message says only how long it waits before the next start.
            why = _last_end(container) if reason == _BACKING_OFF else ""
            return f"{reason}: {why or waiting.get('message', '')}".rstrip(": ")
    return ""


def _last_end(container: _Object) -> str:
    """Return how the container's previous run ended; empty if there was none."""
    ended = container.get("lastState", {}).get("terminated")
    return _end(ended) if ended else ""


def _end(ended: _Object) -> str:
    """Return how a container ended: its exit code, the reason, and its last output.

    Source: Kubernetes API reference, ContainerStateTerminated. The message is the end of the log,
    because our pods set ``terminationMessagePolicy``.
    """
    reason = ended.get("reason", "")
    how = f"it ended with exit code {ended['exitCode']}"
    how += f" ({reason})" if reason else ""
    output = _termination_message(str(ended.get("message", "")))
    return f"{how}; it said last: {output}" if output else how


def _termination_message(text: str) -> str:
    """Return the end of a text as one line of printable characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    line = line if len(line) <= _LONGEST_MESSAGE else f"…{line[-_LONGEST_MESSAGE:].lstrip()}"
    return line.rstrip(".")


def _scheduling_trouble(pod: _Object) -> str:
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            message = str(condition.get("message", ""))
            advices = (text for mark, text in _SCHEDULING_ADVICE.items() if mark in message)
            text = f"{condition.get('reason', 'Unschedulable')}: {message} {next(advices, '')}"
            return text.strip().rstrip(".")
    return ""


def _end_trouble(pod: _Object, now: datetime) -> str:
    """Return why the deletion of a pod takes too long: its node does not confirm it."""
    due = pod["metadata"].get("deletionTimestamp")  # includes the grace period
    if due is None or now - datetime.fromisoformat(due) < _POD_ENDS_WITHIN:
        return ""
    node = pod.get("spec", {}).get("nodeName", "")
    return (
        f"its node {node} does not confirm that the pod ended: bring the node back, or delete its "
        "Node object if it is gone for good"
    )


def _time_of(event: _Object) -> str:
    """Return when an event was last seen; the three fields are those of the two event APIs."""
    series = event.get("series") or {}
    time = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(time or "")


def _absence(stateful_set: Manifest) -> str:
    for condition in stateful_set.get("status", {}).get("conditions", []):
        if condition.get("message"):
            return str(condition["message"])
    return "no pod yet"


def _boot(pod: _Object) -> str:
    """Return an id that differs for each incarnation of the process."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    restarts = sum(int(container.get("restartCount", 0)) for container in containers)
    return f"{pod['metadata']['uid']}-{restarts}"
