"""Runs Client.java: one action of one client in a JVM of its own.

A client trusts by a key store, as the documentation of Java has people make one (keytool).
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from controlplane.embedded import java
from tests.support.foreign import Job
from tests.support.foreign.jms import jars

_SOURCE = Path(__file__).parent / "Client.java"
_RELEASE = "17"  # the oldest Java that Waypost supports
_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
_STORE_PASSWORD = "changeit"


@dataclass(frozen=True)
class Ended:
    """What a client says: ``refused`` is the exception's class, ``reason`` its cause's text."""

    accepted: int
    received: tuple[str, ...]
    browsed: tuple[str, ...]
    refused: str
    reason: str


@dataclass(frozen=True)
class Program:
    """The compiled client; ``folder`` holds its classes and its key stores."""

    folder: Path

    def run(self, action: str, job: Job, to: str, source: str = "", **options: str) -> Ended:
        """Do ``action`` from ``to`` and ``source`` (``queue:<name>`` or ``topic:<name>``)."""
        given = {
            "messages": job.messages,
            "receivers": job.receivers,
            "expected": job.expected,
            "size": job.size,
            **options,
        }
        words = [action, self._uri(job), to, source or to]
        words += [f"{name}={value}" for name, value in given.items()]
        path = os.pathsep.join(map(str, [self.folder, *jars.client()]))
        ran = _run(
            [java.find(), *_QUICK_START, "-cp", path, "Client", *words],
            {"MESSAGING_USER": job.user, "MESSAGING_PASSWORD": job.password},
        )
        said = json.loads(ran)
        texts = {name: tuple(said[name]) for name in ("received", "browsed")}
        return Ended(**{**said, **texts})

    def _uri(self, job: Job) -> str:
        trusted = {
            "transport.trustStoreLocation": self._store(job.ca),
            "transport.trustStorePassword": _STORE_PASSWORD,
        }
        return f"amqps://{job.host}:{job.port}?{urlencode(trusted)}"

    def _store(self, ca: Path) -> Path:
        store = self.folder / f"{ca.stem}.p12"
        if not store.exists():
            keytool = java.home(java.find()) / "bin" / "keytool"
            imported = ["-importcert", "-noprompt", "-file", str(ca), "-keystore", str(store)]
            _run([keytool, *imported, "-storepass", _STORE_PASSWORD])
        return store


def compiled(folder: Path) -> Program:
    """Return the program, compiled into ``folder``."""
    path = os.pathsep.join(map(str, jars.client()))
    _run([java.find(), "-jar", jars.compiler(), f"-{_RELEASE}", "-cp", path, "-d", folder, _SOURCE])
    return Program(folder)


def _run(command: list[object], environment: Mapping[str, str] | None = None) -> str:
    ran = subprocess.run(
        list(map(str, command)),
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
