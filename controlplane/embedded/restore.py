"""Create an installation from a backup, for ``waypost restore``. ``backup`` describes the files.

The installation is built beside its final folder and renamed at the end. So a killed restore leaves
nothing that looks like an installation, and can be repeated. The restored installation gets a new
id, so it may exist beside the original, and neither ends the other's processes.
"""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from controlplane.core.errors import Conflict, Invalid, Missing
from controlplane.embedded import backup, lock, ports, postgres
from controlplane.embedded import installation as installations
from controlplane.embedded.backup import Say
from controlplane.embedded.installation import DATABASE, Installation


@dataclass(frozen=True)
class StoredBackup:
    """The paths of a backup: its folder ``source``, and ``keys``, the path of ``keys.json``.

    The files need not exist: call ``check`` first.
    """

    source: Path
    keys: Path

    def check(self) -> None:
        """Compare the checksum of every file with the manifest. Changes nothing.

        Raises:
            Missing: ``restore.no_keys``: the file of keys does not exist.
            Invalid: ``restore.damaged``: a file is missing or its checksum differs; or as
                ``manifest`` raises it.
        """
        manifest = self.manifest()
        if not self.keys.exists():
            raise Missing(
                f"{self.keys} does not exist, and without the installation's keys the secrets in "
                "its database cannot be decrypted: name the file with --keys.",
                code="restore.no_keys",
            )
        for name, expected in manifest["sha256"].items():
            # The keys are kept apart from the backup.
            path = self.keys if name == backup.KEYS else self.source / name
            if not path.exists() or backup.digest(path) != expected:
                raise Invalid(
                    f"{path} is missing, damaged or of another backup: nothing was restored. Use "
                    "another copy of the file.",
                    code="restore.damaged",
                )

    def manifest(self) -> Mapping[str, Any]:
        """Return the content of ``manifest.json``.

        Raises:
            Invalid: ``restore.not_a_backup``: the file cannot be read; ``restore.format``: the
                backup has another format version.
        """
        try:
            manifest: dict[str, Any] = json.loads((self.source / backup.MANIFEST).read_text())
        except (OSError, ValueError) as error:
            raise Invalid(
                f"{self.source} is not a backup: it has no readable {backup.MANIFEST}.",
                code="restore.not_a_backup",
            ) from error
        if manifest.get("format") != backup.FORMAT:
            raise Invalid(
                f"{self.source} has format {manifest.get('format')}, and this version of Waypost "
                f"reads format {backup.FORMAT}: restore with the version that made it, then "
                "upgrade.",
                code="restore.format",
            )
        return manifest

    def unpack(self, archive: str, folder: Path) -> None:
        """Unpack the backup's tar file named ``archive`` into ``folder``, which must be new."""
        folder.mkdir(mode=0o700)
        with tarfile.open(self.source / archive) as tar:
            if hasattr(tarfile, "data_filter"):
                tar.extractall(folder, filter="data")
            else:  # Python 3.11 before 3.11.4 has no filters; the checksum proves the content
                tar.extractall(folder)


def restore(
    source: Path, root: Path, *, keys: Path | None = None, say: Say = lambda _: None
) -> Installation:
    """Create the installation of the backup ``source`` in the empty or new folder ``root``.

    Returns the installation, which is not started. ``keys`` is the path of ``keys.json``, by
    default the one in ``source``. The backup stays as it is.

    Raises:
        Occupied: ``stack.busy``: another command changes the folder.
        Conflict: ``restore.occupied``: ``root`` is not empty; or ``restore.differs``: database and
            lakehouse are of different moments.
        Missing: ``restore.no_keys``: the file of keys does not exist.
        Invalid: ``restore.not_a_backup``, ``restore.damaged`` (a file is missing or differs from
            its checksum) or ``restore.format`` (the backup has another format version).
        Unavailable: ``postgres.client``: pg_restore failed; the message ends with its last output.
    """
    with lock.alone(root, "waypost restore", say=say):
        if root.exists() and any(root.iterdir()):
            raise Conflict(
                f"{root} is not empty: choose a new folder with --state, or remove the "
                "installation in it with `waypost down --purge`.",
                code="restore.occupied",
            )
        keys = keys or source / backup.KEYS
        say("checking the backup")
        stored = StoredBackup(source, keys)
        stored.check()
        building = root.with_name(f".{root.name.lstrip('.')}.restoring")
        # Of a restore that was killed.
        shutil.rmtree(building, ignore_errors=True)
        try:
            _build(stored, building, say)
            # ``root`` may be an empty folder, which a rename replaces (POSIX).
            building.rename(root)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        restored = installations.load(root)
    assert restored is not None, "it was just renamed to this path"
    return restored


def _build(stored: StoredBackup, building: Path, say: Say) -> None:
    building.mkdir(parents=True)
    keys = json.loads(stored.keys.read_text())
    installation = installations.renew(building, json.dumps(keys["installation"]))
    authority = building / backup.CONTROL_AUTHORITY
    for name, text in keys[backup.CONTROL_AUTHORITY].items():
        authority.mkdir(exist_ok=True, mode=0o700)
        # Created with its final mode, so that no other user can ever read the keys.
        (authority / name).touch(mode=0o600)
        (authority / name).write_text(text)
    say("restoring the lakehouse and stored messages")
    stored.unpack(backup.LAKEHOUSE, building / "lakehouse")
    stored.unpack(backup.SPACES, building / "spaces")
    _forget_taken_ports(building / "spaces", say)
    say("restoring the database")
    _restore_database(stored.source / backup.DATABASE_DUMP, installation)


def _restore_database(dump: Path, installation: Installation) -> None:
    folder = installation.root / "postgres"
    password = installation.secrets.postgres_password
    postgres.initialize(folder / "data", password)
    with postgres.serving(folder / "data", password, folder / "restore.log") as server:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(f'create database "{DATABASE}"')
        # The dump names no roles, so everything belongs to our user.
        options = ["--exit-on-error", "--single-transaction", "--no-owner", str(dump)]
        postgres.run_client(server, DATABASE, "pg_restore", *options)
        _run_after_restore(installation, server.url(DATABASE))


def _run_after_restore(installation: Installation, database_url: str) -> None:
    """Run the Django command ``after_restore``, which checks and prepares the restored database.

    It compares the database with the lakehouse, deletes all leases and makes every space due for a
    full pass. It runs in a process of its own, because this layer must not import models.

    Raises:
        Conflict: ``restore.differs``: database and lakehouse do not fit together, or the command
            failed otherwise.
    """
    result = subprocess.run(
        [sys.executable, "-m", "django", "after_restore"],
        env={**installation.environment(), "WAYPOST_DATABASE_URL": database_url},
        # `python -m` imports from the working directory first. The installation's folder holds a
        # folder `lakehouse`, which would hide our package.
        cwd=installation.root / "postgres",
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise Conflict(
            f"The parts of the backup do not fit together: {result.stderr.strip()[-300:]}",
            code="restore.differs",
        )


def _forget_taken_ports(spaces: Path, say: Say) -> None:
    """Delete the ``ports.json`` of each instance of which another program uses a port now.

    Such an instance gets other ports at its start. All other instances keep theirs, so that their
    clients need no change.
    """
    for ports_file in spaces.glob("*/*/ports.json"):
        stored: dict[str, int] = json.loads(ports_file.read_text())
        if not all(map(ports.is_free, stored.values())):
            say(f"{ports_file.parent.name} moves to other ports: another program uses its own")
            ports_file.unlink()
