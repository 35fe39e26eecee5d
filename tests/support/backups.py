"""The second container of a backup's pod as a process, a cluster's snapshots, and a restore."""

import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from django.db import connection

from controlplane.embedded import postgres
from tests.support.charts.rendered import CHART
from tests.support.source_tree import ROOT
from workers.infra.backup_port import SnapshotStatus, VolumeId
from workers.models import LandingBatch


@dataclass
class DumpingContainer:
    """Runs the chart's script with a real pg_dump."""

    exchange: Path
    backups: Path

    @classmethod
    @contextmanager
    def running(cls, folder: Path) -> Iterator["DumpingContainer"]:
        made = cls(folder / "exchange", folder / "backups")
        made.exchange.mkdir()
        made.backups.mkdir()
        programs = postgres.binary("pg_dump").parent
        process = subprocess.Popen(
            ["/bin/sh", "-c", (CHART / "files" / "dump.sh").read_text()],
            env={
                "PATH": f"{programs}:{os.environ['PATH']}",
                "EXCHANGE": str(made.exchange),
                "BACKUPS": str(made.backups),
                "WAYPOST_DATABASE_URL": made.database_url(),
            },
        )
        try:
            yield made
        finally:
            process.terminate()
            process.wait(120)

    @staticmethod
    def database_url() -> str:
        known = connection.settings_dict
        address = f"{known['HOST']}:{known['PORT']}"
        return f"postgresql://{known['USER']}:{known['PASSWORD']}@{address}/{known['NAME']}"

    def sleep_and(self, once: Callable[[], None]) -> Callable[[float], None]:
        """Return a short sleep that also does something the first time."""
        todo = [once]

        def sleep(_seconds: float) -> None:
            if todo:
                todo.pop()()
            threading.Event().wait(0.02)

        return sleep


@dataclass
class FakeSnapshots:
    """Snapshots that are created at the second look; ``before_created`` runs before that."""

    before_created: Callable[[], None] = lambda: None
    trouble: str = ""
    created_at: str = "2026-11-24T12:00:00Z"
    commits_before_created: int = 0
    kept: Sequence[str] = ()
    requested: list[VolumeId] = field(default_factory=list)
    looked_at: list[VolumeId] = field(default_factory=list)

    def request(self, backup: str, volume: VolumeId) -> None:
        self.requested.append(volume)

    def status(self, backup: str, volume: VolumeId) -> SnapshotStatus:
        name = f"{volume.claim}-{backup}"
        self.looked_at.append(volume)
        if self.trouble:
            return SnapshotStatus(name, trouble=self.trouble)
        if self.looked_at.count(volume) == 1 and volume.claim == "waypost-lakehouse":
            self.before_created()
            numbered = LandingBatch.objects.filter(commit_number__isnull=False)
            self.commits_before_created = numbered.count()
            return SnapshotStatus(name)
        return SnapshotStatus(name, self.created_at)

    def broker_volumes(self, namespaces: Collection[str]) -> Sequence[VolumeId]:
        return [VolumeId(namespace, "data-broker-0-0") for namespace in sorted(namespaces)]

    def delete_others(self, keep: Collection[str]) -> None:
        self.kept = list(keep)


@dataclass
class Restored:
    """A database that was restored from a backup."""

    server: postgres.Server
    database: str

    def count(self, table: str) -> int:
        """Return how many rows a table, with a condition behind its name, has."""
        with psycopg.connect(self.server.url(self.database)) as session:
            row = session.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
        assert row is not None
        return int(row[0])

    def after_restore(self, lakehouse: Path) -> subprocess.CompletedProcess[str]:
        """Run the command that operators run after a restore."""
        return subprocess.run(
            [sys.executable, "-m", "django", "after_restore"],
            cwd=ROOT,
            env={
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "controlplane.settings",
                "WAYPOST_DATABASE_URL": self.server.url(self.database),
                "WAYPOST_LAKEHOUSE_ROOT": str(lakehouse),
            },
            capture_output=True,
            text=True,
            check=False,
        )


@contextmanager
def restore(server: postgres.Server, backup: Path, folder: Path) -> Iterator[Restored]:
    """Restore the dump into a new database, by the command of docs/operate/backup.md."""
    name = f"restored_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}".encode())
        try:
            options = ["--no-owner", "--single-transaction", "--exit-on-error"]
            dump = str(backup / "database.dump")
            postgres.run_client(server, name, "pg_restore", *options, dump)
            yield Restored(server, name)
        finally:
            session.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
