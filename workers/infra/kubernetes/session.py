"""The port ``Session`` on Kubernetes: the work of one pass in the namespace of one space.

``workers.infra.base`` documents the methods. A session lists each kind of object when it first
needs it, and keeps the list (``snapshot``). ``ensure_namespace`` and the methods that delete drop
the lists. ``list_instances`` does not use them: it always reads what exists now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from controlplane.core.causes import Cause
from controlplane.core.instance_names import InstanceId, Kind, Listener
from controlplane.core.reasons import Reason
from workers.infra.base import (
    EndpointPending,
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
from workers.infra.kubernetes import (
    instances,
    isolation,
    labels,
    observed,
    pods,
    public_certificates,
    pull_secrets,
    resources,
    sizes,
)
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import CertificateSource, Cluster
from workers.infra.kubernetes.difference import digest
from workers.infra.kubernetes.endpoints import kind as endpoint_kind
from workers.infra.kubernetes.endpoints import registry
from workers.infra.kubernetes.namespaces import SpaceNamespace
from workers.infra.kubernetes.reported import Files, Pod, Reported, StatefulSet
from workers.infra.kubernetes.resources import Applied, Resource, name_of
from workers.infra.kubernetes.snapshot import Snapshot

logger = structlog.get_logger(__name__)

# An annotation with a digest of the instance's files, set on the pod when they change. Any change
# of a pod makes the kubelet refresh its volumes at once instead of within a minute.
_FILES = "waypost.io/files"
# Labels of the objects of endpoints.
_PUBLIC_SPACE = {**labels.OURS, labels.COMPONENT: labels.SPACE_COMPONENT}


class KubernetesSession:
    """Reads and writes the objects in the namespace of one space.

    It refuses to work in a namespace that belongs to somebody else (``SpaceNamespace``).
    """

    def __init__(self, api: Api, cluster: Cluster, namespace: Namespace) -> None:
        self._api = api
        self._cluster = cluster
        self._namespace = namespace
        self._space = SpaceNamespace(api, cluster, namespace)
        self._snapshot: Snapshot | None = None
        self._is_closed = False

    def close(self) -> None:
        """End the session; later calls of methods that use a snapshot raise ``RuntimeError``."""
        self._is_closed = True
        self._snapshot = None

    def ensure_namespace(self, budget: ResourceBudget) -> None:
        self._check_open()
        self._space.ensure()
        snapshot = self._snapshot = self._space.new_snapshot()
        with self._space.rights(snapshot):
            taken = observed.taken(
                snapshot.of(resources.STATEFUL_SET).values(), snapshot.of(resources.RESOURCE_QUOTA)
            )
            wanted = [
                *isolation.inside(self._cluster, self._namespace, budget, taken),
                *(instances.disruption_budget(self._namespace, kind) for kind in Kind),
            ]
            # Listed now for ``pull_secrets``, because in this block ``rights`` explains a refusal.
            snapshot.of(resources.SECRET)
            for part in wanted:
                _ensure(snapshot, part)
        copies = pull_secrets.ensure(self._api, self._cluster, self._namespace, snapshot)
        snapshot.prune(resources.SECRET, copies, labels.PULL_SECRET)
        for resource in dict.fromkeys(resources.of(part) for part in wanted):
            keep = [name_of(part) for part in wanted if resources.of(part) is resource]
            snapshot.prune(resource, keep, labels.OURS)

    def layout_of(self, kind: Kind, name: str) -> Layout:
        return Layout(
            config_dir=pods.CONFIG_DIR,
            data_dir=pods.DATA_DIR,
            bind_host="0.0.0.0",
            host=f"{name}.{self._namespace.name}.svc",
            ports={
                port: sizes.PORTS[port] for port in (*REGISTRY[kind].listeners, Listener.HEALTH)
            },
        )

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        check_namespace(spec, self._namespace)
        if spec.kind is Kind.ROUTER and not (spec.image or self._cluster.images.router):
            raise InfraError(
                "This installation has no router image, so it runs brokered spaces only: set "
                "`router.image` in the chart's values.",
                reason=Reason.ROUTER_IMAGE_MISSING,
                retry=False,
            )
        former = self._seen.of(resources.STATEFUL_SET).get(spec.name)
        restart_deferred = not may_restart and self._would_restart(spec, former)
        if restart_deferred:
            # A crash may restart the pod at any time. It must then find the files that it started
            # with.
            spec = instances.with_former(spec, self._files_of(spec))
        for part in instances.attached(spec):
            self._seen.ensure(part)
        if not restart_deferred:
            wanted = instances.stateful_set(self._cluster, spec)
            self._seen.ensure(instances.with_former_claims(wanted, former))
        elif former is not None:
            self._switch_on(former)
        self._refresh_files(spec)
        applied = self._seen.of(resources.STATEFUL_SET)[spec.name]
        found = list(self._seen.of(resources.POD).values())
        status = observed.status(applied, found, datetime.now(UTC))
        if not status.boot:
            why = self._why_missing(spec)
            status = replace(status, trouble=why, cause=Cause.PLATFORM if why else status.cause)
        return replace(status, restart_deferred=restart_deferred)

    def restart_instance(self, name: str) -> None:
        """Delete the pod, if there is one. Its stateful set recreates it with the same volume."""
        if self._space.exists():
            self._api.delete(resources.POD, self._namespace.name, f"{name}-0")

    def list_instances(self) -> Sequence[InstanceStatus]:
        try:
            seen, found = self._find_instances()
        except InfraError as error:
            if error.reason != Reason.CLUSTER_FORBIDDEN:
                raise
            if not self._space.exists():
                return []  # the worker's rights ended with the namespace
            # Somebody removed the worker's rights: restore them, then look again.
            with self._space.rights(self._space.new_snapshot()):
                seen, found = self._find_instances()
        if any(self._space.is_marked_by_another(live) for live in found):
            # Raises if the namespace is another installation's. Does nothing if this installation
            # has taken it over, and only the objects in it still have the old label.
            self._space.exists()
        now = datetime.now(UTC)
        return [observed.status(live, seen, now) for live in found if observed.is_instance(live)]

    def delete_instance(self, name: str, *, keep_volume: bool = False) -> None:
        if not self._space.exists():
            return
        selector = labels.select_instance(name)
        for resource in (
            resources.SERVICE,
            resources.CONFIG_MAP,
            resources.SECRET,
            *([] if keep_volume else [resources.VOLUME_CLAIM]),
        ):
            self._delete_all(resource, selector)
        # Last, because after a crash the next pass finds the rest of the instance by its stateful
        # set. By name, so that edited labels do not hide it.
        self._api.delete(resources.STATEFUL_SET, self._namespace.name, name)
        self._snapshot = None

    def ensure_endpoint(self, instance: str, former_port: int | None = None) -> PublicEndpoint:
        choice, kind = self._cluster.endpoint, InstanceId.parse(instance).kind
        self._apply_endpoint(kind, former_port)
        outside = choice.strategy.outside
        # Delete the Ingress or route of the endpoint kind that was configured before.
        for resource in registry.OUTSIDE:
            keep = [endpoint_kind.NAME] if resource is outside else []
            self._seen.prune(resource, keep, _PUBLIC_SPACE)
        service = self._seen.of(resources.SERVICE)[endpoint_kind.NAME]
        lead = self._seen.of(outside)[endpoint_kind.NAME] if outside else None
        found = choice.strategy.address(choice, self._namespace, service)
        inner = (endpoint_kind.inner_host(self._namespace),)
        if found is None:
            self._seen.forget(resources.SERVICE)  # the next call must see the new address
            raise EndpointPending(choice.strategy.pending, inner)
        trouble = choice.strategy.trouble(service, lead)
        return PublicEndpoint(*found, extra_names=inner, trouble=trouble)

    def ensure_certificate(self, endpoint: PublicEndpoint) -> GivenCertificate | None:
        choice = self._cluster.endpoint.certificate
        if choice.source is CertificateSource.ISSUER:
            wanted = public_certificates.build(choice.issuer, self._namespace, endpoint.host)
            return public_certificates.issued(self._seen, wanted)
        public_certificates.forget(self._seen, self._namespace)
        if choice.source is CertificateSource.SECRET:
            where = (self._cluster.control_namespace, choice.secret)
            return public_certificates.supplied(self._api, *where)
        return None

    def delete_endpoint(self) -> None:
        if not self._space.exists():
            return
        # Routes and ingresses before the service, because they refer to it.
        for resource in (*registry.OUTSIDE, resources.SERVICE):
            self._delete_all(resource, _PUBLIC_SPACE)
        try:
            # Before its Secret, which cert-manager would otherwise create again.
            self._delete_all(public_certificates.CERTIFICATE, _PUBLIC_SPACE)
        except InfraError as error:
            # Without the right to list Certificates the worker never created one.
            if error.reason != Reason.CLUSTER_FORBIDDEN:
                raise
        self._delete_all(resources.SECRET, _PUBLIC_SPACE)
        # A space that ends pulls no images, but its namespace may stay with kept volumes.
        self._delete_all(resources.SECRET, labels.PULL_SECRET)
        self._snapshot = None

    def delete_namespace(self) -> bool:
        self._snapshot = None
        return self._space.delete()

    @property
    def _seen(self) -> Snapshot:
        """The snapshot of the namespace's objects; created when first used.

        Raises:
            InfraError: the namespace belongs to somebody else; checked at the creation.
            RuntimeError: the session has ended.
        """
        self._check_open()
        if self._snapshot is None:
            self._space.exists()  # raises if the namespace is somebody else's
            self._snapshot = self._space.new_snapshot()
        return self._snapshot

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError(f"the session in {self._namespace.name} has ended")

    def _delete_all(self, resource: Resource[Reported], selector: Mapping[str, str]) -> None:
        for live in self._api.list(resource, self._namespace.name, selector):
            self._api.delete(resource, self._namespace.name, live.name)

    def _find_instances(self) -> tuple[Sequence[Pod], Sequence[StatefulSet]]:
        where = self._namespace.name
        found = self._api.list(resources.POD, where, labels.OURS)
        return found, self._api.list(resources.STATEFUL_SET, where, labels.OURS)

    def _would_restart(self, spec: InstanceSpec, live: StatefulSet | None) -> bool:
        """Return whether ``spec`` would make the cluster replace the pod of the instance.

        False if there is no instance (``live`` is None). Only the digests in the templates are
        compared: what others added to the template does not count.
        """
        if live is None:
            return False
        wanted = pods.template(self._cluster, spec).metadata
        made_from = pods.made_from(live.spec.template.metadata.annotations)
        return wanted is None or pods.made_from(wanted.annotations) != made_from

    def _files_of(self, spec: InstanceSpec) -> Sequence[Files]:
        """Return the live Secret and config maps of the instance."""
        wanted = labels.select_instance(spec.name).items()
        return [
            live
            for resource in (resources.SECRET, resources.CONFIG_MAP)
            for live in self._seen.of(resource).values()
            if wanted <= live.metadata.labels.items()
        ]

    def _why_missing(self, spec: InstanceSpec) -> str:
        """Return why the instance has no pod, from the events of its stateful set.

        Empty if the events do not say, or if the worker may not read them.
        """
        fields = {"involvedObject.kind": "StatefulSet", "involvedObject.name": spec.name}
        try:
            events = self._api.list(resources.EVENT, self._namespace.name, {}, fields)
        except InfraError as error:
            if error.reason == Reason.CLUSTER_FORBIDDEN:
                return ""
            raise
        return observed.why_missing(events)

    def _apply_endpoint(self, kind: Kind, former_port: int | None) -> None:
        """Apply the endpoint's objects, which lead to the instances of ``kind``.

        The endpoint gets ``former_port`` if the cluster can assign it, otherwise another port.
        """
        choice = self._cluster.endpoint
        build = choice.strategy.build
        # Not the fixed port of an endpoint of another kind, which the space had before.
        is_of_nodes = (
            choice.strategy.client_port is None and former_port not in registry.FIXED_PORTS
        )
        if former_port is not None and is_of_nodes:
            try:
                for part in build(choice, self._namespace, kind, former_port):
                    self._seen.ensure(part)
                return
            except InfraError as error:
                # Another service has the port, or it is outside this cluster's range.
                if error.reason != Reason.OBJECT_REFUSED:
                    raise
                logger.warning("endpoint gets another port", port=former_port, reason=str(error))
        for part in build(choice, self._namespace, kind):
            self._seen.ensure(part)

    def _switch_on(self, live: StatefulSet) -> None:
        """Set the number of replicas to 1 if somebody changed it; leave the template as it is."""
        if live.spec.replicas != 1:
            one = {"spec": {"replicas": 1}}
            self._api.merge(resources.STATEFUL_SET, self._namespace.name, live.name, one)

    def _refresh_files(self, spec: InstanceSpec) -> None:
        """If the files changed, annotate the pod, so that the kubelet refreshes them at once."""
        pod = self._seen.of(resources.POD).get(f"{spec.name}-0")
        wanted = digest(dict(spec.files))
        if pod is not None and pod.metadata.annotations.get(_FILES) != wanted:
            self._api.annotate(resources.POD, self._namespace.name, pod.name, {_FILES: wanted})


def _ensure(snapshot: Snapshot, wanted: Applied) -> None:
    """Apply one object of the space unless it matches already.

    If the cluster refuses metering's role binding, this is only logged: messages pass without the
    binding, but invoices are held, because metering cannot read the instances.
    """
    try:
        snapshot.ensure(wanted)
    except InfraError as error:
        is_metering = name_of(wanted) == isolation.METERING
        if not is_metering or error.reason not in (
            Reason.ADMISSION_REFUSED,
            Reason.CLUSTER_FORBIDDEN,
        ):
            raise
        logger.warning("metering may not be bound: invoices are held", reason=str(error))
