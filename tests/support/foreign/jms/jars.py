"""The JARs of Qpid JMS, of Spring's JMS support, and a compiler for machines with a JRE alone.

They are fetched once into the cache. Coordinates are in ``artifacts.xml`` and ``spring.xml``; the
Ivy inside pyspark resolves them, and each file is compared with its pinned checksum. Called by
``program``, and by itself before tests that have no network.
"""

import fcntl
import hashlib
import importlib.util
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.embedded import artifacts, java

_COMPILER = "ecj-3.40.0.jar"
_CLIENT = {
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


_SPRING = {
    "commons-logging-1.3.5.jar": (
        "6d7a744e4027649fbb50895df9497d109f98c766a637062fe8d2eabbb3140ba4"
    ),
    "jspecify-1.0.0.jar": ("1fad6e6be7557781e4d33729d49ae1cdc8fdda6fe477bb0cc68ce351eafdfbab"),
    "micrometer-commons-1.16.0.jar": (
        "9655e601f913ad93e2a7e740e998259b36c2844649e5e668bb8f2fe8392bae3f"
    ),
    "micrometer-observation-1.16.0.jar": (
        "cd7bc6d61a05edeaf4a503969f65541d2db45ee291eaba1fc9adf3088fe1ca84"
    ),
    "spring-aop-7.0.1.jar": ("67c070b7cd0327f5c0f5f9fc5dfd9f76e4f4cf0b71fa6a00ed2bafb94a51e3a1"),
    "spring-beans-7.0.1.jar": ("29b15610e22f79d749f218d8ed062e896d627d1dc0fe2c7db1393627830c2ec5"),
    "spring-context-7.0.1.jar": (
        "8398d61b26ba08a9f98830ea0b9bbacb686f923d3f7b702e737a7e0a2ad691d4"
    ),
    "spring-core-7.0.1.jar": ("2bceaaa6986c1b993cfdc730ee86367325fe26273f0fe298f5117f775bbb5085"),
    "spring-expression-7.0.1.jar": (
        "1ef7c0e7eb616df57b610888103e74c6fc2c5133d5bef54494d493172a513035"
    ),
    "spring-jms-7.0.1.jar": ("724555f3996139958de091d5bb3b6ec24ec82a8028d550e01b29ac4414c26f96"),
    "spring-messaging-7.0.1.jar": (
        "4de9e3dccc3723a661c1c023d3fb4a2c1813ca249f111fb3f74fda98b85a4e19"
    ),
    "spring-tx-7.0.1.jar": ("44efcef78813365fa3728ce97fcb05e59b79c2c8942a2f1aff2780a305673446"),
}


@dataclass(frozen=True)
class _JarSet:
    """JARs that are fetched together: the name of their folder in the cache, and their digests."""

    folder: str
    coordinates: str
    sha256: Mapping[str, str]


_OF_CLIENT = _JarSet("qpid-jms-2.10.0", "artifacts.xml", _CLIENT)
_OF_SPRING = _JarSet("spring-jms-7.0.1", "spring.xml", _SPRING)


def client() -> Sequence[Path]:
    """Return what a program that uses Qpid JMS needs on its class path."""
    folder = _fetched(_OF_CLIENT)
    return [folder / name for name in _CLIENT if name != _COMPILER]


def spring() -> Sequence[Path]:
    """Return what a program needs besides ``client`` if it uses Spring's JMS support."""
    folder = _fetched(_OF_SPRING)
    return [folder / name for name in _SPRING]


def compiler() -> Path:
    """Return the Eclipse compiler, which runs on a JRE."""
    return _fetched(_OF_CLIENT) / _COMPILER


def _fetched(jars: _JarSet) -> Path:
    place = artifacts.cache_dir() / jars.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.with_name(f"{place.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            with tempfile.TemporaryDirectory(prefix="fetch-", dir=place.parent) as folder:
                _fetch_into(Path(folder), jars)
                (Path(folder) / "jars").rename(place)
    return place


def _fetch_into(folder: Path, jars: _JarSet) -> None:
    fetched = folder / "jars"
    coordinates = Path(__file__).parent / jars.coordinates
    ran = subprocess.run(
        [
            *(java.find(), "-jar", _ivy(), "-warn", "-cache", folder / "cache"),
            *("-ivy", coordinates, "-retrieve", f"{fetched}/[artifact]-[revision].[ext]"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{jars.folder} could not be fetched: {ran.stdout[-2000:]}"
    found = {path.name: _sha256(path) for path in fetched.iterdir()}
    assert found == jars.sha256, "what was fetched is not what was pinned: nothing kept"


def _ivy() -> Path:
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":  # fetched before the tests, which need no network then
    _fetched(_OF_CLIENT)
    _fetched(_OF_SPRING)
