"""The names of services on one machine: a hosts file that the node writes and Python reads.

A name below ``.svc`` is looked up there and nowhere else, again at every connection. As a program
it runs another module with those names:
``python -m tests.support.kubernetes.service_names HOSTS MODULE``.
"""

import runpy
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

_SERVICES = ".svc"
_ask = socket.getaddrinfo


@contextmanager
def looked_up_in(hosts: Path) -> Iterator[None]:
    """Have this process find services by the file until the block ends."""

    def find(host: Any, *args: Any, **options: Any) -> Any:
        is_service = isinstance(host, str) and host.endswith(_SERVICES)
        return _ask(_address(hosts, host) if is_service else host, *args, **options)

    with patch.object(socket, "getaddrinfo", find):
        yield


def _address(hosts: Path, name: str) -> str:
    lines = hosts.read_text().splitlines() if hosts.exists() else []
    for address, known in map(str.split, lines):
        if known == name:
            return address
    raise socket.gaierror(socket.EAI_NONAME, f"no service leads anywhere as {name}")


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    with looked_up_in(Path(sys.argv.pop(0))):
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
