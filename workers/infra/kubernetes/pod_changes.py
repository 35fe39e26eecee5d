"""Watch the pods of all spaces in one stream."""

from collections.abc import Iterator

from workers.infra.base import InstanceSight, Sights
from workers.infra.kubernetes import labels, observed, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.reported import Pod


class PodChanges:
    """The port ``Watch`` on a cluster.

    Pods carry no label of the installation, because a change of their template would restart them.
    So the pods of another installation in the same cluster are seen too, and callers ignore spaces
    that they do not have.
    """

    def __init__(self, api: Api) -> None:
        self._api = api

    def follow(self, seconds: int) -> Iterator[Sights]:
        listing = self._api.list_to_watch(resources.POD, labels.OURS)
        yield Sights([sight for pod in listing.objects if (sight := _sight(pod))], complete=True)
        changes = self._api.watch(resources.POD, labels.OURS, listing.version, seconds)
        for change in changes:
            sight = _sight(change.object, deleted=change.deleted)
            if sight is not None:
                yield Sights([sight])


def _sight(pod: Pod, *, deleted: bool = False) -> InstanceSight | None:
    """Return what the pod says about its instance; None for a pod of the control plane."""
    carried = pod.metadata.labels
    space_id, instance = carried.get(labels.SPACE), carried.get(labels.INSTANCE)
    if not space_id or not instance:
        return None
    if deleted:
        return InstanceSight(pod.metadata.namespace, space_id, instance)
    return InstanceSight(
        pod.metadata.namespace,
        space_id,
        instance,
        observed.boot_of(pod),
        well=pod.is_ready and not pod.is_ending,
        reason="" if pod.is_ready else _reason(pod),
    )


def _reason(pod: Pod) -> str:
    """Return why the pod is not ready: its own reason (``Evicted``), or that of a container."""
    if pod.status.reason:
        return pod.status.reason
    for status in pod.status.container_statuses:
        # A container that runs again, but is not ready yet, has only its last end as a reason.
        ended = status.state.terminated or status.last_state.terminated
        reason = status.state.waiting.reason or (ended.reason if ended else "")
        if reason:
            return reason
    return ""
