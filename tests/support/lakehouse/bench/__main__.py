"""Measure the lakehouse: ``make bench-lakehouse SIZES=1,10,30 SPARSE=10``.

``python -m tests.support.lakehouse.bench PART…`` measures only the parts named, and writes nothing
into docs/performance.md. A busy machine makes the clock slow, so most figures are processor time.
"""

import argparse
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import django
from cryptography.fernet import Fernet

from controlplane.embedded import postgres

_PAGE = Path(__file__).resolve().parents[4] / "docs" / "performance.md"
_DENSE = 15  # samples of a counter in a bucket


def main() -> int:
    """Measure; the exit code is 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="tests.support.lakehouse.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help="whole, small, metering, landing; all without")
    parser.add_argument("--sizes", default="1", help="millions of samples, 15 a bucket")
    parser.add_argument("--sparse", default="1", help="millions of samples, one a bucket")
    parser.add_argument("--rounds", type=int, default=3, help="alternating runs of each engine")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="wpl-") as name, postgres.throwaway(Path(name)) as db:
        url = f"postgresql://{db.user}:{db.password}@{db.host}:{db.port}/postgres"
        os.environ["WAYPOST_DATABASE_URL"] = url
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
        os.environ["WAYPOST_SECRET_KEY"] = secrets.token_hex(32)
        os.environ["WAYPOST_SECRET_KEYS"] = Fernet.generate_key().decode()
        django.setup()
        return _measure(Path(name), options)


def _measure(folder: Path, options: argparse.Namespace) -> int:
    from django.core.management import call_command  # needs Django

    from controlplane.demo import figures
    from controlplane.demo.bench_results import Result
    from tests.support.lakehouse.bench import metering, small, whole
    from tests.support.lakehouse.bench.histories import Plan

    call_command("migrate", verbosity=0)
    plans = [
        *(Plan(_millions(size), _DENSE) for size in options.sizes.split(",") if size),
        *(Plan(_millions(size), 1) for size in options.sparse.split(",") if size),
    ]
    parts: Mapping[str, Callable[[], Iterator[Result]]] = {
        "whole": lambda: whole.measure(plans, options.rounds),
        "small": lambda: small.measure(options.rounds),
        "metering": metering.measure,
        "landing": lambda: metering.land(folder),
    }
    results = []
    for part in options.parts or parts:
        for result in parts[part]():
            sys.stdout.write(f"{result.row()}\n")
            sys.stdout.flush()
            results.append(result)
    if not options.parts:
        figures.write(
            _PAGE,
            "The lakehouse",
            results,
            "Other work shared the machine; the load is that before the figure.",
        )
    return int(any(result.is_over for result in results))


def _millions(size: str) -> int:
    return round(float(size) * 1_000_000)


if __name__ == "__main__":
    raise SystemExit(main())
