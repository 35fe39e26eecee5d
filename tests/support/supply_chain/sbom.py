"""Write what the product is made of into ``build/sbom``, as CycloneDX (``make sbom``).

One bill of materials for each lock, by cyclonedx-bom, and one of the servers and JARs that no
Python package carries. What an image holds besides, such as Debian's packages, is in the bill
that its build writes (``charts/images/sbom.py``).
"""

import subprocess
import sys
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from controlplane.embedded.artifacts import ARTIFACTS, Artifact
from tests.support import source_tree

LOCKS = ("control-plane", "worker", "spark", "development")
SERVERS = "servers"
FOLDER = source_tree.ROOT / "build" / "sbom"


def main(folder: Path = FOLDER) -> None:
    """Write the bills into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for lock in LOCKS:
        write_lock(lock, path_of(folder, lock))
    write_servers(path_of(folder, SERVERS))


def path_of(folder: Path, name: str) -> Path:
    """Return the path of the bill ``name`` in ``folder``."""
    return folder / f"{name}.cdx.json"


def write_lock(lock: str, target: Path) -> None:
    """Write the bill of a lock; the library compares it with the schema of CycloneDX.

    Raises:
        CalledProcessError: the bill is not valid.
    """
    # A lock does not say who requires what, and the library warns that the bill lacks it.
    command = [sys.executable, "-W", "ignore::UserWarning", "-m", "cyclonedx_py", "requirements"]
    command += [
        "--output-reproducible",
        "--spec-version",
        "1.6",
        "--output-format",
        "JSON",
        "--output-file",
        str(target),
    ]
    command += ["--pyproject", str(source_tree.ROOT / "pyproject.toml")]
    command += [str(source_tree.ROOT / ".locks" / f"{lock}.txt")]
    subprocess.run(command, check=True)


def write_servers(target: Path) -> None:
    """Write the bill of what ``make setup`` fetches, with the pinned checksums."""
    bom = Bom(components=[_component(artifact) for artifact in ARTIFACTS])
    JsonV1Dot6(bom).output_to_file(str(target), allow_overwrite=True, indent=1)


def _component(artifact: Artifact) -> Component:
    stem = artifact.file.removesuffix(".tar.gz").removesuffix(".jar")
    name, _, version = stem.rpartition("-")
    return Component(
        type=ComponentType.APPLICATION if artifact.file != f"{stem}.jar" else ComponentType.LIBRARY,
        name=name,
        version=version,
        # `generic`, because the name of a file does not tell its Maven group.
        purl=PackageURL("generic", None, name, version),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=artifact.sha256)],
    )


if __name__ == "__main__":
    main()
