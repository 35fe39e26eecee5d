"""Which router each suite ran on: the closing lines of a run say so."""

import os
from collections import Counter
from collections.abc import Iterable

from controlplane.embedded import artifacts, routers

_ENGINES = ("qdrouterd", "devrouter")
# These use installations, which run on the router that is installed.
_OF_AN_INSTALLATION = (
    "test_foreign_clients.py",
    "test_jms_clients.py",
    "test_demo.py",
    "test_kills.py",
    "test_restore.py",
    "test_up_and_down.py",
)
# These take several routers, and so the real one.
_OF_A_MESH = ("test_router_mesh.py", "test_meshed_space.py")


def summarize(outcomes: Iterable[tuple[str, str]]) -> list[str]:
    """Return a line for each suite and engine, from (test id, outcome)."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for test, outcome in outcomes:
        file = test.partition("::")[0].rpartition("/")[2]
        for engine in _engines_of(test, file):
            counts.setdefault((file, engine), Counter())[outcome] += 1
    return [
        f"router suites: {file} on {engine}: "
        + ", ".join(f"{number} {outcome}" for outcome, number in sorted(found.items()))
        for (file, engine), found in sorted(counts.items())
    ]


def installed() -> str:
    """Return what the installations that tests start run standard spaces on."""
    found = routers.find(artifacts.cache_dir(), os.environ.get("WAYPOST_ROUTER"))
    return routers.describe(found) if found else "the development router"


def _engines_of(test: str, file: str) -> list[str]:
    if file in _OF_A_MESH:
        return ["qdrouterd"]
    if file in _OF_AN_INSTALLATION:
        return ["the installed router"]
    _, _, parameters = test.partition("[")
    return [engine for engine in _ENGINES if engine in parameters]
