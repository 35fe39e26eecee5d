"""Our client identities as files, because the AMQP library reads certificates from paths only.

Files are named by their content, private (0600), and live in this process's own state folder; they
can be deleted at any time and come back at the next use.
"""

import hashlib
import os
from pathlib import Path

from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget


def target(
    host: str, port: int, *, authority_pem: str, client: KeyPair, folder: Path
) -> ManagementTarget:
    """Return where and how to reach an instance; writes the identity's files under ``folder``."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return ManagementTarget(
        host=host,
        port=port,
        ca_file=_kept(folder, authority_pem, "ca"),
        cert_file=_kept(folder, client.certificate_pem, "crt"),
        key_file=_kept(folder, client.key_pem, "key"),
    )


def _kept(folder: Path, text: str, suffix: str) -> str:
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.{suffix}"
    if not path.exists():
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        temporary.replace(path)
    return str(path)
