"""Servers that speak S3, as processes on loopback: moto (memory), versitygw (a folder, real keys).

``Proxy`` stands before one of them and can lose answers, refuse and be away when told.
"""

import atexit
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import httpx

from controlplane.embedded import ports
from tests.support.charts import tools
from tests.support.object_store.proxy import TELL
from workers.metering.roots import ObjectStore

VERSITYGW = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
BUCKET, REGION = "lake", "us-east-1"
_claims = ports.Claims()  # no outgoing connection takes these ports before a server listens
atexit.register(_claims.release)
ACCESS_KEY, SECRET_KEY = "waypost-key", "waypost-secret-of-the-store"


@dataclass(frozen=True)
class Server:
    """A server that answers at ``endpoint``, with the bucket ``BUCKET``."""

    endpoint: str

    def store(self, prefix: str = "usage", **changes: str) -> ObjectStore:
        """Return a root in it; ``changes`` replace fields."""
        fields = {"endpoint": self.endpoint, "region": REGION, "url": f"s3://{BUCKET}/{prefix}"}
        keys = {"access_key": ACCESS_KEY, "secret_key": SECRET_KEY}
        return ObjectStore(**{**fields, **keys, **changes})


@contextmanager
def moto(folder: Path) -> Iterator[Server]:
    """Run moto's server: every key is good, everything is in memory."""
    port = _claims.take_any()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = Server(f"http://127.0.0.1:{port}")
    with _running(command, {}, folder / "moto.log", port):
        httpx.put(f"{server.endpoint}/{BUCKET}").raise_for_status()
        yield server


@contextmanager
def versitygw(folder: Path) -> Iterator[Server]:
    """Run versitygw over ``folder``: one pair of keys is good, a bucket is a folder."""
    port = _claims.take_any()
    (folder / "buckets" / BUCKET).mkdir(parents=True)
    command = [str(tools.go_program(VERSITYGW)), "--port", f"127.0.0.1:{port}", "--region", REGION]
    keys = {"ROOT_ACCESS_KEY": ACCESS_KEY, "ROOT_SECRET_KEY": SECRET_KEY}
    log = folder / "versitygw.log"
    with _running([*command, "posix", str(folder / "buckets")], keys, log, port):
        yield Server(f"http://127.0.0.1:{port}")


@contextmanager
def _running(
    command: list[str], environment: Mapping[str, str], log: Path, port: int
) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **environment}
        )
    try:
        deadline = time.monotonic() + 120
        while not ports.is_open("127.0.0.1", port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(120)


class Does(StrEnum):
    """What a proxy does with a request: hand it on and not answer, do neither, or answer 403.

    The last two are S3's codes for a wrong access key and a wrong secret key.
    """

    LOSE = "lose"
    DROP = "drop"
    REFUSE = "refuse"
    NO_SUCH_KEY = "InvalidAccessKeyId"
    WRONG_SECRET = "SignatureDoesNotMatch"


@dataclass(frozen=True)
class Proxy:
    """A proxy before a server; it passes what its rule does not pick."""

    server: Server

    def does(self, does: Does, pattern: str = "", *, times: int = 1_000_000) -> None:
        """Do so with the next requests whose ``<method> <path>`` match ``pattern``."""
        rule = {"does": does, "pattern": pattern, "times": times}
        httpx.post(f"{self.server.endpoint}{TELL}", json=rule).raise_for_status()

    def passes(self) -> None:
        """Pass everything from now on."""
        self.does(Does.DROP, times=0)


@contextmanager
def proxy(behind: Server, folder: Path) -> Iterator[Proxy]:
    """Run a proxy before ``behind``."""
    port = _claims.take_any()
    command = [sys.executable, "-m", "tests.support.object_store.proxy", str(port), behind.endpoint]
    with _running(command, {}, folder / "proxy.log", port):
        yield Proxy(Server(f"http://127.0.0.1:{port}"))


if __name__ == "__main__":  # built before the tests, which need no network then
    tools.go_program(VERSITYGW)
