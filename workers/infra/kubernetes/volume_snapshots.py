"""Requests VolumeSnapshots of the lakehouse's volume and of brokers' volumes for a backup.

The CSI driver of the storage makes the snapshots. This module also deletes the snapshots of old
backups.

Source: Kubernetes CSI documentation, "Volume Snapshots"; API ``snapshot.storage.k8s.io/v1``.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind
from workers.infra.backup_port import SnapshotStatus, VolumeId
from workers.infra.kubernetes import labels, resources
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.reported import Part, Reported
from workers.infra.kubernetes.resources import ForeignObject, ForeignPart, Resource

BACKUP = "waypost.io/backup"  # a label: the name of the backup that a snapshot belongs to


class SnapshotError(Part):
    message: str = ""


class SnapshotState(Part):
    creation_time: str = ""
    ready_to_use: bool = False
    error: SnapshotError = SnapshotError()


class ReportedSnapshot(Reported):
    status: SnapshotState = SnapshotState()


VOLUME_SNAPSHOT = Resource(
    "VolumeSnapshot",
    "snapshot.storage.k8s.io/v1",
    "volumesnapshots",
    ReportedSnapshot,
)


class Source(ForeignPart):
    persistent_volume_claim_name: str


class Spec(ForeignPart):
    source: Source
    volume_snapshot_class_name: str | None = None


class VolumeSnapshot(ForeignObject):
    """A request for a snapshot of one claim's volume."""

    resource = VOLUME_SNAPSHOT

    spec: Spec


@dataclass(frozen=True)
class VolumeSnapshots:
    """The port ``Snapshots`` on a cluster.

    * ``installation``: its name, by which its snapshots are found again.
    * ``class_name``: the VolumeSnapshotClass; empty means the cluster's default.
    * ``namespaces``: where to look for snapshots to delete; None means all.
    """

    api: Api
    installation: str
    class_name: str = ""
    namespaces: Sequence[str] | None = None

    def request(self, backup: str, volume: VolumeId) -> None:
        self.api.apply(
            VolumeSnapshot(
                metadata=k8s.V1ObjectMeta(
                    name=_name(backup, volume),
                    namespace=volume.namespace,
                    labels={**self._labels, BACKUP: backup},
                ),
                spec=Spec(
                    source=Source(persistent_volume_claim_name=volume.claim),
                    # None leaves the field out, so that the cluster uses its default class.
                    volume_snapshot_class_name=self.class_name or None,
                ),
            )
        )

    def status(self, backup: str, volume: VolumeId) -> SnapshotStatus:
        name = _name(backup, volume)
        live = self.api.find(VOLUME_SNAPSHOT, volume.namespace, name)
        if live is None:
            return SnapshotStatus(name, trouble="somebody deleted it")
        return SnapshotStatus(name, live.status.creation_time, live.status.error.message)

    def broker_volumes(self, namespaces: Collection[str]) -> Sequence[VolumeId]:
        wanted = labels.select_component(Kind.BROKER)
        found = self.api.list(resources.VOLUME_CLAIM, None, wanted)
        return [
            VolumeId(claim.metadata.namespace, claim.name)
            for claim in found
            if claim.metadata.namespace in namespaces and not claim.is_ending
        ]

    def delete_others(self, keep: Collection[str]) -> None:
        places: Sequence[str | None] = self.namespaces or [None]
        for namespace in places:
            for live in self.api.list(VOLUME_SNAPSHOT, namespace, self._labels):
                if live.metadata.labels.get(BACKUP) not in keep:
                    self.api.delete(VOLUME_SNAPSHOT, live.metadata.namespace, live.name)

    @property
    def _labels(self) -> Mapping[str, str]:
        # Not ``labels.OURS``: the worker deletes what has these labels and no row.
        return {
            "app.kubernetes.io/part-of": "waypost",
            labels.COMPONENT: "backup",
            labels.INSTALLATION: self.installation,
        }


def _name(backup: str, volume: VolumeId) -> str:
    return f"{volume.claim}-{backup}"
