"""The port ``Infra`` on one machine: each instance is a process under supervisord.

For embedded installations, tests and demonstrations; never for production.
``workers.infra.base`` documents the methods; docstrings here say only what is special.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from controlplane.core.errors import Invalid, Unavailable
from controlplane.core.files import write_atomically
from controlplane.core.instance_names import InstanceId, Kind, Listener
from controlplane.core.reasons import Reason
from controlplane.embedded.supervisor_client import Program, ProgramStatus, SupervisorClient
from workers.infra import names
from workers.infra.base import (
    EngineImages,
    GivenCertificate,
    InfraError,
    InstanceSpec,
    InstanceStatus,
    Layout,
    Namespace,
    PublicEndpoint,
    ResourceBudget,
    check_namespace,
)
from workers.infra.kinds import REGISTRY
from workers.infra.local import engines, files
from workers.infra.local.files import InstanceFiles

_HOST = "127.0.0.1"


@contextmanager
def _as_infra_error() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise InfraError(error.message, reason=Reason.SUPERVISOR_UNAVAILABLE, retry=True) from error
    except Invalid as error:
        raise InfraError(error.message, reason=Reason.PROGRAM_INVALID, retry=False) from error
    except OSError as error:
        raise InfraError(
            f"A folder of this machine cannot be used: {error}",
            reason=Reason.FOLDER_UNUSABLE,
            retry=True,
        ) from error


class LocalInfra:
    """The adapter of ``Infra``: runs instances as processes of one supervisord.

    Their files are in ``state_dir/spaces``.
    """

    def __init__(self, state_dir: Path, supervisor: SupervisorClient) -> None:
        self._spaces = state_dir / "spaces"
        self._supervisor = supervisor

    def engine_images(self) -> EngineImages:
        return EngineImages()

    @contextmanager
    def open(self, namespace: Namespace) -> Iterator["LocalSession"]:
        yield LocalSession(self._spaces, self._supervisor, namespace)

    def list_namespaces(self) -> Sequence[str]:
        return sorted(path.parent.name for path in self._spaces.glob("*/namespace.json"))


class LocalSession:
    """Works on the supervised programs and the folder of one space.

    It keeps nothing between calls: each call reads the folder and the status of the programs.
    """

    def __init__(self, spaces: Path, supervisor: SupervisorClient, namespace: Namespace) -> None:
        self._spaces = spaces
        self._supervisor = supervisor
        self._namespace = namespace

    @_as_infra_error()
    def ensure_namespace(self, budget: ResourceBudget) -> None:
        """Create the space's folder if it is missing. One machine does not enforce ``budget``."""
        folder = self._spaces / self._namespace.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        owner = folder / "namespace.json"
        if not owner.exists():
            ids = {"tenant": self._namespace.tenant_id, "space": self._namespace.space_id}
            write_atomically(owner, json.dumps(ids), mode=0o600)

    @_as_infra_error()
    def layout_of(self, kind: Kind, name: str) -> Layout:
        folder = self._files(name)
        ports = files.remembered_ports(self._spaces, folder.folder, REGISTRY[kind].listeners)
        return Layout(str(folder.config), str(folder.data), _HOST, _HOST, ports)

    @_as_infra_error()
    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        check_namespace(spec, self._namespace)
        folder = self._files(spec.name)
        folder.make()
        program = self._program(spec, folder)
        restart_deferred = not may_restart and self._supervisor.has_other(program)
        # Files before the program: this process may be killed in between, and a program must not
        # start without its files.
        folder.write(folder.with_former(spec) if restart_deferred else spec.files)
        if not restart_deferred:
            self._check_ports(program.name, spec)
            self._supervisor.ensure(program)
        status = self._supervisor.find(program.name)
        return replace(observed(spec.name, status, folder), restart_deferred=restart_deferred)

    def restart_instance(self, name: str) -> None:
        with _as_infra_error():
            self._supervisor.restart(names.program(self._namespace.name, name))

    def list_instances(self) -> Sequence[InstanceStatus]:
        # It ends with a dot, so programs of a namespace whose name only begins alike are left out.
        prefix = names.program(self._namespace.name, "")
        with _as_infra_error():
            programs = self._supervisor.list_programs()
        found = [
            (program.name.removeprefix(prefix), program)
            for program in programs
            if program.name.startswith(prefix)
        ]
        return [observed(name, program, self._files(name)) for name, program in found]

    @_as_infra_error()
    def delete_instance(self, name: str, *, keep_volume: bool = False) -> None:
        # The program before its files, because it still writes while it stops.
        self._supervisor.remove(names.program(self._namespace.name, name))
        self._files(name).remove(keep_data=keep_volume)

    def ensure_endpoint(self, instance: str, former_port: int | None = None) -> PublicEndpoint:
        layout = self.layout_of(InstanceId.parse(instance).kind, instance)
        return PublicEndpoint(_HOST, layout.ports[Listener.AMQPS], ("localhost",))

    def ensure_certificate(self, endpoint: PublicEndpoint) -> GivenCertificate | None:
        """Return None: an embedded installation provides no certificates."""
        return None

    def delete_endpoint(self) -> None:
        """Do nothing: the endpoint is the port of an instance, and ends with the instance."""

    @_as_infra_error()
    def delete_namespace(self) -> bool:
        for instance in self.list_instances():
            self.delete_instance(instance.name)
        folder = self._spaces / self._namespace.name
        if folder.exists():
            shutil.rmtree(folder)
        return True

    def _check_ports(self, program: str, spec: InstanceSpec) -> None:
        """Raise ``InfraError`` if the instance does not run and another program has its port.

        The port belongs to the instance, but any program can take it while the instance is stopped.
        """
        known = self._supervisor.find(program)
        if known is not None and known.pid:
            return  # it runs, so it is the one that listens
        layout = self.layout_of(spec.kind, spec.name)
        taken = [port for port in layout.ports.values() if not files.can_bind(port)]
        if taken:
            raise InfraError(
                f"Port {taken[0]} of {spec.name} is taken by another program on this machine: "
                "stop that program; Waypost then continues automatically.",
                reason=Reason.PORT_TAKEN,
                retry=True,
            )

    def _program(self, spec: InstanceSpec, folder: InstanceFiles) -> Program:
        launch = engines.launch(spec, folder)
        return Program(
            name=names.program(self._namespace.name, spec.name),
            command=launch.command,
            directory=str(folder.folder),
            log_file=str(folder.log / "output.log"),
            environment=launch.environment,
            revision=files.digest(spec.files, spec.live_files),
            # supervisord starts low priorities first and stops them last.
            priority=REGISTRY[spec.kind].start_order,
        )

    def _files(self, name: str) -> InstanceFiles:
        return InstanceFiles(self._spaces / self._namespace.name / name)


def of_settings() -> LocalInfra:
    """Return the adapter for the state folder and the supervisord that the settings name."""
    socket = Path(settings.SUPERVISOR_SOCKET)
    return LocalInfra(settings.STATE_DIR, SupervisorClient(socket, socket.parent / "conf.d"))


def observed(name: str, status: ProgramStatus | None, folder: InstanceFiles) -> InstanceStatus:
    """Return the status of an instance, from the status of its program and the end of its log.

    ``status`` is None if supervisord does not know the program.
    """
    kind = InstanceId.parse(name).kind
    if status is None:
        return InstanceStatus(name, kind, running=False, message="not started yet")
    message = f"{status.state}: {status.message}"
    # supervisord reports STARTING for a while after the process runs.
    running = status.state in {"RUNNING", "STARTING"} and status.pid > 0
    output = "" if running else folder.last_log_line()
    if output:
        message = f"{message}; it said last: {output}"
    return InstanceStatus(
        name,
        kind,
        running=running,
        message=message,
        # The kernel may give a later process the same pid.
        boot=f"{status.started_at}-{status.pid}",
        trouble="" if running else message,
    )
