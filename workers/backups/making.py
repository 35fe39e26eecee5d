"""Make one backup of an installation in a cluster, and delete old ones.

A backup is a folder, named by the time at which it began::

    manifest.json   the instant, the versions of all tables, the snapshots, and a SHA-256
    database.dump   PostgreSQL by pg_dump, custom format
    lakehouse/      the tables' files, if the lakehouse is copied

Order, and why:

1. ``instant.fixed``: the committer stops, the database's snapshot is exported, versions are read.
2. The lakehouse's volume is snapshotted while nobody commits. A copy needs no pause, because it
   leaves out what is newer than the versions.
3. The committer goes on. The dump by the exported snapshot, and the copy, take as long as they do.
4. The volumes of brokers are snapshotted: messages may be of another instant.
5. The manifest is written last, and the folder renamed: a killed backup never looks complete.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog

from controlplane.core.errors import Unavailable
from tenants.models import AddressSpace
from workers.backups import instant, lakehouse_copy
from workers.backups.dumping import Dumper
from workers.backups.instant import Instant
from workers.infra import names
from workers.infra.backup_port import Snapshots, VolumeId
from workers.metering.roots import ObjectStore, Root

logger = structlog.get_logger(__name__)

FORMAT = 1  # of the backup, for who reads it later
PARTIAL, MANIFEST, DUMP, LAKEHOUSE = ".partial", "manifest.json", "database.dump", "lakehouse"
_POLL_SECONDS = 1.0
# A CSI driver cuts a snapshot in seconds; its upload may take longer and is not waited for.
_SNAPSHOT_POLLS = 600


class SnapshotMissing(Unavailable):
    """A snapshot of a volume was not created in time."""

    code = "backup.snapshot_missing"
    title = "No snapshot of the volume"


@dataclass(frozen=True)
class Choice:
    """What a backup has, and how many are kept.

    * ``keep``: 1 or more, with the new one.
    * ``lakehouse_volume``: the claim to snapshot; None copies the files of a folder. An object
      store is neither copied nor snapshotted: its own versions are the backup.
    * ``with_brokers``: also snapshot the volumes of brokers.
    """

    keep: int
    lakehouse_volume: VolumeId | None = None
    with_brokers: bool = False

    def __post_init__(self) -> None:
        """Refuse a ``keep`` with which the slices of ``_delete_old`` would be wrong."""
        if self.keep < 1:
            raise ValueError(f"keep must be 1 or more, not {self.keep}")


@dataclass(frozen=True)
class Backups:
    """Makes backups in the folder ``folder``. ``snapshots`` may be None if none is chosen."""

    folder: Path
    root: Root
    choice: Choice
    dumper: Dumper
    snapshots: Snapshots | None
    clock: Callable[[], datetime]
    sleep: Callable[[float], None]

    def make(self) -> Path:
        """Make one backup, delete those beyond ``keep``, and return the new one's folder.

        Raises:
            InstantLost, DumpFailed, SnapshotMissing: there is no new backup; old ones stay.
            InfraError: the cluster refuses a snapshot.
            OSError: the folder cannot be written.
        """
        began_at = self.clock().astimezone(UTC)
        name = began_at.strftime("%Y%m%dt%H%M%Sz")  # legal in names of objects and labels
        partial = self.folder / PARTIAL
        shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
        partial.mkdir(mode=0o700)
        with instant.fixed(self.root, self.sleep) as fixed:
            manifest = {
                "format": FORMAT,
                "name": name,
                "began_at": began_at.isoformat(timespec="seconds"),
                "lakehouse": self._secure_lakehouse(name, fixed),
            }
            # While the session of ``fixed`` lives, pg_dump may use its snapshot.
            self.dumper.dump(fixed.database.snapshot)
        manifest["database"] = _describe_dump(partial / DUMP, fixed)
        self._copy_lakehouse(partial, fixed)
        manifest["brokers"] = self._snapshot_brokers(name)
        (partial / MANIFEST).write_text(json.dumps(manifest, indent=1))
        made = partial.rename(self.folder / name)
        # Only now: if this backup had failed, the old ones would still be needed.
        self._delete_old()
        return made

    def _secure_lakehouse(self, name: str, fixed: Instant) -> dict[str, Any]:
        """Snapshot the volume if that is chosen, let the committer go on, and describe the state.

        ``instant`` is the T of docs/operate/backup.md.
        """
        at, snapshot = fixed.database.at.isoformat(), None
        if self.choice.lakehouse_volume is not None:
            (made,) = self._snapshot(name, [self.choice.lakehouse_volume])
            at, snapshot = made["created_at"], made["snapshot"]
        elif isinstance(self.root, ObjectStore):
            at = self.clock().astimezone(UTC).isoformat()
        fixed.release()
        tables = {
            table: {"id": id_, "version": version}
            for table, (id_, version) in fixed.lakehouse.tables.items()
        }
        commit = fixed.lakehouse.commit
        return {"instant": at, "snapshot": snapshot, "commit": commit, "tables": tables}

    def _copy_lakehouse(self, partial: Path, fixed: Instant) -> None:
        if self.choice.lakehouse_volume is None and isinstance(self.root, Path):
            versions = {table: pin[1] for table, pin in fixed.lakehouse.tables.items()}
            lakehouse_copy.copy(self.root, partial / LAKEHOUSE, versions)

    def _snapshot_brokers(self, name: str) -> Sequence[dict[str, str]]:
        if not self.choice.with_brokers or self.snapshots is None:
            return []
        spaces = AddressSpace.objects.filter(deleted_at__isnull=True)
        known = {names.namespace(space.tenant_id, space.id, space.name) for space in spaces}
        return self._snapshot(name, self.snapshots.broker_volumes(known))

    def _snapshot(self, name: str, volumes: Sequence[VolumeId]) -> list[dict[str, str]]:
        """Request snapshots of the volumes; return what the manifest says of them, once created."""
        assert self.snapshots is not None, "the command configures them with the choice"
        for volume in volumes:
            self.snapshots.request(name, volume)
        return [self._await_snapshot(self.snapshots, name, volume) for volume in volumes]

    def _await_snapshot(self, snapshots: Snapshots, name: str, volume: VolumeId) -> dict[str, str]:
        for _ in range(_SNAPSHOT_POLLS):
            status = snapshots.status(name, volume)
            if status.created_at:
                return {
                    "namespace": volume.namespace,
                    "claim": volume.claim,
                    "snapshot": status.name,
                    "created_at": status.created_at,
                }
            self.sleep(_POLL_SECONDS)
        raise SnapshotMissing(
            f"The snapshot {status.name} in {volume.namespace} was not created: check its storage "
            f"class's CSI driver and the VolumeSnapshotClass. {status.trouble}".rstrip()
        )

    def _delete_old(self) -> None:
        """Delete the oldest backups beyond ``keep``, and all snapshots of backups that are gone."""
        # The names are times in UTC, so their order is that of the backups.
        complete = sorted(path.parent for path in self.folder.glob(f"*/{MANIFEST}"))
        for path in complete[: -self.choice.keep]:
            logger.info("deleting an old backup", backup=path.name)
            shutil.rmtree(path)
        if self.snapshots is not None:
            self.snapshots.delete_others([path.name for path in complete[-self.choice.keep :]])


def _describe_dump(dump: Path, fixed: Instant) -> dict[str, Any]:
    with dump.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "instant": fixed.database.at.isoformat(),
        "sha256": digest,
        "bytes": dump.stat().st_size,
        "server_version": fixed.database.server_version,
        "committed": fixed.database.committed,
        "numbered": fixed.database.numbered,
    }
