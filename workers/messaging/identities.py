"""Write certificates and keys to files, because the AMQP library reads them from paths only.

Each file's name is a hash of its content. Only this process's user may read the files (mode 0600).
The files can be deleted at any time: the next call of ``target`` writes them again.
"""

import hashlib
from pathlib import Path

from controlplane.core.files import write_atomically
from workers.messaging.certificates import KeyPair
from workers.messaging.observed import ManagementTarget


def target(
    host: str, port: int, *, authority_pem: str, client: KeyPair, folder: Path
) -> ManagementTarget:
    """Write an instance's credentials to files; return them with the host and port of its listener.

    The files are in ``folder``, which is created if it is missing: the authority that signed the
    instance's certificate, and ``client``, Waypost's own key pair. Connects to nothing. Idempotent.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return ManagementTarget(
        host=host,
        port=port,
        ca_file=_ensure_file(folder, authority_pem, "ca"),
        cert_file=_ensure_file(folder, client.certificate_pem, "crt"),
        key_file=_ensure_file(folder, client.key_pem, "key"),
    )


def _ensure_file(folder: Path, text: str, suffix: str) -> str:
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.{suffix}"
    if not path.exists():
        write_atomically(path, text, mode=0o600)  # other threads see the whole file or none
    return str(path)
