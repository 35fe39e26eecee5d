"""Request a dump of the database from the container that has pg_dump.

Waypost's image has no PostgreSQL. The pod of a backup has a second container of PostgreSQL's own
image, which runs ``charts/waypost/files/dump.sh``. Both share a folder, the exchange:

    request    written by ``Dumper``: the name of the exported snapshot
    result     written by the script: pg_dump's exit code, and its last output

The script runs pg_dump again if it was killed in between. It writes ``database.dump`` into the
folder of the unfinished backup.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from controlplane.core import files
from controlplane.core.errors import Unavailable

_POLL_SECONDS = 1.0  # between two looks at the running dump


class DumpFailed(Unavailable):
    """pg_dump failed; the message has its output."""

    code = "backup.dump_failed"
    title = "The database cannot be dumped"


@dataclass(frozen=True)
class Dumper:
    """Requests dumps through the folder ``exchange``. Only the job's deadline limits the wait."""

    exchange: Path
    sleep: Callable[[float], None]

    def dump(self, snapshot: str) -> None:
        """Return once the script has dumped the database as ``snapshot`` shows it.

        Raises:
            DumpFailed: pg_dump failed.
        """
        result, request = self.exchange / "result", self.exchange / "request"
        result.unlink(missing_ok=True)  # of a run that was killed
        files.write_atomically(request, snapshot, mode=0o644)
        while not result.exists():
            self.sleep(_POLL_SECONDS)
        code, _, said = result.read_text().partition("\n")
        result.unlink()
        if code != "0":
            raise DumpFailed(
                f"pg_dump ended with {code}. Its version must be that of the server or newer "
                f"(backup.image). It said: {said.strip()[-500:]}"
            )
