"""What a router starts with, and what it refuses: the same for each engine."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.messaging import routing_rig as rigs

pytestmark = [pytest.mark.router, pytest.mark.slow]

Entry = tuple[str, Mapping[str, Any]]
EVERYBODY: Mapping[str, Any] = {"$default": {"remoteHosts": "*"}}
STARTED_SECONDS = 3.0  # who refuses a file has ended long before


def vhost(groups: Mapping[str, Any] = EVERYBODY, **options: object) -> Entry:
    return "vhost", {"hostname": "h", "allowUnknownUser": True, "groups": groups, **options}


@pytest.fixture(params=rigs.ENGINES)
def command(request: pytest.FixtureRequest) -> list[str]:
    if request.param == "devrouter":
        return [sys.executable, "-m", "workers.services.devrouter"]
    return [str(rigs.REAL_ROUTER), "--conf"]


def start(command: list[str], folder: Path, entries: list[Entry]) -> subprocess.Popen[bytes]:
    """Start a router from a file of its own with these entries."""
    file = Path(tempfile.mkdtemp(dir=folder)) / "router.json"
    file.write_text(json.dumps([("router", {"id": "r", "mode": "interior"}), *entries]))
    return subprocess.Popen(
        [*command, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


REFUSED: Mapping[str, list[Entry]] = {
    "two groups without users": [vhost({**EVERYBODY, "$connector": {"sources": "*"}})],
    "a user in two groups": [vhost({"a": {"users": "x, y"}, "b": {"users": "y"}})],
    "two vhosts of one name": [vhost(), vhost()],
    "an unknown attribute of a vhost": [vhost(color=1)],
    "an unknown attribute of the policy": [("policy", {"enableVhostPolicy": True, "color": 1})],
    "an unknown attribute of a listener": [
        ("listener", {"host": rigs.HOST, "port": 1, "color": 1})
    ],
    "an unknown attribute of an address": [("address", {"prefix": "a", "color": 1})],
    "an unknown type": [("color", {})],
    "a negative limit": [vhost(maxConnections=-1)],
    "a limit in words": [vhost(maxConnections="many")],
    "a negative limit of a group": [vhost({"$default": {"remoteHosts": "*", "maxSessions": -5}})],
    "a flag that is neither": [
        vhost({"$default": {"remoteHosts": "*", "allowDynamicSource": "maybe"}})
    ],
    "a direction that is neither": [("autoLink", {"address": "a", "direction": "sideways"})],
    "an address and a listener of one name": [
        ("address", {"prefix": "a", "name": "n"}),
        ("policy", {"enableVhostPolicy": True, "name": "n"}),
    ],
    "two addresses of one name": [
        ("address", {"prefix": "a", "name": "n"}),
        ("address", {"prefix": "b", "name": "n"}),
    ],
}
TAKEN: Mapping[str, list[Entry]] = {
    "one group": [vhost()],
    "an unknown option of a group": [vhost({"$default": {"remoteHosts": "*", "color": 1}})],
    "an address with prefix and pattern": [("address", {"prefix": "a", "pattern": "b"})],
    "two addresses of one prefix": [
        ("address", {"prefix": "a", "name": "n"}),
        ("address", {"prefix": "a", "name": "m"}),
    ],
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_router_does_not_start_with(command: list[str], tmp_path: Path, what: str) -> None:
    with start(command, tmp_path, REFUSED[what]) as process:
        try:
            assert process.wait(30) == 1
        finally:
            process.kill()


def test_a_router_starts_with_what_it_only_warns_of(command: list[str], tmp_path: Path) -> None:
    running = {what: start(command, tmp_path, entries) for what, entries in TAKEN.items()}
    time.sleep(STARTED_SECONDS)

    ended = [what for what, process in running.items() if process.poll() is not None]

    for process in running.values():
        process.kill()
        process.wait()
    assert ended == []
