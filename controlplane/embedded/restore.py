"""A backup becomes an installation again. Called by ``waypost restore``; see ``backup``.

It is put together beside its place and renamed at the end, so a killed restore leaves nothing that
could be taken for an installation, and may be run again. The restored one gets an id of its own:
it may lie beside the one that it was made from, and neither ends the other's processes.
"""

import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg

from controlplane.core.errors import Conflict, Invalid, Missing
from controlplane.embedded import backup, lock, ports, postgres
from controlplane.embedded import installation as installations
from controlplane.embedded.backup import Say
from controlplane.embedded.installation import DATABASE, Installation


def restore(
    source: Path, root: Path, *, keys: Path | None = None, say: Say = lambda _: None
) -> Installation:
    """Make the installation of the backup ``source`` again in the empty folder ``root``.

    It is not started. ``keys`` is where ``keys.json`` was kept; else it is in ``source``.

    Raises:
        Conflict: ``restore.occupied``: ``root`` holds something; or ``restore.differs``: database
            and lakehouse are of different instants.
        Missing: ``restore.no_keys``: the keys are not there.
        Invalid: ``restore.not_a_backup``, ``restore.damaged`` (a file is missing or is not the one
            that was written) or ``restore.format`` (of another version).
        Unavailable: ``postgres.client``: pg_restore failed; the message carries its last lines.
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
        _check(source, keys)
        building = root.with_name(f".{root.name.lstrip('.')}.restoring")
        shutil.rmtree(building, ignore_errors=True)
        try:
            _build(source, json.loads(keys.read_text()), building, say)
            building.rename(root)
        finally:
            shutil.rmtree(building, ignore_errors=True)
        restored = installations.load(root)
    assert restored is not None, "it was just put there"
    return restored


def _check(source: Path, keys: Path) -> None:
    """Compare every file with the manifest before anything is written."""
    manifest = _manifest(source)
    if not keys.exists():
        raise Missing(
            f"{keys} is not there, and without the keys of the installation nobody can open the "
            "secrets in its database: name the file with --keys.",
            code="restore.no_keys",
        )
    for name, expected in manifest["sha256"].items():
        path = keys if name == backup.KEYS else source / name
        if not path.exists() or backup.digest(path) != expected:
            raise Invalid(
                f"{path} is missing, damaged or of another backup: nothing was restored. Take "
                "another copy of it.",
                code="restore.damaged",
            )


def _manifest(source: Path) -> Mapping[str, Any]:
    path = source / backup.MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Invalid(
            f"{source} is no backup: it has no readable {backup.MANIFEST}.",
            code="restore.not_a_backup",
        ) from error
    if manifest.get("format") != backup.FORMAT:
        raise Invalid(
            f"{source} has format {manifest.get('format')}, and this version of Waypost reads "
            f"{backup.FORMAT}: restore with the version that made it, then upgrade.",
            code="restore.format",
        )
    return manifest


def _build(source: Path, keys: Mapping[str, Any], building: Path, say: Say) -> None:
    building.mkdir(parents=True)
    installation = installations.renew(building, json.dumps(keys["installation"]))
    authority = building / backup.CONTROL_AUTHORITY
    for name, text in keys[backup.CONTROL_AUTHORITY].items():
        authority.mkdir(exist_ok=True, mode=0o700)
        (authority / name).touch(mode=0o600)
        (authority / name).write_text(text)
    say("restoring the lakehouse and stored messages")
    _unpack(source / backup.LAKEHOUSE, building / "lakehouse")
    _unpack(source / backup.SPACES, building / "spaces")
    _forget_taken_ports(building / "spaces", say)
    say("restoring the database")
    _restore_database(source / backup.DATABASE_DUMP, installation)


def _restore_database(dump: Path, installation: Installation) -> None:
    folder = installation.root / "postgres"
    password = installation.secrets.postgres_password
    postgres.initialise(folder / "data", password)
    with postgres.serving(folder / "data", password, folder / "restore.log") as server:
        with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
            connection.execute(f'create database "{DATABASE}"')
        options = ["--exit-on-error", "--single-transaction", "--no-owner", str(dump)]
        postgres.run_client(server, DATABASE, "pg_restore", *options)
        _make_good(installation, server.url(DATABASE))


def _make_good(installation: Installation, database_url: str) -> None:
    """Run ``manage.py after_restore`` as a process of its own: this layer knows no models."""
    result = subprocess.run(
        [sys.executable, "-m", "django", "after_restore"],
        env={**installation.environment(), "WAYPOST_DATABASE_URL": database_url},
        # Python looks for modules where it runs, and the folder above has a `lakehouse` too.
        cwd=installation.root / "postgres",
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise Conflict(
            f"The backup does not fit together: {result.stderr.strip()[-300:]}",
            code="restore.differs",
        )


def _unpack(archive: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:  # Python 3.11 before 3.11.4; the checksum was compared, so the content is known
            tar.extractall(folder)


def _forget_taken_ports(spaces: Path, say: Say) -> None:
    """Let an instance choose other ports where a stranger has its own; clients keep theirs else."""
    for remembered in spaces.glob("*/*/ports.json"):
        known: dict[str, int] = json.loads(remembered.read_text())
        if not all(map(ports.is_free, known.values())):
            say(f"{remembered.parent.name} moves to other ports: another program has its own")
            remembered.unlink()
