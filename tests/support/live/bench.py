"""Measure live readings and their history: `make bench-live`.

Each part is repeated three times, and the page gets the best one: the machine may be busy. ``python
-m tests.support.live.bench pages`` measures only this part and writes nothing.
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
_NOTE = (
    "Best of three runs on a machine that other work shared; the load is that before the run. "
    "The database is PostgreSQL without synchronous writes to the disk."
)


def main() -> int:
    """Measure the parts named as arguments, or all; the exit code is 1 if a limit is exceeded."""
    with tempfile.TemporaryDirectory(prefix="wpl-") as name, postgres.throwaway(Path(name)) as db:
        url = f"postgresql://{db.user}:{db.password}@{db.host}:{db.port}/postgres"
        os.environ["WAYPOST_DATABASE_URL"] = url
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
        # The portal of the bench refuses to run with the keys of the source.
        os.environ["WAYPOST_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["WAYPOST_SECRET_KEYS"] = Fernet.generate_key().decode()
        django.setup()
        return _measure(Path(name), sys.argv[1:])


def _measure(folder: Path, wanted: list[str]) -> int:
    from django.core.management import call_command  # needs Django

    from controlplane.demo import figures
    from controlplane.demo.bench_results import Result
    from tests.support.live import cycle, dead_engine, history, pages

    call_command("migrate", verbosity=0)
    parts: Mapping[str, Callable[[Path], Iterator[Result]]] = {
        "cycle": cycle.measure,
        "history": history.measure,
        "pages": pages.measure,
        "dead": dead_engine.measure,
    }
    results = []
    for part in wanted or parts:
        for result in parts[part](folder):
            sys.stdout.write(f"{result.row()}\n")
            sys.stdout.flush()
            results.append(result)
    if not wanted:
        figures.write(_PAGE, "Live readings", results, _NOTE)
    return int(any(result.is_over for result in results))


if __name__ == "__main__":
    raise SystemExit(main())
