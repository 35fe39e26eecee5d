"""Where the broker plugin's sources and JAR are; ``workers.broker_plugin`` builds the JAR."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

_SOURCES = Path(__file__).parents[2] / "messaging" / "brokers" / "plugin"


def jar(home: Path) -> Path:
    """Return the path of the JAR for the Artemis program at ``home``, even if it is not built yet.

    The name has a digest of the sources and of the folder's name, which has the version of Artemis.
    """
    digest = hashlib.sha256(home.name.encode())
    for source in sources():
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return home.parent.parent / "plugin" / f"waypost-broker-{digest.hexdigest()[:16]}.jar"


def sources() -> Sequence[Path]:
    """Return the paths of the plugin's Java source files, sorted."""
    return sorted(_SOURCES.rglob("*.java"))


def class_path(home: Path) -> str:
    """Return Java's class path of all JARs of the Artemis program at ``home``, not the plugin's."""
    return ":".join(str(path) for path in sorted((home / "lib").glob("*.jar")))
