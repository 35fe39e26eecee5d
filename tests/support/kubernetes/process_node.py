"""A node that runs the pods' containers: real brokers and routers under the cluster's names.

It does what a kubelet does with our pods: puts secrets, config maps and volumes where they are
mounted, expands the command, starts it, asks the probes, refreshes files when the pod changes,
restarts what died and says how it ended. The router is the installed one, or the development router
where none is (``WAYPOST_ROUTER=development``: in any case). Each pod has an address of its own out
of 127.0.0.0/8, where it listens at the real ports; services' names lead there (``hosts``). Paths
are of this machine, for there is one of it only, and where a file says "all addresses" it says the
pod's. The port for probes is another one for each pod, because a real router opens it on all
addresses, whatever its file says.
"""

import base64
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from kubernetes.client import ApiClient

from controlplane.core.files import write_atomically
from controlplane.core.instance_names import Listener
from controlplane.embedded import artifacts, ports, routers
from tests.support.kubernetes import native_names, node, service_names
from tests.support.kubernetes.node import Node
from workers.infra.kubernetes import labels, pods, sizes
from workers.infra.local import engines, files

_GRACE_SECONDS = 15
# Who ends once is started at once, who ends again waits; a kubelet's wait grows from 10 s.
_BACK_OFF_SECONDS = 2
_LAST_WORDS_BYTES = 2048  # as a kubelet takes them (FallbackToLogsOnError)
_FOLDERS = {"files": "etc", "scratch": "scratch"}
_FILES = "waypost.io/files"
_ALL_ADDRESSES = "0.0.0.0"
_IMAGE_HOME = "/opt/activemq-artemis"
_HEALTH_PORT = sizes.PORTS[Listener.HEALTH]
# Where a test that uses the pods may connect to.
ADDRESSES = ["127.0.0.0/8", "::1", "localhost"]


@dataclass
class Running:
    """One container: its process, the pod it is of, the files it was given last, its restarts.

    ``places`` is what it is to find on this machine in place of what its files and command say.
    ``health_port``: where its probes are answered. ``log_from``: where its own words begin in the
    log; ``last_end``: how the life before it ended; ``reported``: what was reported of it last.
    """

    process: subprocess.Popen[bytes]
    pod: Any
    address: str
    places: Mapping[str, str]
    files: str
    health_port: int
    log_from: int
    restarts: int = 0
    last_end: Mapping[str, Any] = field(default_factory=dict)
    has_started: bool = False
    is_ready: bool = False
    ended_at: float | None = None
    reported: Mapping[str, Any] = field(default_factory=dict)


class ProcessNode(Node):
    """Runs pods below ``root``: a folder for each namespace and instance, and for each claim."""

    def __init__(self, api: ApiClient, root: Path) -> None:
        super().__init__(api)
        self._root = root
        self._router = routers.find(artifacts.cache_dir(), os.environ.get("WAYPOST_ROUTER"))
        self._running: dict[str, Running] = {}
        self._strangers: set[str] = set()
        self._claims = ports.Claims()
        # Another of these may run beside: one of its addresses is in use at most by chance.
        self._addresses = (f"127.{random.randrange(1, 255)}.{n >> 8}.{n & 255}" for n in count(1))
        self.hosts = root / "hosts"
        root.mkdir(parents=True, exist_ok=True)

    def register(self) -> None:
        super().register()
        # What other tests left in the cluster is not run: forty brokers would be too much here.
        self._strangers = {item.metadata.name for item in self._core.list_namespace().items}

    def _look_at(self, pod: Any) -> None:
        if pod.metadata.namespace not in self._strangers:
            super()._look_at(pod)

    def start(self, pod: Any) -> bool:
        running = self._running.get(pod.metadata.uid)
        if running is None or _is_due(running):
            running = self._running[pod.metadata.uid] = self._launch(pod, running)
        if running.process.poll() is None:
            # The first success counts for as long as the container runs.
            running.has_started = running.has_started or _answers(running, "startup_probe")
            running.is_ready = running.has_started and _answers(running, "readiness_probe")
        else:
            running.is_ready = False
        if not running.is_ready:
            self._tell(pod, running)
        self._publish()
        return running.is_ready

    def refresh(self, pod: Any) -> bool:
        running = self._running[pod.metadata.uid]
        running.is_ready = running.process.poll() is None
        wanted = _files(pod)
        if running.is_ready and running.files != wanted:
            self._mount(pod, running.places)
            running.files = wanted
        self._publish()
        return running.is_ready

    def end(self, pod: Any) -> None:
        running = self._running.pop(pod.metadata.uid, None)
        if running is None:
            return
        self._publish()
        running.process.terminate()
        try:
            running.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            running.process.kill()
            running.process.wait()

    def restarts(self, pod: Any) -> int:
        running = self._running.get(pod.metadata.uid)
        return running.restarts if running else 0

    def leave(self) -> None:
        """End what still runs, now that nothing is started any more."""
        for running in self._running.values():
            running.process.kill()
            running.process.wait()
        self._claims.release()
        super().leave()

    @property
    def has_real_router(self) -> bool:
        """Whether its routers are not the development router."""
        return self._router is not None

    def process_of(self, namespace: str, instance: str) -> subprocess.Popen[bytes]:
        """Return the process of an instance."""
        pod = self._core.read_namespaced_pod(f"{instance}-0", namespace)
        return self._running[pod.metadata.uid].process

    def _launch(self, pod: Any, former: Running | None) -> Running:
        """Start the pod's container, or start it again where it was."""
        address = former.address if former else self._free_address()
        health_port = former.health_port if former else self._claims.take_any()
        places = former.places if former else self._replaced(pod, address, health_port)
        shutil.rmtree(self._folder(pod) / "scratch", ignore_errors=True)
        self._mount(pod, places)
        (container,) = pod.spec.containers
        environment = {variable.name: variable.value for variable in container.env or []}
        command = [_here(_expanded(word, environment), places) for word in container.command]
        run, of_program = self._of_image(command)
        with (self._folder(pod) / "output.log").open("ab") as log:
            log_from = log.tell()
            process = subprocess.Popen(
                run, env={**_ENVIRONMENT, **environment, **of_program}, stdout=log, stderr=log
            )
        restarts = former.restarts + 1 if former else 0
        last_end = self._end_of(former) if former else {}
        return Running(
            process,
            pod,
            address,
            places,
            _files(pod),
            health_port,
            log_from,
            restarts,
            last_end=last_end,
        )

    def _replaced(self, pod: Any, address: str, health_port: int) -> Mapping[str, str]:
        """Return what stands on this machine for what the pod's files and command say."""
        return {
            # As the broker's command says it, and as the router's file does.
            f"{_ALL_ADDRESSES}:{_HEALTH_PORT}": f"{address}:{health_port}",
            f'"port": {_HEALTH_PORT}': f'"port": {health_port}',
            **self._places(pod),
            _ALL_ADDRESSES: address,
        }

    def _tell(self, pod: Any, running: Running) -> None:
        """Report a container that is not ready, as a kubelet does: it starts, or ended."""
        (container,) = pod.spec.containers
        if running.process.poll() is None:
            state: dict[str, Any] = {"running": {}}
            last_end = running.last_end
        else:
            state = {"waiting": {"reason": "CrashLoopBackOff"}}
            last_end = self._end_of(running)
        reported = {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": False,
            "started": "running" in state and running.has_started,
            "restartCount": running.restarts,
            "state": state,
            "lastState": last_end,
        }
        if reported != running.reported:
            running.reported = reported
            self._write_status(pod, {"containerStatuses": [reported]})

    def _end_of(self, running: Running) -> Mapping[str, Any]:
        """Return how a container ended; with its last words where its pod asks for them."""
        (container,) = running.pod.spec.containers
        code = running.process.wait()
        words = ""
        if container.termination_message_policy == "FallbackToLogsOnError" and code:
            log = (self._folder(running.pod) / "output.log").read_bytes()
            words = log[running.log_from :][-_LAST_WORDS_BYTES:].decode(errors="replace")
        # As a shell says it: a signal is a number above 128.
        ended = {"exitCode": code if code >= 0 else 128 - code, "message": words}
        return {"terminated": {**ended, "reason": "Error" if code else "Completed"}}

    def _places(self, pod: Any) -> Mapping[str, str]:
        """Return the folder of each mounted path; a volume is its claim's, whoever mounts it."""
        volumes = {volume.name: volume for volume in pod.spec.volumes}
        (container,) = pod.spec.containers
        folders: dict[str, Path] = {}
        for mount in container.volume_mounts:
            claimed = volumes[mount.name].persistent_volume_claim
            folders[mount.mount_path] = (
                self._volume(pod.metadata.namespace, claimed.claim_name)
                if claimed
                else self._folder(pod) / _FOLDERS[mount.name]
            )
        return {path: str(folder) for path, folder in folders.items()}

    def _volume(self, namespace: str, claim: str) -> Path:
        found = self._core.read_namespaced_persistent_volume_claim(claim, namespace)
        return self._root / "volumes" / str(found.metadata.uid)

    def _mount(self, pod: Any, places: Mapping[str, str]) -> None:
        (container,) = pod.spec.containers
        for mount in container.volume_mounts:
            Path(places[mount.mount_path]).mkdir(parents=True, exist_ok=True)
        # Nothing that is mounted as scratch is named in a file, and its path is short enough to be
        # found in a key.
        written = {text: place for text, place in places.items() if text != pods.SCRATCH_DIR}
        held = {name: _here(text, written) for name, text in self._projected(pod).items()}
        files.InstanceFiles(self._folder(pod)).write(held)

    def _projected(self, pod: Any) -> Mapping[str, str]:
        volume = next(volume for volume in pod.spec.volumes if volume.projected)
        found: dict[str, str] = {}
        for source in volume.projected.sources:
            if source.secret:
                data = self._core.read_namespaced_secret(
                    source.secret.name, pod.metadata.namespace
                ).data
                found |= {name: base64.b64decode(text).decode() for name, text in data.items()}
            else:
                found |= self._core.read_namespaced_config_map(
                    source.config_map.name, pod.metadata.namespace
                ).data
        return found

    def _publish(self) -> None:
        """Write where services lead now: to the pods they select, and to unready ones if so told.

        What a cluster does by DNS and by the addresses of services. Of several pods the first.
        """
        lines = [
            f"{running.address} {service.metadata.name}.{namespace}.svc\n"
            for namespace in {running.pod.metadata.namespace for running in self._running.values()}
            for service in self._core.list_namespaced_service(namespace).items
            for running in self._running.values()
            if running.pod.metadata.namespace == namespace and _leads_to(service, running)
        ]
        text = "".join(sorted(lines))
        if not self.hosts.exists() or self.hosts.read_text() != text:
            write_atomically(self.hosts, text, mode=0o600)

    def _free_address(self) -> str:
        return next(
            address
            for address in self._addresses
            if not any(ports.is_open(address, port) for port in sizes.PORTS.values())
        )

    def _folder(self, pod: Any) -> Path:
        return self._root / str(pod.metadata.namespace) / str(pod.metadata.labels[labels.INSTANCE])

    def _of_image(self, command: Sequence[str]) -> tuple[Sequence[str], Mapping[str, str]]:
        """Return the command with what the images hold, a broker or a router, and its variables."""
        if command[0] != "qdrouterd":
            home = Path(settings.ARTEMIS_HOME)
            # The image has the plugin's JAR beside those of Artemis.
            held = {f"{_IMAGE_HOME}/lib/*": engines.class_data(home).jars, _IMAGE_HOME: str(home)}
            words = [_here(word, held) for word in command]
            at = words.index("-cp")
            return [*words[:at], *_quick_start(home), *words[at:]], {}
        if self._router is not None:
            return [str(self._router), *command[1:]], native_names.environment(self.hosts)
        resolving = ["-m", "tests.support.kubernetes.service_names", str(self.hosts)]
        return [sys.executable, *resolving, "workers.services.devrouter", command[-1]], {}


@contextmanager
def running(api: ApiClient, root: Path) -> Iterator[ProcessNode]:
    """Run such a node until the block ends; this process knows the names of services meanwhile."""
    started = ProcessNode(api, root)
    with service_names.looked_up_in(started.hosts), node.running(started):
        yield started


def _quick_start(home: Path) -> Sequence[str]:
    """Return options of Java that halve what a broker's start costs; what it does stays."""
    archive = engines.class_data(home).archive
    shared = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []
    return [*engines.JAVA_FLAGS, "-Xshare:auto", *shared]


_ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(settings.BASE_DIR)}


def _files(pod: Any) -> str:
    """Return what stands for the files that the pod was told of last."""
    return str((pod.metadata.annotations or {}).get(_FILES, ""))


def _is_due(running: Running) -> bool:
    """Return whether a container ended, and is to be started again now."""
    if running.process.poll() is None:
        return False
    running.ended_at = running.ended_at or time.monotonic()
    pause = _BACK_OFF_SECONDS if running.restarts else 0
    return time.monotonic() - running.ended_at >= pause


def _answers(running: Running, probe: str) -> bool:
    """Ask a probe as a kubelet does."""
    (container,) = running.pod.spec.containers
    wanted = getattr(container, probe)
    if wanted.http_get is None:
        name = wanted.tcp_socket.port
        (port,) = [port.container_port for port in container.ports if port.name == name]
        return ports.is_open(running.address, port)
    url = f"http://{running.address}:{running.health_port}{wanted.http_get.path}"
    try:
        return httpx.get(url, timeout=wanted.timeout_seconds).is_success
    except httpx.HTTPError:
        return False


def _leads_to(service: Any, running: Running) -> bool:
    selected = service.spec.selector.items() <= running.pod.metadata.labels.items()
    return bool(selected and (running.is_ready or service.spec.publish_not_ready_addresses))


def _here(text: str, places: Mapping[str, str]) -> str:
    """Return a text of the pod with its places as they are on this machine."""
    # In one go, for this machine's paths may hold those of the pod again.
    said = "|".join(map(re.escape, places))
    return re.sub(said, lambda found: places[found[0]], text)


def _expanded(word: str, environment: Mapping[str, str]) -> str:
    """Return a word as the kubelet expands it (API reference, Container ``command``)."""
    return re.sub(
        r"\$\$|\$\(([^()$]+)\)",
        lambda found: "$" if found[0] == "$$" else environment.get(found[1], found[0]),
        word,
    )
