"""Back up one installation into a folder of files, while the installation is stopped.

::

    manifest.json  format, time, installation id, and the SHA-256 of every other file
    database.dump  PostgreSQL by pg_dump, custom format; the secrets in it are encrypted
    lakehouse.tar  the Delta tables with every version that an invoice may pin
    spaces.tar     stored messages (journals) and ports of brokers and routers
    keys.json      ``installation.json`` and the control authority, with all keys in plain text;
                   to be kept apart from the other files

The installation is stopped, because copies of the database, the tables and the journals from
different moments would lose or repeat usage. The backup omits what the next start creates again:
rendered configuration (it holds keys in plain text), logs, static files and the auth service's
snapshot. ``waypost backup`` calls this module; ``controlplane.embedded.restore`` reads the result.
"""

import hashlib
import json
import shutil
import tarfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from controlplane.core.errors import Conflict
from controlplane.embedded import installation as installations
from controlplane.embedded import lock, postgres, servers, stack, supervision
from controlplane.embedded.installation import DATABASE, Installation

FORMAT = 1  # of the archive; a restore refuses others
MANIFEST, KEYS = "manifest.json", "keys.json"
DATABASE_DUMP, LAKEHOUSE, SPACES = "database.dump", "lakehouse.tar", "spaces.tar"
CONTROL_AUTHORITY = "control-ca"
# The parts of <namespace>/<instance>/ that a backup keeps. The others are logs, or files that are
# rendered from the database.
_KEPT = ("data", "ports.json")

Say = Callable[[str], None]


def make(root: Path, target: Path, *, say: Say = lambda _: None) -> Path:
    """Write a backup of the installation in ``root`` into the new folder ``target``; return it.

    A running installation is sampled, stopped, and started again at the end, also after an error.
    One that was down stays down. ``target`` appears complete or not at all. ``say`` gets lines
    about the progress.

    Raises:
        NothingHere: there is no installation.
        Conflict: ``backup.exists``: ``target`` exists.
        Occupied: ``stack.busy``: another command changes the installation.
        Unavailable: ``postgres.client``: pg_dump failed; the message ends with its last output.
            Or as ``stack.up`` raises it, if the installation does not start again.
        OSError: ``target`` cannot be written.
    """
    installation = installations.require(root)
    if target.exists():
        raise Conflict(f"{target} exists already: name a new folder.", code="backup.exists")
    was_up = installation.supervisor().is_up()
    try:
        with lock.alone(root, "waypost backup", say=say):
            if was_up:
                stack.take_last_samples(installation, say)
                say("stopping, so that all parts are of the same moment")
            # Also if it is down: brokers that a killed supervisord left behind may still write.
            supervision.stop(installation, last=servers.STORES)
            _write(installation, target, say)
    finally:
        if was_up:  # outside the lock, because ``stack.up`` takes it itself
            stack.up(root, command="waypost backup", say=say)
    return target


def digest(path: Path) -> str:
    """Return the SHA-256 of the content of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write(installation: Installation, target: Path, say: Say) -> None:
    """Write the backup of a stopped installation beside ``target``, then rename it to ``target``.

    So a killed backup never looks complete. PostgreSQL runs meanwhile, for the dump only.
    """
    made = target.with_name(f".{target.name}.partial")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True, mode=0o700)
    try:
        say("dumping the database")
        log, password = installation.log_file("postgres"), installation.secrets.postgres_password
        with postgres.serving(installation.root / "postgres" / "data", password, log) as server:
            options = ["--format=custom", "--no-owner", "--no-privileges"]
            dump = f"--file={made / DATABASE_DUMP}"
            postgres.run_client(server, DATABASE, "pg_dump", *options, dump)
        say("copying the lakehouse")
        _pack(installation.root / "lakehouse", made / LAKEHOUSE, lambda entry: entry)
        say("copying stored messages")
        _pack(installation.root / "spaces", made / SPACES, _stored)
        authority = installation.root / CONTROL_AUTHORITY
        keys = {
            "installation": json.loads((installation.root / "installation.json").read_text()),
            CONTROL_AUTHORITY: {path.name: path.read_text() for path in authority.glob("*.pem")},
        }
        # Created with its final mode: the keys are never readable by other users.
        (made / KEYS).touch(mode=0o600)
        (made / KEYS).write_text(json.dumps(keys, indent=1))
        # Last, because it holds the digests of all other files.
        parts = sorted(made.iterdir())
        manifest = {
            "format": FORMAT,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "installation": installation.id,
            "sha256": {part.name: digest(part) for part in parts},
        }
        (made / MANIFEST).write_text(json.dumps(manifest, indent=1))
        for part in (*parts, made / MANIFEST):
            part.chmod(0o600)
        made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _pack(
    folder: Path, archive: Path, choose: Callable[[tarfile.TarInfo], tarfile.TarInfo | None]
) -> None:
    with tarfile.open(archive, "w") as tar:
        if folder.exists():
            tar.add(folder, arcname=".", filter=choose)


def _stored(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return ``entry`` if the backup keeps it, else None (a filter of ``TarFile.add``).

    The backup keeps the files of a namespace itself, and the journals and ports of its instances.
    """
    parts = Path(entry.name).parts  # <namespace>/<instance>/<part>/…
    return entry if len(parts) <= 2 or parts[2] in _KEPT else None
