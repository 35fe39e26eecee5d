"""Write the bill of materials of the image that it runs in to stdout, as CycloneDX 1.5 JSON.

It lists Debian packages, Python packages and JAR files. Uses the standard library only, because it
runs while an image is built.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

Component = dict[str, object]
_JARS = "/opt/waypost"


def main() -> None:
    components = [*_debian(), *_python(), *_java()]
    document = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1}
    json.dump({**document, "components": components}, sys.stdout, indent=1)


def _debian() -> Iterator[Component]:
    form = "${Package} ${Version} ${Architecture}\n"
    listed = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={form}"], capture_output=True, text=True, check=True
    )
    for line in listed.stdout.splitlines():
        name, version, architecture = line.split()
        yield _component(name, version, f"pkg:deb/debian/{name}@{version}?arch={architecture}")


def _python() -> Iterator[Component]:
    found = {package.metadata["Name"]: package.version for package in metadata.distributions()}
    for name in sorted(found):
        # Package URLs of PyPI have lower-case names with dashes (purl specification, type pypi).
        purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{found[name]}"
        yield _component(name, found[name], purl)


def _java() -> Iterator[Component]:
    for jar in sorted(Path(_JARS).rglob("*.jar")):
        name, _, version = jar.stem.rpartition("-")
        digest = hashlib.sha256(jar.read_bytes()).hexdigest()
        # `generic`, because the name of a JAR does not tell its Maven group.
        known = _component(name or jar.stem, version, f"pkg:generic/{jar.name}")
        yield {**known, "hashes": [{"alg": "SHA-256", "content": digest}]}


def _component(name: str, version: str, purl: str) -> Component:
    return {"type": "library", "name": name, "version": version, "purl": purl}


if __name__ == "__main__":
    main()
