"""Run the test API server: etcd, kube-apiserver and controllers as plain processes on loopback.

Ready in about 4 s, 0.5 GB, no root. Everything is in one folder and gone with it.
"""

import os
import secrets
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from controlplane.embedded import ports

_PATIENCE_SECONDS = 180
# Collects garbage seldom, which takes a tenth of its time otherwise, while there is room.
_MEMORY = {"GOGC": "400", "GOMEMLIMIT": "800MiB"}


@dataclass
class Cluster:
    """A running API server. ``kubeconfig`` is the administrator's."""

    folder: Path
    program: Path
    url: str = ""
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    commands: dict[str, tuple[str, Sequence[str]]] = field(default_factory=dict)

    @property
    def kubeconfig(self) -> Path:
        return self.folder / "admin.kubeconfig"

    @property
    def authority(self) -> Path:
        return self.folder / "pki" / "apiserver.crt"

    def start(self, name: str, daemon: str, options: Sequence[str]) -> None:
        """Start one daemon of the program, its output in ``<name>.log``."""
        self.commands[name] = (daemon, options)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [self.program, daemon, *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={"HOME": str(self.folder), "PATH": os.environ["PATH"], **_MEMORY},
            )

    def stop(self) -> None:
        """End every daemon, the last one first."""
        for process in reversed(self.processes.values()):
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kill_api(self) -> None:
        """Kill the API server; what it stored stays in etcd."""
        self.processes["api"].kill()
        self.processes["api"].wait()

    def start_api_again(self) -> None:
        """Start a killed API server at its former port, and wait until it serves."""
        self.start("api", *self.commands["api"])
        _wait(self, "api", f"{self.url}/readyz")

    def write_kubeconfig(self, path: Path, user: str, token: str) -> Path:
        """Write a kubeconfig for a bearer of ``token``."""
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [
                {
                    "name": "test",
                    "cluster": {"server": self.url, "certificate-authority": str(self.authority)},
                }
            ],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": user}}],
        }
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(config))
        return path


@contextmanager
def running(folder: Path, program: Path) -> Iterator[Cluster]:
    """Run a cluster in ``folder`` until the block ends."""
    cluster = Cluster(folder, program)
    try:
        with ports.claiming() as claims:
            _start(cluster, [claims.take_any() for _ in range(4)])
        yield cluster
    finally:
        cluster.stop()


def _start(cluster: Cluster, free: Sequence[int]) -> None:
    etcd, peer, api, controllers = free
    _write_keys(cluster)
    cluster.start("etcd", "etcd", _etcd_options(cluster.folder, etcd, peer))
    _wait(cluster, "etcd", f"http://127.0.0.1:{etcd}/health")
    cluster.url = f"https://127.0.0.1:{api}"
    cluster.start("api", "kube-apiserver", _api_options(cluster.folder, etcd, api))
    _wait(cluster, "api", f"{cluster.url}/readyz")
    cluster.write_kubeconfig(cluster.kubeconfig, "admin", cluster.token)
    cluster.start("controllers", "kube-controller-manager", _controllers(cluster, controllers))
    _wait(cluster, "controllers", f"https://127.0.0.1:{controllers}/healthz")


def _write_keys(cluster: Cluster) -> None:
    """Write the key that signs service account tokens, and the administrator's token."""
    pki = cluster.folder / "pki"
    pki.mkdir(mode=0o700)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (pki / "accounts.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    (pki / "tokens.csv").write_text(f"{cluster.token},admin,admin,system:masters\n")


def _etcd_options(folder: Path, port: int, peer: int) -> Sequence[str]:
    client, between = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
    return [
        f"--data-dir={folder / 'etcd'}",
        "--unsafe-no-fsync",  # nothing here outlives the folder
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={between}",
        f"--initial-advertise-peer-urls={between}",
        f"--initial-cluster=default={between}",
    ]


def _api_options(folder: Path, etcd: int, port: int) -> Sequence[str]:
    pki = folder / "pki"
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--cert-dir={pki}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--endpoint-reconciler-type=none",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'accounts.key'}",
        f"--service-account-signing-key-file={pki / 'accounts.key'}",
        f"--token-auth-file={pki / 'tokens.csv'}",
        "--authorization-mode=Node,RBAC",
    ]


def _controllers(cluster: Cluster, port: int) -> Sequence[str]:
    pki = cluster.folder / "pki"
    return [
        f"--kubeconfig={cluster.kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--leader-elect=false",
        f"--cert-dir={pki / 'controllers'}",
        f"--service-account-private-key-file={pki / 'accounts.key'}",
        f"--root-ca-file={pki / 'apiserver.crt'}",
        # The made-up node of the tests renews no lease.
        "--controllers=*,-node-lifecycle-controller",
        # Otherwise it counts all quotas again every five minutes, in the middle of some test.
        "--resource-quota-sync-period=24h",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
    ]


def _wait(cluster: Cluster, name: str, url: str) -> None:
    # Health only, on loopback, before its self-signed certificate can be known.
    trusting = ssl._create_unverified_context()
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {cluster.token}"})
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=2, context=trusting):
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline or cluster.processes[name].poll() is not None:
                log = (cluster.folder / f"{name}.log").read_text(errors="replace")
                raise RuntimeError(f"{name} does not answer:\n{log[-2000:]}") from None
            time.sleep(0.05)
