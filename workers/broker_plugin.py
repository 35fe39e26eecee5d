"""Build the broker plugin: one JAR from the Java sources in ``messaging/brokers/plugin``.

``make setup`` runs this module (``python -m workers.broker_plugin``) before it makes the class-data
archive, whose class path has the JAR. Each command-line argument is a folder, into which the JAR is
also copied as ``waypost-broker.jar``. The build of the broker's image takes the JAR from there
(docs/operate/install.md).

The Eclipse compiler builds the JAR, so that a machine needs a Java runtime and no JDK. The JAR's
name has a digest of the sources and of the broker's version. So a changed plugin is another file,
and the JAR of a running broker never changes.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import django
from django.conf import settings

from controlplane.core.errors import Unavailable
from controlplane.embedded import artifacts, java
from workers.infra.local import plugin

# The oldest supported Java, see ``controlplane.embedded.java``.
_OLDEST_JAVA = str(min(java.SUPPORTED))
IMAGE_JAR = "waypost-broker.jar"  # its name in charts/images/broker/Containerfile
# The earliest date that a ZIP file can hold. With fixed dates, equal sources make equal JARs.
_DATE = (1980, 1, 1, 0, 0, 0)


def build(home: Path) -> bool:
    """Build the JAR for the Artemis program in the folder ``home``; return whether it was built.

    False: a JAR of the same sources and the same version of Artemis exists already.

    Raises:
        Unavailable: ``plugin.compile`` (the compiler refuses the sources), ``artifact.missing``
            (the compiler is not installed), ``java.missing`` or ``java.version``.
    """
    jar = plugin.jar(home)
    if jar.exists():
        return False
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="build-", dir=jar.parent) as folder:
        classes, made = Path(folder) / "classes", Path(folder) / jar.name
        _compile(home, classes)
        with zipfile.ZipFile(made, "w") as archive:
            for path in sorted(classes.rglob("*.class")):
                name = path.relative_to(classes).as_posix()
                archive.writestr(zipfile.ZipInfo(name, _DATE), path.read_bytes())
        made.replace(jar)  # atomic: no broker ever reads half a JAR
    return True


def _compile(home: Path, classes: Path) -> None:
    result = subprocess.run(
        [
            java.find(),
            "-jar",
            artifacts.compiler(),
            # Not --release, which needs a file (ct.sym) that many runtimes of a newer Java lack.
            "-source",
            _OLDEST_JAVA,
            "-target",
            _OLDEST_JAVA,
            "-Xlint",
            "-failOnWarning",
            "-cp",
            plugin.class_path(home),
            "-d",
            classes,
            *plugin.sources(),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise Unavailable(
            f"The broker plugin does not compile: {result.stderr[-2000:]}", code="plugin.compile"
        )


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    os.environ.setdefault("WAYPOST_ARTEMIS_HOME", str(artifacts.artemis_home()))
    django.setup()
    if build(Path(settings.ARTEMIS_HOME)):
        sys.stdout.write("setup: broker plugin compiled\n")
    for folder in sys.argv[1:]:
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(plugin.jar(Path(settings.ARTEMIS_HOME)), Path(folder) / IMAGE_JAR)
