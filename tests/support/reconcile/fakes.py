"""Fakes of the ports of a reconcile pass; tests hold them to the real thing.

Those are tests/suites/kubernetes/test_conformance.py and tests/suites/messaging. Each fake counts
its writes (``writes``), so that a test can say "a second pass changes nothing". ``fail_at`` makes
its calls fail.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from controlplane.core.causes import Cause
from controlplane.core.instance_names import Kind
from tests.support.faults import Faults
from workers.infra.base import (
    EndpointPending,
    EngineImages,
    GivenCertificate,
    Infra,
    InfraError,
    InstanceSpec,
    InstanceStatus,
    Layout,
    Namespace,
    PublicEndpoint,
    ResourceBudget,
    Session,
    check_namespace,
)
from workers.infra.kinds import REGISTRY
from workers.messaging.brokers import permissions
from workers.messaging.brokers.desired import DesiredAddress, DesiredBroker
from workers.messaging.brokers.driver import Converged, Unknown
from workers.messaging.management import Unreachable
from workers.messaging.observed import PROBE_PREFIX, ManagementTarget
from workers.messaging.probe import ProbeFailed
from workers.reconcile.ports import Brokers, Metering


@dataclass
class FakeInstance:
    """One instance: what it was last given, how often it was started, why it does not come up."""

    spec: InstanceSpec
    starts: int = 1
    trouble: str = ""
    is_slow: bool = False  # it is not up before its name is taken out of ``withheld``


@dataclass
class FakeInfra(Faults, Infra):
    """Instances in a dictionary, with the restart rule of the contract."""

    namespaces: set[str] = field(default_factory=set)
    instances: dict[tuple[str, str], FakeInstance] = field(default_factory=dict)
    ports: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    writes: int = 0
    # What a spec is told at its start when it can never come up, in the words of the place.
    refuses: Callable[[InstanceSpec], str] = field(default=lambda _spec: "")
    causes: dict[str, Cause] = field(default_factory=dict)  # by the start of what is refused
    withheld: set[str] = field(default_factory=set)
    started: list[str] = field(default_factory=list)  # names, each time one is started
    images: EngineImages = field(default_factory=EngineImages)
    certificate: GivenCertificate | InfraError | None = None
    endpoints: set[str] = field(default_factory=set)  # namespaces
    kept: set[tuple[str, str]] = field(default_factory=set)  # volumes without an instance
    release: Callable[[tuple[str, str]], object] = field(default=lambda _volume: None)
    endpoint_trouble: str = ""
    has_address: bool = True

    def engine_images(self) -> EngineImages:
        return self.images

    @contextmanager
    def open(self, namespace: Namespace) -> Iterator["FakeSession"]:
        yield FakeSession(self, namespace)

    def ensure_namespace(self, namespace: Namespace, budget: ResourceBudget) -> None:
        self.writes += namespace.name not in self.namespaces
        self.namespaces.add(namespace.name)

    def layout_of(self, namespace: Namespace, kind: Kind, name: str) -> Layout:
        key = (namespace.name, name)
        taken = sum(len(ports) for ports in self.ports.values())
        if key not in self.ports:
            self.ports[key] = {
                port: 21000 + taken + i for i, port in enumerate(REGISTRY[kind].listeners)
            }
        folder = f"/fake/{namespace.name}/{name}"
        return Layout(
            f"{folder}/etc", f"{folder}/data", "127.0.0.1", "127.0.0.1", dict(self.ports[key])
        )

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        key = (spec.namespace.name, spec.name)
        known = self.instances.get(key)
        if known is None:
            self.instances[key] = self._start(FakeInstance(spec, starts=0), spec)
            return self._status(key)
        restart_deferred = not may_restart and _cold(known.spec) != _cold(spec)
        if restart_deferred:
            files = {**_files(known.spec, live=False), **_files(spec, live=True)}
            spec = replace(known.spec, files=files)
        if _cold(known.spec) != _cold(spec):
            self._start(known, spec)
        elif known.spec != spec:
            self.writes += 1
        known.spec = spec
        return replace(self._status(key), restart_deferred=restart_deferred)

    def _start(self, instance: FakeInstance, spec: InstanceSpec) -> FakeInstance:
        instance.starts += 1
        instance.trouble = self.refuses(spec)
        instance.is_slow = spec.name in self.withheld
        self.started.append(spec.name)
        self.writes += 1
        return instance

    def restart_instance(self, namespace: Namespace, name: str) -> None:
        self.instances[namespace.name, name].starts += 1
        self.writes += 1

    def list_instances(self, namespace: Namespace) -> Sequence[InstanceStatus]:
        return [self._status(key) for key in sorted(self.instances) if key[0] == namespace.name]

    def delete_instance(
        self, namespace: Namespace, name: str, *, keep_volume: bool = False
    ) -> None:
        if self.instances.pop((namespace.name, name), None) is not None:
            self.writes += 1
            self.kept |= {(namespace.name, name)} if keep_volume else set()
        if not keep_volume:
            self.kept.discard((namespace.name, name))
            self.release((namespace.name, name))
        self.ports.pop((namespace.name, name), None)

    def ensure_endpoint(self, namespace: Namespace, instance: str) -> PublicEndpoint:
        kind = Kind.BROKER if instance.startswith("broker") else Kind.ROUTER
        self.endpoints.add(namespace.name)
        if not self.has_address:
            raise EndpointPending("No load balancer yet.", ("localhost",))
        layout = self.layout_of(namespace, kind, instance)
        port = layout.ports["amqps"]
        return PublicEndpoint("127.0.0.1", port, ("localhost",), self.endpoint_trouble)

    def ensure_certificate(
        self, namespace: Namespace, endpoint: PublicEndpoint
    ) -> GivenCertificate | None:
        if isinstance(self.certificate, InfraError):
            raise self.certificate
        return self.certificate

    def delete_endpoint(self, namespace: Namespace) -> None:
        self.writes += namespace.name in self.endpoints
        self.endpoints.discard(namespace.name)

    def delete_namespace(self, namespace: Namespace) -> bool:
        left = [instance.name for instance in self.list_instances(namespace)]
        for name in [*left, *(kept for where, kept in self.kept if where == namespace.name)]:
            self.delete_instance(namespace, name)
        self.writes += namespace.name in self.namespaces
        self.namespaces.discard(namespace.name)
        return True

    def list_namespaces(self) -> Sequence[str]:
        return sorted(self.namespaces)

    def running_at(self, port: int, use: str = "management") -> tuple[str, str] | None:
        """Return which instance listens on a port of that use, if it runs."""
        for key, ports in self.ports.items():
            if ports.get(use) == port and key in self.instances:
                return key if self._status(key).running else None
        return None

    def _status(self, key: tuple[str, str]) -> InstanceStatus:
        instance = self.instances[key]
        return InstanceStatus(
            key[1],
            instance.spec.kind,
            running=not instance.trouble and not (instance.is_slow and key[1] in self.withheld),
            message="starting",
            boot=f"boot-{instance.starts}",
            trouble=instance.trouble,
            cause=self.causes.get(instance.trouble.partition(":")[0], Cause.NONE),
        )


@dataclass
class FakeSession(Session):
    """Calls the method of the same name of the fake, which tests may replace."""

    infra: FakeInfra
    namespace: Namespace

    def ensure_namespace(self, budget: ResourceBudget) -> None:
        self.infra.ensure_namespace(self.namespace, budget)

    def layout_of(self, kind: Kind, name: str) -> Layout:
        return self.infra.layout_of(self.namespace, kind, name)

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        check_namespace(spec, self.namespace)
        return self.infra.ensure_instance(spec, may_restart=may_restart)

    def restart_instance(self, name: str) -> None:
        self.infra.restart_instance(self.namespace, name)

    def list_instances(self) -> Sequence[InstanceStatus]:
        return self.infra.list_instances(self.namespace)

    def delete_instance(self, name: str, *, keep_volume: bool = False) -> None:
        self.infra.delete_instance(self.namespace, name, keep_volume=keep_volume)

    def ensure_endpoint(self, instance: str, former_port: int | None = None) -> PublicEndpoint:
        return self.infra.ensure_endpoint(self.namespace, instance)

    def ensure_certificate(self, endpoint: PublicEndpoint) -> GivenCertificate | None:
        return self.infra.ensure_certificate(self.namespace, endpoint)

    def delete_endpoint(self) -> None:
        self.infra.delete_endpoint(self.namespace)

    def delete_namespace(self) -> bool:
        return self.infra.delete_namespace(self.namespace)


def _cold(spec: InstanceSpec) -> InstanceSpec:
    """Return what needs a restart to change."""
    return replace(spec, files=_files(spec, live=False))


def _files(spec: InstanceSpec, *, live: bool) -> dict[str, str]:
    return {k: text for k, text in spec.files.items() if (k in spec.live_files) == live}


@dataclass
class FakeBroker:
    """What one broker holds: addresses with their roles, and open links of clients."""

    addresses: dict[str, object] = field(default_factory=dict)
    roles: dict[str, object] = field(default_factory=dict)
    queues: set[str] = field(default_factory=set)
    stored: dict[str, int] = field(default_factory=dict)
    links: set[tuple[str, str, str]] = field(default_factory=set)  # (user, operation, address)
    unread: set[str] = field(default_factory=set)  # queues without a consumer


@dataclass
class FakeBrokers(Faults, Brokers):
    """The broker driver over brokers in memory, each on its volume; unreachable until they run."""

    infra: FakeInfra
    brokers: dict[tuple[str, str], FakeBroker] = field(default_factory=dict)
    slow_starts: int = 0  # how many more calls find a broker still starting
    closed: set[int] = field(default_factory=set)  # public ports whose listener is closed
    taken: set[int] = field(default_factory=set)  # those where it cannot be opened
    writes: int = 0
    applied: list[list[str]] = field(default_factory=list)  # the addresses of each ``apply``

    def __post_init__(self) -> None:
        self.infra.release = lambda volume: self.brokers.pop(volume, None)

    def find_incarnation(self, target: ManagementTarget, *, timeout_seconds: float = 5) -> str:
        self._at(target)
        return "life"

    def converge(
        self,
        target: ManagementTarget,
        broker: DesiredBroker,
        *,
        only: Collection[str] | None = None,
    ) -> Converged:
        held = self._at(target)
        created = 0
        for address in broker.addresses:
            if only is not None and address.address not in only:
                continue
            roles = permissions.roles_of(broker, address)
            created += address.address not in held.addresses
            if (
                held.addresses.get(address.address) != address
                or held.roles.get(address.address) != roles
            ):
                self.writes += 1
            held.addresses[address.address] = address
            held.roles[address.address] = roles
            held.queues |= set(address.subscriptions)
        return Converged({}, created)

    def apply(self, target: ManagementTarget, broker: DesiredBroker) -> Converged:
        self.applied.append([address.address for address in broker.addresses])
        held = self._at(target)
        merged: list[DesiredAddress] = []
        for address in broker.addresses:
            known = held.addresses.get(address.address)
            if isinstance(known, DesiredAddress):  # it may name some of the queues only
                queues = [*known.subscriptions, *address.subscriptions]
                merged.append(replace(address, subscriptions=sorted(set(queues))))
            else:
                merged.append(address)
        return self.converge(target, replace(broker, addresses=merged))

    def withdraw(self, target: ManagementTarget, addresses: Collection[str]) -> int:
        held = self._at(target)
        for name in addresses:
            held.roles[name] = permissions.internal_roles()
        kept = {link for link in held.links if link[2] not in addresses}
        cut = len(held.links - kept)
        self.writes += cut
        held.links = kept
        return cut

    def disconnect_clients(self, target: ManagementTarget, broker: DesiredBroker) -> int:
        held = self._at(target)
        users = {user.name: user for user in broker.users}
        addresses = {address.address: address for address in broker.addresses}
        kept = {
            link
            for link in held.links
            if link[0] in users
            and link[2] in addresses
            and permissions.may(users[link[0]], link[1], addresses[link[2]], withdrawn=False)
        }
        cut = len(held.links - kept)
        self.writes += cut
        held.links = kept
        return cut

    def remove(self, target: ManagementTarget, addresses: Collection[str]) -> None:
        held = self._at(target)
        for name in addresses:
            self.writes += held.addresses.pop(name, None) is not None
            held.queues.discard(name)

    def list_unknown(self, target: ManagementTarget, broker: DesiredBroker) -> Unknown:
        held = self._at(target)
        known = {address.address for address in broker.addresses}
        unknown = sorted(name for name in held.addresses if name not in known)
        return Unknown(
            [name for name in unknown if not held.stored.get(name)],
            [name for name in unknown if held.stored.get(name)],
        )

    def count_stored(self, target: ManagementTarget) -> int:
        return sum(self._at(target).stored.values())

    def list_unread(self, target: ManagementTarget) -> Collection[str]:
        return self._at(target).unread

    def probe(self, target: ManagementTarget, address: str) -> float:
        self._at(target)
        if not address.startswith(PROBE_PREFIX):
            raise ProbeFailed(f"{address}: no such address")
        return 0.001

    def probe_listener(self, target: ManagementTarget, port: int) -> None:
        self._at(target)
        if port in self.closed and port in self.taken:
            raise ProbeFailed("the broker does not listen for clients: the port is taken")
        self.writes += port in self.closed
        self.closed.discard(port)

    def _at(self, target: ManagementTarget) -> FakeBroker:
        key = self.infra.running_at(target.port)
        if key is None:
            raise Unreachable("nobody there")
        if self.slow_starts:
            self.slow_starts -= 1
            raise Unreachable("still starting")
        return self.brokers.setdefault(key, FakeBroker())


@dataclass
class FakeMetering(Faults, Metering):
    """Remembers each last sample; can ask for patience a number of times."""

    samples: list[tuple[str, tuple[str, ...] | None]] = field(default_factory=list)
    restarts: list[tuple[str, str]] = field(default_factory=list)
    not_yet: int = 0

    def before_restart(self, space_id: str, instance: str) -> bool:
        if self.not_yet:
            self.not_yet -= 1
            return False
        self.restarts.append((space_id, instance))
        return True

    def last_sample(self, space_id: str, addresses: Sequence[str] | None) -> bool:
        if self.not_yet:
            self.not_yet -= 1
            return False
        self.samples.append((space_id, None if addresses is None else tuple(addresses)))
        return True
