"""From what the cluster reports of an instance to its status. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from workers.infra.base import InstanceStatus, Kind
from workers.infra.kubernetes import refusals, sizes
from workers.infra.kubernetes.instances import RESTART
from workers.infra.kubernetes.isolation import QUOTA, Taken
from workers.infra.kubernetes.resources import Manifest, name_of

_Object = Mapping[str, Any]
# Namespaces end in seconds where their controller runs; volumes may take a minute.
_ENDS_WITHIN = timedelta(minutes=3)
_ENDING_ENDS_WITHIN = timedelta(minutes=1)  # of a pod, after its grace period
_NOT_MADE = "FailedCreate"  # Source: pkg/controller/statefulset, "recordPodEvent"
_OF_MAKING = frozenset({_NOT_MADE, "SuccessfulCreate"})
_DEAF = "it runs, but does not listen where its readiness probe asks"
_BACKING_OFF = "CrashLoopBackOff"  # Source: pkg/kubelet/images and kuberuntime, "doBackOff"
_NO_TROUBLE = frozenset({"ContainerCreating", "PodInitializing"})
_LONGEST_WORDS = 300
# What the scheduler says, and what to do about it.
_HOMELESS: Mapping[str, str] = {
    "volume node affinity conflict": (
        "Its volume lies on a node that is away or has no room: bring the node back, or see "
        '"A volume is lost" in docs/operate/disaster.md'
    ),
    "unbound immediate PersistentVolumeClaims": (
        "Its volume is not made: look at the claim's events and at its storage class"
    ),
    "Insufficient": "No node has room: add one, or make room",
}


def status(stateful_set: Manifest, pods: Sequence[Manifest], now: datetime) -> InstanceStatus:
    """Return how one instance is; ``pods`` are those of its namespace."""
    name = name_of(stateful_set)
    pod = next((each for each in pods if _is_of(each, stateful_set)), None)
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
    """Return whether it is named as we name instances; another with our labels is not ours."""
    return name_of(stateful_set).partition("-")[0] in set(Kind)


def kind_of(stateful_set: Manifest) -> Kind:
    """Return the kind by the name: labels may be edited, and names may not."""
    return Kind(name_of(stateful_set).partition("-")[0])


def _is_of(pod: Manifest, stateful_set: Manifest) -> bool:
    """Return whether the pod is this one's, and not of one of the same name that was deleted."""
    owners = {each["uid"] for each in pod["metadata"].get("ownerReferences", [])}
    return stateful_set["metadata"]["uid"] in owners


def why_missing(events: Sequence[Manifest]) -> str:
    """Return why a pod is not made, by its stateful set's events; empty where they do not say.

    Only the last word counts: events outlive what they tell by an hour.
    """
    told = [each for each in events if each.get("reason") in _OF_MAKING]
    # They are told by the second: of two that share one, the pod was made after all.
    last = max(told, key=lambda each: (_told_at(each), each["reason"] != _NOT_MADE), default=None)
    if last is None or last["reason"] != _NOT_MADE:
        return ""
    return refusals.why_not_made(str(last.get("message", "")))


def taken(stateful_sets: Iterable[Manifest], quotas: Mapping[str, Manifest]) -> Taken:
    """Return what a space has now; of its volumes the quota itself keeps the count."""
    memory: dict[Kind, list[int]] = {kind: [] for kind in Kind}
    for each in stateful_sets:
        if is_instance(each):
            memory[kind_of(each)].append(_memory_limit(each))
    used = quotas.get(QUOTA, {}).get("status", {}).get("used", {})
    return Taken(
        memory,
        volumes=int(used.get("persistentvolumeclaims", 0)),
        storage_mb=sizes.at_least_mebibytes(str(used.get("requests.storage", "0"))),
    )


def _memory_limit(stateful_set: _Object) -> int:
    """Return the limit that we wrote; one that somebody edited is taken back and counts nothing."""
    (container, *_) = stateful_set["spec"]["template"]["spec"]["containers"]
    limit = str(container.get("resources", {}).get("limits", {}).get("memory", ""))
    return sizes.mebibytes(limit)


def ending_trouble(namespace: Manifest, now: datetime) -> str:
    """Return why a namespace that should have ended is still there; empty while it may yet end.

    Source: Kubernetes API reference, NamespaceCondition (``…Failure``, ``Namespace…Remaining``).
    """
    asked_at = namespace["metadata"].get("deletionTimestamp")
    if asked_at is None or now - datetime.fromisoformat(asked_at) < _ENDS_WITHIN:
        return ""
    told = [
        str(each.get("message", each["type"]))
        for each in namespace.get("status", {}).get("conditions", [])
        if each["status"] == "True"
    ]
    return " ".join(told) or "the cluster does not say why."


def made_from(stateful_set: Manifest) -> str:
    """Return the digest of what the pods of a stateful set are made from."""
    return str(stateful_set["spec"]["template"]["metadata"].get("annotations", {}).get(RESTART, ""))


def _is_current(stateful_set: Manifest, pod: Manifest) -> bool:
    """Return whether the pod was made from the template as it is now."""
    made = str(pod["metadata"].get("annotations", {}).get(RESTART, ""))
    return made == made_from(stateful_set) and not _is_ending(pod)


def _is_ending(pod: _Object) -> bool:
    return bool(pod["metadata"].get("deletionTimestamp"))


def _is_ready(pod: _Object) -> bool:
    return any(
        each["type"] == "Ready" and each["status"] == "True"
        for each in pod.get("status", {}).get("conditions", [])
    )


def _message(stateful_set: Manifest, pod: Manifest) -> str:
    if not _is_current(stateful_set, pod):
        return "being replaced"
    if _is_ready(pod):
        return "ready"
    return _trouble(pod) or _silence(pod) or (_DEAF if _has_started(pod) else _start(pod))


def _start(pod: _Object) -> str:
    """Return that the pod starts, and how its last start ended if there was one."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    ends = [_last_end(each) for each in containers]
    return ". ".join(["starting", *(f"Before, {each}" for each in ends[:1] if each)])


def _silence(pod: _Object) -> str:
    """Return that the pod's node does not answer, empty while it does.

    Then the cluster takes back that the pod is ready; of its containers nobody hears any more.
    Source: Kubernetes documentation, Nodes, "Node controller".
    """
    containers = pod.get("status", {}).get("containerStatuses", [])
    if containers and all(each.get("ready") for each in containers):
        return f"its node {pod['spec']['nodeName']} does not answer"
    return ""


def _has_started(pod: _Object) -> bool:
    """Return whether the startup probe has passed in this life of the container."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    return any(each.get("started") for each in containers)


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
            # Of one that ends again and again its place says only for how long it waits.
            why = _last_end(container) if reason == _BACKING_OFF else ""
            return f"{reason}: {why or waiting.get('message', '')}".rstrip(": ")
    return ""


def _last_end(container: _Object) -> str:
    """Return how the life of a container before this one ended; empty where there was none."""
    ended = container.get("lastState", {}).get("terminated")
    return _end(ended) if ended else ""


def _end(ended: _Object) -> str:
    """Return how a container ended: its exit code, the place's reason, and its last words.

    Source: Kubernetes API reference, ContainerStateTerminated; its message is what the container
    wrote last, as our pods ask for with ``terminationMessagePolicy``.
    """
    reason = ended.get("reason", "")
    how = f"it ended with exit code {ended['exitCode']}"
    how += f" ({reason})" if reason else ""
    words = _last_words(str(ended.get("message", "")))
    return f"{how}; it said last: {words}" if words else how


def _last_words(text: str) -> str:
    """Return the end of a text in one line, of characters that can be shown."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    line = line if len(line) <= _LONGEST_WORDS else f"…{line[-_LONGEST_WORDS:].lstrip()}"
    return line.rstrip(".")


def _scheduling_trouble(pod: _Object) -> str:
    for each in pod.get("status", {}).get("conditions", []):
        if each["type"] == "PodScheduled" and each["status"] == "False":
            said = str(each.get("message", ""))
            advice = next((text for mark, text in _HOMELESS.items() if mark in said), "")
            told = f"{each.get('reason', 'Unschedulable')}: {said} {advice}"
            return told.strip().rstrip(".")
    return ""


def _end_trouble(pod: _Object, now: datetime) -> str:
    """Return who holds up the end of a pod: deleted, and not confirmed by its node."""
    due = pod["metadata"].get("deletionTimestamp")  # the grace period is in it
    if due is None or now - datetime.fromisoformat(due) < _ENDING_ENDS_WITHIN:
        return ""
    node = pod.get("spec", {}).get("nodeName", "")
    return (
        f"its node {node} does not confirm that the pod ended: bring the node back, or delete its "
        "Node object if it is gone for good"
    )


def _told_at(event: _Object) -> str:
    series = event.get("series") or {}
    told = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return str(told or "")


def _absence(stateful_set: Manifest) -> str:
    for each in stateful_set.get("status", {}).get("conditions", []):
        if each.get("message"):
            return str(each["message"])
    return "no pod yet"


def _boot(pod: _Object) -> str:
    """Return what differs from one life of the process to the next."""
    containers = pod.get("status", {}).get("containerStatuses", [])
    restarts = sum(int(each.get("restartCount", 0)) for each in containers)
    return f"{pod['metadata']['uid']}-{restarts}"
