"""Fix one instant of database and lakehouse, and prove that both are of it.

The two are of one instant if bronze has no commit that the database has not numbered, and every
commit that the database records as done (``workers.metering.restored``). Only the committer
commits to bronze. So ``fixed`` takes the committer's lease, exports a snapshot of the database, and
only then looks at the lakehouse: until the block ends, nobody commits. A dump by the exported
snapshot may take hours afterwards: it shows the database as it was at the instant.

Gold may be newer than the database's copy of it, because the snapshot of the database is first.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import psycopg
from django.db import connection
from django.db.models import Max

from controlplane.core import leases
from controlplane.core.errors import Unavailable
from workers.metering import committer, delta
from workers.metering.roots import Root
from workers.models import LandingBatch

_LEASE_SECONDS = 60  # extended while the backup needs it
_RETRY_SECONDS = 1.0  # while another process holds the lease
# Settings of connections that psycopg alone does not know.
_OF_DJANGO = {"cursor_factory", "context", "prepare_threshold"}
_FACTS = """
SELECT now(), pg_export_snapshot(), current_setting('server_version'),
    COALESCE((SELECT max(commit_number) FROM workers_landingbatch), 0),
    COALESCE((SELECT max(commit_number) FROM workers_landingbatch WHERE state = 'committed'), 0)
"""


class InstantLost(Unavailable):
    """Another process committed to bronze although this one had the lease for it."""

    code = "backup.instant_lost"
    title = "The backup is not of one instant"


@dataclass(frozen=True)
class DatabaseInstant:
    """What the exported snapshot of the database shows.

    * ``snapshot``: its name, for ``pg_dump --snapshot``; valid until the block of ``fixed`` ends.
    * ``numbered``, ``committed``: the last commit of bronze with a number, and the last done one.
    """

    at: datetime
    snapshot: str
    server_version: str
    numbered: int
    committed: int


@dataclass(frozen=True)
class Lakehouse:
    """The tables at the instant: {name: (id, version)}; ``commit``: number of bronze's last one."""

    tables: Mapping[str, tuple[str, int]]
    commit: int


@dataclass(frozen=True)
class Instant:
    """One instant of both. ``release`` lets the committer go on; the snapshot stays valid."""

    database: DatabaseInstant
    lakehouse: Lakehouse
    release: Callable[[], None]


@contextmanager
def fixed(root: Root, sleep: Callable[[float], None]) -> Iterator[Instant]:
    """Wait for the committer's lease, and yield the instant. Landing goes on meanwhile.

    Commits wait until ``release`` is called or the block ends. Samples wait in the database, so
    nothing is lost.

    Raises:
        InstantLost: at the start of the block, or by ``release``: another process has committed to
            bronze although this one had the lease. Run the backup again.
        StoreAway, StoreRefuses, BucketMissing: the object store fails.
    """
    holder = uuid.uuid4().hex
    known = connection.get_connection_params()
    parameters = {name: value for name, value in known.items() if name not in _OF_DJANGO}
    # Not Django's connection: this transaction stays open for the whole dump, and meanwhile others
    # must commit, such as the extension of the lease.
    with psycopg.connect(**parameters, autocommit=False) as session:
        session.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        session.read_only = True
        while True:
            with leases.kept(committer.APP, holder, _LEASE_SECONDS) as won:
                if won:
                    yield from _held(session, root, holder)
                    return
            sleep(_RETRY_SECONDS)


def _held(session: psycopg.Connection[Any], root: Root, holder: str) -> Iterator[Instant]:
    # A dump may take longer than a server lets a transaction be idle.
    session.execute("SET idle_in_transaction_session_timeout = 0")
    row = session.execute(_FACTS).fetchone()
    assert row is not None  # it has no FROM
    database = DatabaseInstant(*row)
    lakehouse = _lakehouse(root)
    if not database.committed <= lakehouse.commit <= database.numbered:
        raise InstantLost(
            f"Bronze is at commit {lakehouse.commit}, and the database knows of "
            f"{database.committed} to {database.numbered}: run the backup again."
        )

    def release() -> None:
        numbered = LandingBatch.objects.aggregate(last=Max("commit_number"))["last"] or 0
        leases.release(committer.APP, holder)
        if numbered != database.numbered:
            raise InstantLost(
                f"Commit {numbered} was made before the lakehouse was secured at commit "
                f"{database.numbered}: run the backup again."
            )

    yield Instant(database, lakehouse, release)


def _lakehouse(root: Root) -> Lakehouse:
    tables = {
        name: delta.open_table(root, name) for name in delta.FOLDERS if delta.exists(root, name)
    }
    bronze = tables.get(delta.BRONZE)
    return Lakehouse(
        {name: (str(table.metadata().id), table.version()) for name, table in tables.items()},
        (bronze.transaction_version(committer.APP) or 0) if bronze else 0,
    )
