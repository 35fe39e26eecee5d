"""An archive of OSV's advisories on PyPI, answered as OSV's service answers.

OSV publishes it as ``PyPI/all.zip``: one advisory in JSON per member.
"""

import json
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

Advisory = dict[str, Any]


def newest(archive: Path) -> datetime:
    """Return when the latest change of an advisory in ``archive`` was.

    Raises:
        ValueError: there is no advisory in it.
    """
    return max(datetime.fromisoformat(advisory["modified"]) for advisory in _read(archive))


@contextmanager
def served(archive: Path) -> Iterator[str]:
    """Answer questions from ``archive`` at a URL on this machine, until the block ends."""
    by_package: dict[str, list[Advisory]] = {}
    for advisory in _read(archive):
        for affected in advisory.get("affected", []):
            name = canonicalize_name(affected["package"]["name"])
            by_package.setdefault(name, []).append(advisory)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            known = by_package.get(asked["package"]["name"], [])
            found = [advisory for advisory in known if is_affected(advisory, asked)]
            body = json.dumps({"vulns": found} if found else {}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/query"
        server.shutdown()


def is_affected(advisory: Advisory, asked: Mapping[str, Any]) -> bool:
    """Return whether ``advisory`` is about the version that ``asked`` names."""
    name, version = asked["package"]["name"], asked["version"]
    return any(
        version in affected.get("versions", [])
        or any(_is_in(known, Version(version)) for known in affected.get("ranges", []))
        for affected in advisory.get("affected", [])
        if canonicalize_name(affected["package"]["name"]) == name
    )


def _is_in(known: Mapping[str, Any], version: Version) -> bool:
    """Return whether ``version`` is in a range: each of its events begins or ends the affected."""
    if known["type"] != "ECOSYSTEM":  # commits of a repository
        return False
    is_affected = False
    for event in sorted(known["events"], key=lambda event: _at(next(iter(event.values())))):
        ((kind, at),) = event.items()
        is_reached = version > _at(at) if kind == "last_affected" else version >= _at(at)
        if is_reached and kind in ("introduced", "fixed", "last_affected"):
            is_affected = kind == "introduced"
    return is_affected


def _at(version: str) -> Version:
    # "0" stands for the very first one. What is no version of Python's scheme comes from mistakes
    # in advisories, and counts as first too, so that nothing affected is missed.
    try:
        return Version("0.dev0" if version == "0" else version)
    except InvalidVersion:
        return Version("0.dev0")


def _read(archive: Path) -> Iterator[Advisory]:
    with zipfile.ZipFile(archive) as members:
        for name in members.namelist():
            if name.endswith(".json"):
                yield json.loads(members.read(name))
