"""The JARs of Qpid JMS, and a compiler for machines with a JRE alone: fetched once into the cache.

Coordinates are in ``artifacts.xml``; the Ivy inside pyspark resolves them, and each file is
compared with its pinned checksum. Called by ``program``, and by itself before tests that have no
network.
"""

import fcntl
import hashlib
import importlib.util
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from controlplane.embedded import artifacts, java

_COORDINATES = Path(__file__).parent / "artifacts.xml"
_VERSION = "2.10.0"
_COMPILER = "ecj-3.40.0.jar"
_SHA256 = {
    "qpid-jms-client-2.10.0.jar": (
        "b05145dfae901b84fbc743daedbe4e6143796317cb0301ccca738dadcc19e1a8"
    ),
    "proton-j-0.34.1.jar": ("e1b53dc9a1e54b23aff6ece693bbf3b2ab25004542031ec49018329b038888ea"),
    "jakarta.jms-api-3.1.0.jar": (
        "6605e08075ab389c359451c7854808cf4b1575e1ea6317e534e9d4df088096df"
    ),
    "slf4j-api-2.0.17.jar": ("7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832"),
    "netty-buffer-4.1.130.Final.jar": (
        "00a522b67ea35cb7b4dd9cf27f85c6c58f5e306785aa045302e5f6b2d4944a87"
    ),
    "netty-codec-4.1.130.Final.jar": (
        "52636bc29bd62120b97bbe5d1d21eab9b1cb2bef8efbb54d2221c5f3fa08d8cd"
    ),
    "netty-common-4.1.130.Final.jar": (
        "53921f28dd5a352b1bed0e1cbcc54d013dc60ffebeae9b2b1e53eabef317e581"
    ),
    "netty-handler-4.1.130.Final.jar": (
        "98c78ec187ca30a4b9775bf6f632f5c9929db6bf06a60e6971f945813880ca0f"
    ),
    "netty-resolver-4.1.130.Final.jar": (
        "48c5b218a89d184e1b601d46433957f515fcefdb4464182b1348bce4f5a18f35"
    ),
    "netty-transport-4.1.130.Final.jar": (
        "1bf573266d271f856705a9984d25449c56a1d73c02a16af12033ceccfe555dbb"
    ),
    "netty-transport-classes-epoll-4.1.130.Final.jar": (
        "1c352508d70aca1ccc3068daac907ad1e9d8dc68b07148d57426730bf0d0c8b6"
    ),
    "netty-transport-classes-kqueue-4.1.130.Final.jar": (
        "56487b7d42ca520a1d737463de71809da72276bf9e3d1aa16cd043378152760c"
    ),
    "netty-transport-native-unix-common-4.1.130.Final.jar": (
        "cf5efc4168597d7cd14695b469418cac2a1134533f9a0c82ef0538d796fd39e1"
    ),
    "ecj-3.40.0.jar": ("05cc22a24e7982970f63a405fc6c820bc80b806f27f3c5a6236fc475f8f7152b"),
}


def client() -> Sequence[Path]:
    """Return what a program that uses Qpid JMS needs on its class path."""
    folder = _fetched()
    return [folder / name for name in _SHA256 if name != _COMPILER]


def compiler() -> Path:
    """Return the Eclipse compiler, which runs on a JRE."""
    return _fetched() / _COMPILER


def _fetched() -> Path:
    place = artifacts.cache_dir() / f"qpid-jms-{_VERSION}"
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=place.parent) as folder:
                _fetch_into(Path(folder))
                (Path(folder) / "jars").rename(place)
    return place


def _fetch_into(folder: Path) -> None:
    fetched = folder / "jars"
    ran = subprocess.run(
        [
            *(java.find(), "-jar", _ivy(), "-warn", "-cache", folder / "cache"),
            *("-ivy", _COORDINATES, "-retrieve", f"{fetched}/[artifact]-[revision].[ext]"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"Qpid JMS could not be fetched: {ran.stdout[-2000:]}"
    found = {path.name: _sha256(path) for path in fetched.iterdir()}
    assert found == _SHA256, "what was fetched is not what was pinned: nothing kept"


def _ivy() -> Path:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":  # fetched before the tests, which need no network then
    _fetched()
