"""Compute what callers need to know from the objects that the cluster reports. Pure.

That is the status of an instance, what a space uses, and why something does not come or go.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from controlplane.core.causes import Cause
from controlplane.core.instance_names import InstanceId, Kind
from workers.infra.base import InstanceStatus
from workers.infra.kubernetes import pods, refusals, sizes
from workers.infra.kubernetes.isolation import QUOTA, Taken
from workers.infra.kubernetes.reported import (
    ContainerEnd,
    ContainerStatus,
    Event,
    Pod,
    Quota,
    Reported,
    StatefulSet,
    WithConditions,
)

# The deletion of a namespace takes seconds, or a minute if it has volumes.
_ENDS_WITHIN = timedelta(minutes=3)
_POD_ENDS_WITHIN = timedelta(minutes=1)  # after its grace period
_NOT_MADE = "FailedCreate"  # Source: pkg/controller/statefulset, "recordPodEvent"
# Reasons of events that tell of the creation of a pod.
_CREATIONS = frozenset({_NOT_MADE, "SuccessfulCreate"})
_NOT_READY = "it runs, but does not pass its readiness probe"
_BACKING_OFF = "CrashLoopBackOff"  # Source: pkg/kubelet/images and kuberuntime, "doBackOff"
# Reasons of a container that waits for its image. ``ErrImagePull`` is not among them: the first
# attempt may fail and the second succeed. Source: pkg/kubelet/images, "errors".
_NO_IMAGE = frozenset({"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"})
_OUT_OF_MEMORY = "OOMKilled"
# A container waits for these at each start.
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


def status(stateful_set: StatefulSet, seen: Sequence[Pod], now: datetime) -> InstanceStatus:
    """Return the status of the instance that a stateful set runs.

    ``seen`` are the pods of its namespace. The instance counts as running if its pod is ready, was
    made from the present template, and is not being deleted.
    """
    # The kind from the name, because labels can be edited.
    name, kind = stateful_set.name, InstanceId.parse(stateful_set.name).kind
    # By the uid: the pod of a deleted stateful set with the same name may still exist.
    uid = stateful_set.metadata.uid
    owned = (pod for pod in seen if uid in {owner.uid for owner in pod.metadata.owner_references})
    pod = next(owned, None)
    if pod is None:
        conditions = stateful_set.status.conditions
        messages = (condition.message for condition in conditions if condition.message)
        found = next(messages, "")
        cause = Cause.PLATFORM if found else Cause.NONE
        return InstanceStatus(name, kind, running=False, message=found or "no pod yet", cause=cause)
    wanted = pods.made_from(stateful_set.spec.template.metadata.annotations)
    is_current = pods.made_from(pod.metadata.annotations) == wanted and not pod.is_ending
    trouble = "" if pod.is_ready or pod.is_ending else _trouble(pod)
    end_trouble = _end_trouble(pod, now)
    return InstanceStatus(
        name,
        kind,
        running=pod.is_ready and is_current,
        message=_message(pod) if is_current else "being replaced",
        boot=boot_of(pod),
        trouble=end_trouble or trouble,
        cause=Cause.NODE if end_trouble else _cause(pod, is_current=is_current),
    )


def boot_of(pod: Pod) -> str:
    """Return what identifies the incarnation of the instance that runs in the pod."""
    restarts = sum(container.restart_count for container in pod.status.container_statuses)
    return f"{pod.metadata.uid}-{restarts}"


def is_instance(stateful_set: Reported) -> bool:
    """Return whether the stateful set is an instance, by its name.

    The labels do not decide: anybody can set Waypost's labels on another stateful set.
    """
    return InstanceId.find(stateful_set.name) is not None


def why_missing(events: Sequence[Event]) -> str:
    """Return why a pod is not created, from the events of its stateful set.

    Only the last event about creations counts, because the cluster keeps events for an hour. Empty
    if there is no such event, if it reports a success, or if its reason passes by itself.
    """
    creations = [event for event in events if event.reason in _CREATIONS]
    last = max(creations, key=_came_at, default=None)
    if last is None or last.reason != _NOT_MADE:
        return ""
    return refusals.why_not_made(last.message)


def _came_at(creation: Event) -> tuple[datetime, bool]:
    """Return the key by which the last event about a creation is the largest.

    Of two in one second the success counts as the last, unless both have a fraction of the second.
    """
    at, is_success = creation.last_seen, creation.reason != _NOT_MADE
    if is_success and at.microsecond == 0:
        at = at.replace(microsecond=999_999)
    return at, is_success


def taken(stateful_sets: Iterable[StatefulSet], quotas: Mapping[str, Quota]) -> Taken:
    """Return what a space uses now; ``quotas`` are its live resource quotas by name.

    The memory comes from the stateful sets of instances. CPU, and the number and size of volumes,
    come from the status of Waypost's own quota; they are 0 if it is missing.
    """
    memory: dict[Kind, list[int]] = {kind: [] for kind in Kind}
    for stateful_set in stateful_sets:
        if is_instance(stateful_set):
            (container, *_) = stateful_set.spec.template.spec.containers
            limit = container.resources.limits.get("memory", "")
            # 0 if somebody edited the limit into a form that Waypost never writes.
            memory[InstanceId.parse(stateful_set.name).kind].append(sizes.mebibytes(limit))
    used = quotas[QUOTA].status.used if QUOTA in quotas else {}
    return Taken(
        memory,
        volumes=int(used.get("persistentvolumeclaims", 0)),
        storage_mb=sizes.at_least_mebibytes(used.get("requests.storage", "0")),
        cpu_millis=sizes.at_least_millis(used.get("requests.cpu", "0")),
    )


def ending_trouble(namespace: WithConditions, now: datetime) -> str:
    """Return why the deletion of a namespace takes longer than 3 minutes; empty before that.

    Source: Kubernetes API reference, NamespaceCondition (``…Failure``, ``Namespace…Remaining``).
    """
    requested_at = namespace.metadata.deletion_timestamp
    if requested_at is None or now - requested_at < _ENDS_WITHIN:
        return ""
    reasons = [
        condition.message or condition.type
        for condition in namespace.status.conditions
        if condition.status == "True"
    ]
    return " ".join(reasons) or "the cluster does not say why."


def _message(pod: Pod) -> str:
    """Return the state in words of a pod that was made from the present template."""
    containers = pod.status.container_statuses
    if pod.is_ready:
        return "ready"
    if trouble := _trouble(pod):
        return trouble
    # A node that does not answer: the node controller then sets the pod's Ready condition to False,
    # and the containers keep the status that the node reported last. Source: Kubernetes
    # documentation, Nodes, "Node controller".
    if containers and all(container.ready for container in containers):
        return f"its node {pod.spec.node_name} does not answer"
    if any(container.started for container in containers):
        return _NOT_READY
    # It starts. If it ran before, how that run ended may be the reason of the restart.
    ends = [_last_end(container) for container in containers]
    return ". ".join(["starting", *(f"Before, {end}" for end in ends[:1] if end)])


def _trouble(pod: Pod) -> str:
    return _container_trouble(pod) or _scheduling_trouble(pod)


def _cause(pod: Pod, *, is_current: bool) -> Cause:
    """Return why a pod is not ready; ``Cause.NONE`` if it is ready, or if it only starts.

    ``is_current``: the pod was made from the present template and is not being deleted.
    """
    if pod.is_ready:
        return Cause.NONE
    if not is_current:  # its trouble says nothing about the template that replaces it
        return Cause.PLATFORM if _trouble(pod) else Cause.NONE
    causes = map(_container_cause, pod.status.container_statuses)
    if found := next(filter(None, causes), None):
        return found
    if _scheduling_trouble(pod):
        return Cause.NO_PLACE
    containers = pod.status.container_statuses
    is_lost = bool(containers) and all(container.ready for container in containers)
    return Cause.NODE if is_lost else Cause.NONE


def _container_cause(container: ContainerStatus) -> Cause:
    ended, waiting = container.state.terminated, container.state.waiting.reason
    former = container.last_state.terminated
    if _OUT_OF_MEMORY in {end.reason for end in (ended, former) if end}:
        return Cause.MEMORY
    if waiting in _NO_IMAGE:
        return Cause.IMAGE
    if waiting == _BACKING_OFF:
        return Cause.CRASHES
    if container.started and not container.ready:
        return Cause.DEAF
    if ended or former:
        return Cause.ENDED
    return Cause.PLATFORM if waiting and waiting not in _NO_TROUBLE else Cause.NONE


def _container_trouble(pod: Pod) -> str:
    for container in pod.status.container_statuses:
        if container.state.terminated:
            return how_ended(container.state.terminated)
        waiting = container.state.waiting
        if waiting.reason and waiting.reason not in _NO_TROUBLE:
            # The kubelet's message says only how long it waits before the next start.
            why = _last_end(container) if waiting.reason == _BACKING_OFF else ""
            return f"{waiting.reason}: {why or waiting.message}".rstrip(": ")
    return ""


def _last_end(container: ContainerStatus) -> str:
    """Return how the container's previous run ended; empty if there was none."""
    ended = container.last_state.terminated
    return how_ended(ended) if ended else ""


def how_ended(ended: ContainerEnd) -> str:
    """Return how a container ended: its exit code, the reason, and its last output.

    The output is ``ended.message``, which is the end of the log, because our pods set
    ``terminationMessagePolicy``. Its last ``_LONGEST_MESSAGE`` characters are kept, as one line of
    printable characters.
    """
    how = f"it ended with exit code {ended.exit_code}"
    how += f" ({ended.reason})" if ended.reason else ""
    printable = "".join(char if char.isprintable() else " " for char in ended.message)
    line = " ".join(printable.split())
    line = line if len(line) <= _LONGEST_MESSAGE else f"…{line[-_LONGEST_MESSAGE:].lstrip()}"
    output = line.rstrip(".")
    return f"{how}; it said last: {output}" if output else how


def _scheduling_trouble(pod: Pod) -> str:
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            message = condition.message
            advices = (text for mark, text in _SCHEDULING_ADVICE.items() if mark in message)
            text = f"{condition.reason or 'Unschedulable'}: {message} {next(advices, '')}"
            return text.strip().rstrip(".")
    return ""


def _end_trouble(pod: Pod, now: datetime) -> str:
    """Return what to do about a deleted pod whose node does not confirm that the pod ended.

    Empty if nobody deleted the pod, or until a minute after its grace period.
    """
    due = pod.metadata.deletion_timestamp  # includes the grace period
    if due is None or now - due < _POD_ENDS_WITHIN:
        return ""
    return (
        f"its node {pod.spec.node_name} does not confirm that the pod ended: bring the node back, "
        "or delete its Node object if it is gone for good"
    )
