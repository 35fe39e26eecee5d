"""The environment of processes of the product that tests start, on the tests' database."""

import os
from pathlib import Path

from django.db import connection as database


def environment(state_dir: Path, **more: str) -> dict[str, str]:
    """Return the environment of a process whose state folder is ``state_dir``, with ``more``.

    The test must use real transactions: the process sees only rows that are committed.
    """
    settings = database.settings_dict
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "WAYPOST_DEBUG": "true",  # the tests' keys are those of the source
        "WAYPOST_DATABASE_URL": f"postgresql://{settings['USER']}:{settings['PASSWORD']}"
        f"@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}",
        "WAYPOST_STATE_DIR": str(state_dir),
        **more,
    }
