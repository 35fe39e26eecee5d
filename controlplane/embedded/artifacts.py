"""Fetch the servers and JARs that no Python package carries into a cache, each once.

``make setup`` runs it: ``python -m controlplane.embedded.artifacts [keycloak] [s3] [einvoices]``.
The Maven coordinates are in ``ivy/artifacts.xml``; Apache Ivy, which is part of pyspark, downloads
them. Every file is compared with a pinned checksum and moved into the cache by one rename, so a
killed fetch leaves nothing incomplete there.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from controlplane.core.errors import Unavailable
from controlplane.embedded import java

_COORDINATES = Path(__file__).parent / "ivy" / "artifacts.xml"


@dataclass(frozen=True)
class Artifact:
    """One file to fetch from Maven: an archive that is unpacked, or a JAR that is kept as it is.

    ``configuration`` is its group in ``ivy/artifacts.xml``. ``cache_path`` is its path in the
    cache, or the path of the folder that an archive unpacks to.
    """

    configuration: str
    file: str
    sha256: str
    cache_path: str

    def put(self, fetched: Path, cache: Path) -> None:
        """Check the file in ``fetched`` and move it, or the folder in it, into ``cache``.

        What is in ``cache`` already is kept.

        Raises:
            Unavailable: ``artifact.checksum``: the file's checksum is not the pinned one.
        """
        source, target = fetched / self.file, cache / self.cache_path
        with source.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != self.sha256:
            raise Unavailable(
                f"{source.name} has checksum {found}, not the pinned {self.sha256}: nothing was "
                "kept.",
                code="artifact.checksum",
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        if self.file.endswith(".tar.gz"):
            with tarfile.open(source) as archive:
                if hasattr(tarfile, "data_filter"):
                    archive.extractall(fetched / "unpacked", filter="data")
                else:  # Python 3.11 before 3.11.4 has no filters; the checksum proves the content
                    archive.extractall(fetched / "unpacked")
            # The archive's top folder has the name of the target.
            source = fetched / "unpacked" / target.name
        if not target.exists():  # another setup may have finished first
            shutil.move(source, target)


ARTEMIS = Artifact(
    "artemis",
    "apache-artemis-2.56.0.tar.gz",
    "df469079b6388c8c6276197388a0f5ee0d64d0ca42d7f0e2ca5e392e21b955de",
    "artemis/apache-artemis-2.56.0",
)
COMPILER = Artifact(
    "compiler",
    "ecj-3.40.0.jar",
    "05cc22a24e7982970f63a405fc6c820bc80b806f27f3c5a6236fc475f8f7152b",
    "compiler/ecj-3.40.0.jar",
)
ARTIFACTS = (
    Artifact(
        "delta",
        "delta-spark_4.2_2.13-4.4.0.jar",
        "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
        "jars/delta-spark_4.2_2.13-4.4.0.jar",
    ),
    Artifact(
        "delta",
        "delta-storage-4.4.0.jar",
        "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
        "jars/delta-storage-4.4.0.jar",
    ),
    ARTEMIS,
    COMPILER,
    Artifact(
        "keycloak",
        "keycloak-quarkus-dist-26.7.3.tar.gz",
        "77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47",
        "keycloak/keycloak-26.7.3",
    ),
    Artifact(
        "s3",
        "hadoop-aws-3.5.0.jar",
        "66bd9eefb938b1a1657487324b63c13df2d8b17164a1dd24e0ef37b905bc5baa",
        "jars/s3/hadoop-aws-3.5.0.jar",
    ),
    Artifact(
        "s3",
        "analyticsaccelerator-s3-1.3.1.jar",
        "4959a9747cbb479c73c3ffbcd479bee5b014f8b2880994585a8693fb9d24675e",
        "jars/s3/analyticsaccelerator-s3-1.3.1.jar",
    ),
    Artifact(
        "s3",
        "bundle-2.35.4.jar",
        "db4b55f24ad1b4e70f17eb1717a4de76a8dadc5a27d764be7c44ff67b2c1c677",
        "jars/s3/bundle-2.35.4.jar",
    ),
    Artifact(
        "einvoices",
        "validator-2.20.0.jar",
        "034d2d316f963263092ff8d7890b2073c2f5423c248339cac8e939703fb9f680",
        "jars/einvoices/validator-2.20.0.jar",
    ),
    Artifact(
        "einvoices",
        "phive-rules-en16931-4.3.7.jar",
        "842998fe45911442b711300ab251e46489a9a5e2ffc02ddefc4293f8784c2662",
        "jars/einvoices/phive-rules-en16931-4.3.7.jar",
    ),
    Artifact(
        "einvoices",
        "ph-ubl21-10.2.0.jar",
        "7317ddd448f58cdf4e550878d839be8d3324b410771ba462a35ced49ccb26a52",
        "jars/einvoices/ph-ubl21-10.2.0.jar",
    ),
    Artifact(
        "einvoices",
        "ph-xsds-ccts-cct-schemamodule-4.1.0.jar",
        "ec0e60be5265b09fac75a57a4b284244820c23f0481a1c75802ba4eb6338b0fd",
        "jars/einvoices/ph-xsds-ccts-cct-schemamodule-4.1.0.jar",
    ),
    Artifact(
        "einvoices",
        "ph-xsds-xmldsig-4.1.0.jar",
        "66590e38b0994d0fd6cd89b1588a3c96fad3a3c85494cf764783fe0c4acc9c3d",
        "jars/einvoices/ph-xsds-xmldsig-4.1.0.jar",
    ),
)
# The configurations that every run needs; the others are fetched on request. `einvoices` is what
# tests validate electronic invoices with.
ALWAYS = ("delta", "artemis", "compiler")


def cache_dir(kept: Path | None = None) -> Path:
    """Return the path of the cache folder, which need not exist.

    It is the first that applies: the variable ``WAYPOST_CACHE``; ``kept``, if it holds Artemis;
    ``~/.cache/waypost``. ``kept`` is the folder that an installation has used so far.
    """
    named = os.environ.get("WAYPOST_CACHE")
    if not named and kept and (kept / ARTEMIS.cache_path).is_dir():
        return kept
    return Path(named or Path.home() / ".cache" / "waypost")


def artemis_home(cache: Path | None = None) -> Path:
    """Return the path of the unpacked Artemis in ``cache``, by default in ``cache_dir()``.

    Raises:
        Unavailable: ``artifact.missing``: setup has not fetched it.
    """
    home = (cache or cache_dir()) / ARTEMIS.cache_path
    if not home.is_dir():
        raise Unavailable(f"Artemis is not in {home}: run `make setup`.", code="artifact.missing")
    return home


def compiler() -> Path:
    """Return the path of the JAR of the Java compiler (Eclipse) that builds the broker plugin.

    Raises:
        Unavailable: ``artifact.missing``: setup has not fetched it.
    """
    path = cache_dir() / COMPILER.cache_path
    if not path.exists():
        raise Unavailable(f"There is no {path}: run `make setup`.", code="artifact.missing")
    return path


def ensure(configurations: Iterable[str], cache: Path) -> list[str]:
    """Fetch the files of ``configurations`` that ``cache`` lacks. Idempotent.

    Returns the paths, relative to ``cache``, of the files fetched now.

    Raises:
        Unavailable: ``artifact.fetch`` (Ivy failed), ``artifact.checksum`` (a checksum is not the
            pinned one), ``java.missing`` or ``java.version``.
    """
    wanted = set(configurations)
    missing = [
        item
        for item in ARTIFACTS
        if item.configuration in wanted and not (cache / item.cache_path).exists()
    ]
    if missing:
        cache.mkdir(parents=True, exist_ok=True)
        # Inside the cache, so that the move into it is a rename within one file system.
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=cache) as folder:
            _retrieve(sorted({item.configuration for item in missing}), Path(folder))
            for item in missing:
                item.put(Path(folder), cache)
    return [item.cache_path for item in missing]


def _retrieve(configurations: Sequence[str], folder: Path) -> None:
    # The package is found without an import, because only the lakehouse may import Spark.
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise Unavailable("pyspark is not installed: run `make setup`.", code="artifact.fetch")
    ivy = next((Path(spec.origin).parent / "jars").glob("ivy-*.jar"))
    result = subprocess.run(
        [
            java.find(),
            "-jar",
            ivy,
            "-warn",
            # Ivy's own cache goes into the temporary folder, too.
            "-cache",
            folder / "cache",
            "-ivy",
            _COORDINATES,
            "-confs",
            *configurations,
            "-retrieve",
            f"{folder}/[artifact]-[revision].[ext]",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        # Ivy prints its download progress as lines of dots.
        lines = [line.strip() for line in result.stdout.splitlines() if line.strip(". \t")]
        raise Unavailable(
            f"Fetching {', '.join(configurations)} failed: {' / '.join(lines[-3:]) or 'no output'}",
            code="artifact.fetch",
        )


def main() -> int:
    """Fetch ``ALWAYS`` and the configurations named as arguments; return the exit code.

    0: all are in the cache. 1: a fetch failed; stderr says why. 130: Ctrl-C.
    """
    try:
        new = ensure([*ALWAYS, *sys.argv[1:]], cache_dir())
    except Unavailable as error:
        print(f"{error.error_code}: {error.message}", file=sys.stderr)  # noqa: T201
        return 1
    except OSError as error:  # the disk is full, or the cache is not writable
        print(  # noqa: T201
            f"{cache_dir()} cannot be filled ({error.strerror}): free space, or set WAYPOST_CACHE.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        return 130
    for path in new:
        print(f"fetched {path}")  # noqa: T201  (progress of `make setup`)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
