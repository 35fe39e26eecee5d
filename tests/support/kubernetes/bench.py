"""``make bench-kubernetes``: a database and Django, then ``measuring`` on them."""

import os
import tempfile
from pathlib import Path

import django

from controlplane.embedded import postgres


def main() -> int:
    """Measure everything and write the page's section; 1 when a limit is broken."""
    with tempfile.TemporaryDirectory(prefix="wpb-") as name:
        folder = Path(name)
        with postgres.throwaway(folder) as server:
            os.environ["WAYPOST_DATABASE_URL"] = (
                f"postgresql://{server.user}:{server.password}@{server.host}:{server.port}/postgres"
            )
            os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
            django.setup()
            from tests.support.kubernetes import measuring  # needs Django

            return measuring.measure(folder / "cluster")


if __name__ == "__main__":
    raise SystemExit(main())
