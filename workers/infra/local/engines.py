"""Build the command that starts each engine on this machine, for the local adapter."""

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from controlplane.core.reasons import Reason
from workers.infra import engines
from workers.infra.base import InfraError, InstanceSpec
from workers.infra.engines import BrokerPaths, Launch
from workers.infra.local import plugin
from workers.infra.local.files import InstanceFiles

# Keep a broker small, because all brokers of an embedded installation share one machine.
JAVA_FLAGS = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:CICompilerCount=1",  # leaves the other cores to whatever waits for the start
    "-Xss256k",
    "-Xms16m",
)


@dataclass(frozen=True)
class ClassData:
    """The path of a class-data archive of Java, and the class path that belongs to the archive.

    The archive halves the start time of a broker; ``workers.broker_archive`` makes it.
    """

    archive: Path
    jars: str


def launch(spec: InstanceSpec, files: InstanceFiles) -> Launch:
    """Return how to start ``spec.engine`` with the files in ``files``.

    Raises:
        InfraError: the engine is unknown, or it is not installed on this machine.
    """
    if spec.engine == "artemis":
        return _artemis(spec, files)
    if spec.engine == "devrouter":
        return _devrouter(files)
    if spec.engine == "qdrouterd":
        return _router_binary(spec.engine, files)
    raise InfraError(f"unknown engine {spec.engine!r}", reason=Reason.ENGINE_UNKNOWN, retry=False)


def artemis_command(java: str, etc: Path, memory_mb: int, class_path: Sequence[str]) -> list[str]:
    """Return the command that runs a broker in the foreground, with the broker plugin.

    ``etc`` is the broker's ``InstanceFiles.config``; the folders ``data`` and ``log`` are beside
    it. ``class_path`` are the options of Java that set the class path.
    """
    folder = etc.parent
    paths = BrokerPaths(
        home=str(settings.ARTEMIS_HOME),
        config=str(etc),
        data=str(folder / "data"),
        scratch=str(folder / "log" / "tmp"),
    )
    return engines.broker_command(java, paths, memory_mb, class_path, JAVA_FLAGS, has_plugin=True)


def _artemis(spec: InstanceSpec, files: InstanceFiles) -> Launch:
    home = Path(settings.ARTEMIS_HOME)
    java = shutil.which("java")
    if java is None or not (home / "lib").is_dir() or not plugin.jar(home).exists():
        raise InfraError(
            "Java, the broker's files or its plugin are missing: run `make setup`.",
            reason=Reason.BROKER_MISSING,
            retry=False,
        )
    (files.log / "tmp").mkdir(exist_ok=True, mode=0o700)
    found = class_data(home)
    class_path = ["-cp", found.jars]
    # ``make setup`` may not have made the archive. A broker without it only starts slower.
    if found.archive.exists():
        class_path = [f"-XX:SharedArchiveFile={found.archive}", "-Xshare:auto", *class_path]
    run = artemis_command(java, files.config, spec.memory_mb, class_path)
    return engines.as_new_incarnation(run, str(home))


def class_data(home: Path) -> ClassData:
    """Return the path of the class-data archive for Artemis at ``home``, and its class path.

    The archive need not exist yet. Java uses an archive only with exactly the class path with which
    the archive was made.
    """
    jar = plugin.jar(home)
    # The JAR's name has a digest of its sources, so another plugin gets another archive.
    archive = home.parent.parent / "cds" / f"{home.name}-{jar.stem}.jsa"
    return ClassData(archive, f"{plugin.class_path(home)}:{jar}")


def _devrouter(files: InstanceFiles) -> Launch:
    command = [
        sys.executable,
        "-m",
        "workers.services.devrouter",
        str(files.config / "router.json"),
    ]
    # The router does not load Django, so it needs no settings, only the path of our code.
    return Launch(command, {"PYTHONPATH": str(settings.BASE_DIR), "PYTHONUNBUFFERED": "1"})


def _router_binary(engine: str, files: InstanceFiles) -> Launch:
    binary = settings.ROUTER_BINARY or shutil.which(engine)
    if not binary or not os.access(binary, os.X_OK):
        raise InfraError(
            f"The router {binary or engine} is not an executable file: run "
            "`make router FROM=<folder>` or correct WAYPOST_ROUTER.",
            reason=Reason.ROUTER_MISSING,
            retry=False,
        )
    return engines.router_command(str(binary), str(files.config))
