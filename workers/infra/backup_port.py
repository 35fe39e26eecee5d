"""The port by which scheduled backups make snapshots of volumes."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class VolumeId:
    """A volume, by its claim."""

    namespace: str
    claim: str


@dataclass(frozen=True)
class SnapshotStatus:
    """The state of a requested snapshot of a volume.

    ``created_at`` is the instant that the snapshot shows, as the platform writes it; empty until
    the snapshot is made. ``trouble`` is the platform's text about why it is not made yet; the
    reason may pass by itself.
    """

    name: str
    created_at: str = ""
    trouble: str = ""


class Snapshots(Protocol):
    """Makes snapshots of volumes for backups. All methods are idempotent.

    Raises:
        InfraError: any method: the platform refuses or does not answer.
    """

    def request(self, backup: str, volume: VolumeId) -> None:
        """Request a snapshot of the volume for the backup named ``backup``."""
        ...

    def status(self, backup: str, volume: VolumeId) -> SnapshotStatus:
        """Return the state of a requested snapshot."""
        ...

    def broker_volumes(self, namespaces: Collection[str]) -> Sequence[VolumeId]:
        """Return the volumes of brokers in these namespaces."""
        ...

    def delete_others(self, keep: Collection[str]) -> None:
        """Delete this installation's snapshots of all backups except those named in ``keep``."""
        ...
