"""A node that runs the pods' containers: real brokers and routers under the cluster's names.

It does what a kubelet does with our pods: puts secrets, config maps and volumes where they are
mounted, expands the command, starts it, asks the readiness probe, refreshes files when the pod
changes, restarts what died. Paths and ports are of this machine, for there is one of it only.
"""

import base64
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from kubernetes.client import ApiClient

from tests.kubernetes.node import Node
from workers.infra.base import Kind, Layout, Namespace, PublicEndpoint
from workers.infra.kubernetes import labels
from workers.infra.kubernetes.adapter import KubernetesInfra
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.local import files

_GRACE_SECONDS = 15
_FOLDERS = {"files": "etc", "data": "data", "scratch": "scratch"}
_FILES = "waypost.io/files"
Place = Callable[[str, str], Path]


class InfraHere(KubernetesInfra):
    """The adapter, but what it calls a host, a port or a path is this machine's."""

    def __init__(self, api: Api, cluster: Cluster, root: Path) -> None:
        super().__init__(api, cluster)
        self._root = root

    def place(self, namespace: Namespace, kind: Kind, name: str) -> Layout:
        named = super().place(namespace, kind, name)
        folder = self._root / namespace.name / name
        ports = files.remembered_ports(self._root, folder, list(named.ports))
        return Layout(str(folder / "etc"), str(folder / "data"), "127.0.0.1", "127.0.0.1", ports)

    def ensure_endpoint(self, namespace: Namespace, instance: str) -> PublicEndpoint:
        named = super().ensure_endpoint(namespace, instance)
        kind = Kind.BROKER if instance.startswith(Kind.BROKER) else Kind.ROUTER
        port = self.place(namespace, kind, instance).ports["amqps"]
        return PublicEndpoint("127.0.0.1", port, (named.host, *named.extra_names))


@dataclass
class Running:
    """One container: its process, the files it was given last, how often it was started again."""

    process: subprocess.Popen[bytes]
    files: str
    restarts: int = 0


class ProcessNode(Node):
    """Runs pods below ``root`` (a folder for each namespace and instance)."""

    def __init__(self, api: ApiClient, root: Path) -> None:
        super().__init__(api)
        self._root = root
        self._running: dict[str, Running] = {}

    def start(self, pod: Any) -> bool:
        running = self._running.get(pod.metadata.uid)
        if running is None:
            self._running[pod.metadata.uid] = self._launch(pod)
            return False
        if running.process.poll() is not None:
            self._running[pod.metadata.uid] = self._launch(pod, running.restarts + 1)
            return False
        return self._answers(pod)

    def refresh(self, pod: Any) -> bool:
        running = self._running[pod.metadata.uid]
        if running.process.poll() is not None:
            return False
        wanted = (pod.metadata.annotations or {}).get(_FILES, "")
        if running.files != wanted:
            self._mount(pod)
            running.files = wanted
        return True

    def end(self, pod: Any) -> None:
        running = self._running.pop(pod.metadata.uid, None)
        if running is None:
            return
        running.process.terminate()
        try:
            running.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            running.process.kill()
            running.process.wait()

    def restarts(self, pod: Any) -> int:
        running = self._running.get(pod.metadata.uid)
        return running.restarts if running else 0

    def stop(self) -> None:
        super().stop()
        for running in self._running.values():
            running.process.kill()
            running.process.wait()

    def process_of(self, namespace: str, instance: str) -> subprocess.Popen[bytes]:
        """Return the process of an instance."""
        pod = self._core.read_namespaced_pod(f"{instance}-0", namespace)
        return self._running[pod.metadata.uid].process

    def _launch(self, pod: Any, restarts: int = 0) -> Running:
        shutil.rmtree(self._folder(pod) / "scratch", ignore_errors=True)
        self._mount(pod)
        (container,) = pod.spec.containers
        environment = {each.name: each.value for each in container.env or []}
        command = [self._here(pod, _expanded(each, environment)) for each in container.command]
        with (self._folder(pod) / "output.log").open("ab") as log:
            process = subprocess.Popen(
                _of_image(command), env={**_ENVIRONMENT, **environment}, stdout=log, stderr=log
            )
        return Running(process, (pod.metadata.annotations or {}).get(_FILES, ""), restarts)

    def _mount(self, pod: Any) -> None:
        for name in ("etc", "data", "scratch"):
            (self._folder(pod) / name).mkdir(parents=True, exist_ok=True)
        held = files.InstanceFiles(self._folder(pod))
        held.write(self._projected(pod))

    def _projected(self, pod: Any) -> Mapping[str, str]:
        volume = next(each for each in pod.spec.volumes if each.projected)
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

    def _here(self, pod: Any, text: str) -> str:
        """Return a word of the command with mounted paths as they are on this machine."""
        (container,) = pod.spec.containers
        places = {
            mount.mount_path: str(self._folder(pod) / _FOLDERS[mount.name])
            for mount in container.volume_mounts
        }
        # In one go, for this machine's paths may hold those of the pod again.
        mounted = "|".join(map(re.escape, places))
        return re.sub(mounted, lambda found: places[found[0]], text)

    def _answers(self, pod: Any) -> bool:
        (container,) = pod.spec.containers
        wanted = container.readiness_probe.tcp_socket.port
        folder = self._folder(pod)
        ports = files.remembered_ports(self._root, folder, [wanted])
        with socket.socket() as probe:
            probe.settimeout(1)
            return probe.connect_ex(("127.0.0.1", ports[wanted])) == 0

    def _folder(self, pod: Any) -> Path:
        return self._root / str(pod.metadata.namespace) / str(pod.metadata.labels[labels.INSTANCE])


_ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(settings.BASE_DIR)}


def _expanded(word: str, environment: Mapping[str, str]) -> str:
    """Return a word as the kubelet expands it (API reference, Container ``command``)."""
    return re.sub(
        r"\$\$|\$\(([^()$]+)\)",
        lambda found: "$" if found[0] == "$$" else environment.get(found[1], found[0]),
        word,
    )


def _of_image(command: list[str]) -> list[str]:
    """Return the command with what the images hold: Artemis, and a router that behaves."""
    if command[0] == "qdrouterd":
        return [sys.executable, "-m", "workers.services.devrouter", command[-1]]
    home = str(settings.ARTEMIS_HOME)
    return [each.replace("/opt/activemq-artemis", home) for each in command]
