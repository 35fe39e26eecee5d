"""Measure every page and list of the portal and the API on a crowded database: `make bench-portal`.

* The server time of each route of the URL map that can be read, in this process, against a real
  PostgreSQL with the rows of ``seeding.PROMISED``: wall time, and processor time of Django and its
  PostgreSQL backend together, which other work on the machine does not lengthen much.
* The weight of the main pages and their first contentful paint, in Chromium, and what half-sent
  requests cost others, against the real web server.

``python -m tests.support.crowd.bench pages`` measures this part alone and writes nothing.
"""

import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import django
from cryptography.fernet import Fernet

from controlplane.embedded import postgres

_PAGE = Path(__file__).resolve().parents[3] / "docs" / "performance.md"
_SECTION = "Pages and lists with many rows"
_NOTE = (
    "1,000 tenants, 5,000 spaces and 100,000 addresses; the measured tenant has 21 spaces with "
    "500 addresses each, 200,000 audit events, 20,000 operations and 20,000 deliveries. "
    "Server time is that of Django and PostgreSQL for one request after the other, 20 times each. "
    "`processor` is the part of it in which the two ran: other work on the machine makes the rest "
    "longer, and hardly this part. Files have all rows of the tenant, and no limit. "
    "Weights are bytes on the wire with all files of a page, without a cache. "
    "The database is PostgreSQL without synchronous writes to the disk."
)


def main() -> int:
    """Measure the parts named as arguments, or all; the exit code is 1 if a limit is exceeded."""
    with tempfile.TemporaryDirectory(prefix="wpc-") as name, postgres.throwaway(Path(name)) as db:
        os.environ["WAYPOST_DATABASE_URL"] = db.url("postgres")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
        # The web server of the bench refuses to run with the keys of the source.
        os.environ["WAYPOST_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["WAYPOST_SECRET_KEYS"] = Fernet.generate_key().decode()
        django.setup()
        return _measure(Path(name), sys.argv[1:])


def _measure(folder: Path, wanted: list[str]) -> int:
    from controlplane.demo import figures  # needs Django
    from controlplane.demo.bench_results import Result
    from tests.support.crowd import pages, prepared, waiting_room, weights

    crowded = prepared.prepare()
    parts: Mapping[str, Callable[[], Iterator[Result]]] = {
        "pages": lambda: pages.measure(crowded),
        "weights": lambda: weights.measure(crowded, folder),
        "half-sent": lambda: waiting_room.measure(crowded, folder),
    }
    results = []
    for part in wanted or parts:
        for result in parts[part]():
            sys.stdout.write(f"{result.row()}\n")
            sys.stdout.flush()
            results.append(result)
    if not wanted:
        figures.write(_PAGE, _SECTION, results, _NOTE)
    return int(any(result.is_over for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
