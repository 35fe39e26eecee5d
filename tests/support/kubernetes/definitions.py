"""Definitions of kinds that a plain API server does not have, as their projects publish them.

Each is out of a Go module of a pinned digest, fetched into the cache once.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.embedded import artifacts
from tests.support.kubernetes.server import build


@dataclass(frozen=True)
class Published:
    """Files of a Go module, named ``path@version``; ``digest`` is its line in a go.sum."""

    module: str
    digest: str
    folder: str
    files: Sequence[str]


CERT_MANAGER = Published(
    "github.com/cert-manager/cert-manager@v1.19.2",
    "h1:jSprN1h5pgNDSl7HClAmIzXuTxic/5FXJ32kbQHqjlM=",
    "deploy/crds",
    ("cert-manager.io_certificates.yaml",),
)
# The oldest that docs/operate/install.md allows.
GATEWAY_API = Published(
    "sigs.k8s.io/gateway-api@v1.5.1",
    "h1:RqVRIlkhLhUO8wOHKTLnTJA6o/1un4po4/6M1nRzdd0=",
    "config/crd/standard",
    (
        "gateway.networking.k8s.io_httproutes.yaml",
        "gateway.networking.k8s.io_tlsroutes.yaml",
    ),
)
OPENSHIFT = Published(
    "github.com/openshift/api@v0.0.0-20251015095338-264e80a2b6e7",
    "h1:Ot2fbEEPmF3WlPQkyEW/bUCV38GMugH/UmZvxpWceNc=",
    "route/v1/zz_generated.crd-manifests",
    ("routes.crd.yaml",),
)
PROMETHEUS_OPERATOR = Published(
    "github.com/prometheus-operator/prometheus-operator@v0.85.0",
    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    "example/prometheus-operator-crd",
    (
        "monitoring.coreos.com_prometheusrules.yaml",
        "monitoring.coreos.com_servicemonitors.yaml",
    ),
)
SNAPSHOTS = Published(
    "github.com/kubernetes-csi/external-snapshotter/client/v8@v8.2.0",
    "h1:Q3jQ1NkFqv5o+F8dMmHd8SfEmlcwNeo1immFApntEwE=",
    "config/crd",
    ("snapshot.storage.k8s.io_volumesnapshots.yaml",),
)
ALL = (CERT_MANAGER, GATEWAY_API, OPENSHIFT, PROMETHEUS_OPERATOR, SNAPSHOTS)


def fetch(published: Published) -> Sequence[Path]:
    """Return the files, fetched into the cache where it lacks them. Idempotent.

    Raises:
        RuntimeError: no Go can be had, it cannot be fetched, or it is not what was pinned.
    """
    place = artifacts.cache_dir() / "definitions"
    version = published.module.rsplit("@", 1)[1]
    wanted = [place / f"{version}-{file}" for file in published.files]
    if not all(path.exists() for path in wanted):
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=place) as name:
            source = build.download(published.module, published.digest, Path(name))
            for published_file, kept in zip(published.files, wanted, strict=True):
                copied = shutil.copy(
                    source / published.folder / published_file, Path(name) / kept.name
                )
                Path(copied).rename(kept)
    return wanted


if __name__ == "__main__":  # fetched before the tests, which need no network then
    for one in ALL:
        sys.stdout.write("".join(f"{path}\n" for path in fetch(one)))
