"""The names of services for a program that is not Python, such as the real router.

``service_names`` does it within Python. Here a library of one function, ``native_names.c``, is put
before the C library's own: it looks names below ``.svc`` up in the node's file and nowhere else.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

_SOURCE = Path(__file__).with_suffix(".c")


def environment(hosts: Path) -> Mapping[str, str]:
    """Return what a program needs in its environment to find services by ``hosts``.

    The library is compiled once, beside the file; `make setup` makes sure of a compiler.
    """
    library = hosts.with_name(f"{_SOURCE.stem}.so")
    if not library.exists():
        command = [
            "cc",
            "-shared",
            "-fPIC",
            "-O1",
            "-Wall",
            "-Werror",
            "-o",
            str(library),
            str(_SOURCE),
        ]
        subprocess.run([*command, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "WAYPOST_TEST_HOSTS": str(hosts)}
