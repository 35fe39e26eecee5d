"""The port ``Infra`` on a Kubernetes cluster: one namespace for each address space.

The desired state is in PostgreSQL, so there are no watches and no custom resources. Each reconcile
pass lists the live objects and applies those that differ. Readiness is observed, not awaited.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import structlog

from controlplane.core.reasons import Reason
from workers.infra import engines
from workers.infra.base import (
    EndpointPending,
    EngineImages,
    GivenCertificate,
    InfraError,
    InstanceSpec,
    InstanceStatus,
    Kind,
    Layout,
    Namespace,
    PublicEndpoint,
    ResourceBudget,
)
from workers.infra.kubernetes import (
    difference,
    endpoints,
    instances,
    isolation,
    labels,
    observed,
    public_certificates,
    pull_secrets,
    resources,
    sizes,
)
from workers.infra.kubernetes.api import Api
from workers.infra.kubernetes.cluster import CertificateSource, Cluster
from workers.infra.kubernetes.resources import Manifest, Resource, name_of
from workers.infra.kubernetes.snapshot import Snapshot, marked

logger = structlog.get_logger(__name__)

# Set on a pod when its files changed: any change of a pod makes the kubelet refresh its volumes at
# once instead of within a minute.
_FILES = "waypost.io/files"
_OUTSIDE = (resources.INGRESS, resources.TLS_ROUTE, resources.ROUTE)
_PUBLIC_SPACE = {**labels.OURS, labels.COMPONENT: labels.SPACE_COMPONENT}


class KubernetesInfra:
    """Runs instances as stateful sets. Each reconcile pass over a space uses its own object."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster
        self._snapshots: dict[str, Snapshot] = {}

    def engine_images(self) -> EngineImages:
        images = self._cluster.images
        return EngineImages(images.broker, images.router, instances.template_hash(self._cluster))

    def ensure_namespace(self, namespace: Namespace, budget: ResourceBudget) -> None:
        """Create or update the namespace and its isolation; forget what an earlier pass listed."""
        self._ensure_owned(namespace)
        snapshot = self._snapshots[namespace.name] = self._new_snapshot(namespace)
        with self._rights(namespace, snapshot):
            taken = observed.taken(
                snapshot.of(resources.STATEFUL_SET).values(), snapshot.of(resources.RESOURCE_QUOTA)
            )
            # Without the first object, the namespace itself: ``_ensure_owned`` applied it.
            wanted = list(isolation.build(self._cluster, namespace, budget, taken))[1:]
            wanted += [instances.disruption_budget(namespace, kind) for kind in Kind]
            snapshot.of(resources.SECRET)  # lists them here, where ``_rights`` explains a refusal
            for manifest in wanted:
                _ensure(snapshot, manifest)
        copies = pull_secrets.ensure(self._api, self._cluster, namespace, snapshot)
        snapshot.prune(resources.SECRET, copies, labels.PULL_SECRET)
        for resource in dict.fromkeys(resources.of(manifest) for manifest in wanted):
            keep = [name_of(manifest) for manifest in wanted if manifest["kind"] == resource.kind]
            snapshot.prune(resource, keep, labels.OURS)

    def layout_of(self, namespace: Namespace, kind: Kind, name: str) -> Layout:
        return Layout(
            config_dir=instances.CONFIG_DIR,
            data_dir=instances.DATA_DIR,
            bind_host="0.0.0.0",
            host=f"{name}.{namespace.name}.svc",
            ports={port: sizes.PORTS[port] for port in engines.PORTS[kind]},
        )

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        if spec.kind is Kind.ROUTER and not (spec.image or self._cluster.images.router):
            raise InfraError(
                "This installation has no router image, so it runs brokered spaces only: set "
                "`router.image` in the chart's values.",
                reason=Reason.ROUTER_IMAGE_MISSING,
                retry=False,
            )
        snapshot = self._snapshot(spec.namespace)
        restart_deferred = not may_restart and self._would_restart(spec, snapshot)
        if restart_deferred:
            # A crash may restart the pod at any time: it must then find the files it started with.
            spec = instances.with_former(spec, _files_of(spec, snapshot))
        former = snapshot.of(resources.STATEFUL_SET).get(spec.name)
        for manifest in instances.build(self._cluster, spec):
            if manifest["kind"] != "StatefulSet":
                snapshot.ensure(manifest)
            elif not restart_deferred:
                snapshot.ensure(instances.with_former_claims(manifest, former))
            elif former is not None:
                self._switch_on(former)
        self._refresh_files(spec, snapshot)
        applied = snapshot.of(resources.STATEFUL_SET)[spec.name]
        pods = list(snapshot.of(resources.POD).values())
        status = observed.status(applied, pods, datetime.now(UTC))
        if not status.boot:
            status = replace(status, trouble=self._why_missing(spec))
        return replace(status, restart_deferred=restart_deferred)

    def restart_instance(self, namespace: Namespace, name: str) -> None:
        """Delete the pod: its stateful set creates another one with the same volume."""
        if self._exists(namespace):
            self._api.delete(resources.POD, namespace.name, f"{name}-0")

    def list_instances(self, namespace: Namespace) -> Sequence[InstanceStatus]:
        try:
            pods, found = self._find_instances(namespace)
        except InfraError as error:
            if error.reason != Reason.CLUSTER_FORBIDDEN:
                raise
            if not self._exists(namespace):
                return []  # our rights end with the namespace
            pods, found = self._find_with_rights(namespace)
        if any(self._is_marked_by_another(live) for live in found):
            # Raises, unless the namespace was taken over and only its objects have the old label.
            self._exists(namespace)
        now = datetime.now(UTC)
        return [observed.status(live, pods, now) for live in found if observed.is_instance(live)]

    def delete_instance(
        self, namespace: Namespace, name: str, *, keep_volume: bool = False
    ) -> None:
        if not self._exists(namespace):
            return
        selector = labels.select_instance(name)
        for resource in (
            resources.SERVICE,
            resources.CONFIG_MAP,
            resources.SECRET,
            *([] if keep_volume else [resources.VOLUME_CLAIM]),
        ):
            for live in self._api.list(resource, namespace.name, selector):
                self._api.delete(resource, namespace.name, name_of(live))
        # Last, because the next pass finds a half-deleted instance by its stateful set. By name, so
        # that edited labels do not hide it.
        self._api.delete(resources.STATEFUL_SET, namespace.name, name)
        self._snapshots.pop(namespace.name, None)

    def ensure_endpoint(self, namespace: Namespace, instance: str) -> PublicEndpoint:
        kind = Kind.BROKER if instance.startswith(Kind.BROKER) else Kind.ROUTER
        snapshot = self._snapshot(namespace)
        wanted = endpoints.build(self._cluster, namespace, kind)
        live = [snapshot.ensure(manifest) for manifest in wanted]
        for resource in _OUTSIDE:
            keep = [name_of(manifest) for manifest in wanted if manifest["kind"] == resource.kind]
            snapshot.prune(resource, keep, _PUBLIC_SPACE)
        found = endpoints.find(self._cluster, namespace, live[0])
        inner = (endpoints.inner_host(namespace),)
        if found is None:
            snapshot.forget(resources.SERVICE)  # the next call must see the new address
            raise EndpointPending(endpoints.NO_BALANCER, inner)
        return PublicEndpoint(*found, extra_names=inner, trouble=endpoints.trouble(live))

    def ensure_certificate(
        self, namespace: Namespace, endpoint: PublicEndpoint
    ) -> GivenCertificate | None:
        choice = self._cluster.endpoint.certificate
        snapshot = self._snapshot(namespace)
        if choice.source is CertificateSource.ISSUER:
            wanted = public_certificates.build(choice.issuer, namespace, endpoint.host)
            return public_certificates.issued(snapshot, wanted)
        public_certificates.forget(snapshot, namespace)
        if choice.source is CertificateSource.SECRET:
            where = (self._cluster.control_namespace, choice.secret)
            return public_certificates.supplied(self._api, *where)
        return None

    def delete_endpoint(self, namespace: Namespace) -> None:
        if not self._exists(namespace):
            return
        # Routes before the service that they refer to. The Certificate before its secret, which
        # cert-manager would otherwise create again.
        presented = (resources.CERTIFICATE, resources.SECRET)
        for resource in (*_OUTSIDE, resources.SERVICE, *presented):
            for live in self._list_endpoint(resource, namespace):
                self._api.delete(resource, namespace.name, name_of(live))
        # A space that ends pulls no images, but its namespace may stay with kept volumes.
        for live in self._api.list(resources.SECRET, namespace.name, labels.PULL_SECRET):
            self._api.delete(resources.SECRET, namespace.name, name_of(live))
        self._snapshots.pop(namespace.name, None)

    def delete_namespace(self, namespace: Namespace) -> bool:
        self._snapshots.pop(namespace.name, None)
        live = self._api.find(resources.NAMESPACE, None, namespace.name)
        if live is None:
            return True
        self._check_owner(live, namespace)
        _check_end(live)
        return self._api.delete(resources.NAMESPACE, None, namespace.name)

    def list_namespaces(self) -> Sequence[str]:
        ours = {**labels.OURS, labels.INSTALLATION: self._cluster.installation}
        found = self._api.list(resources.NAMESPACE, None, ours)
        return sorted(name_of(live) for live in found)

    def _list_endpoint(self, resource: Resource, namespace: Namespace) -> Sequence[Manifest]:
        try:
            return self._api.list(resource, namespace.name, _PUBLIC_SPACE)
        except InfraError as error:
            # Without the right to list Certificates the worker never created one.
            if resource is resources.CERTIFICATE and error.reason == Reason.CLUSTER_FORBIDDEN:
                return []
            raise

    def _ensure_owned(self, namespace: Namespace) -> None:
        """Create or update the namespace; raise ``InfraError`` if it belongs to somebody else."""
        live = self._api.find(resources.NAMESPACE, None, namespace.name)
        if live is not None:
            self._check_owner(live, namespace)
            if live["metadata"].get("deletionTimestamp"):
                _check_end(live)
                raise InfraError(
                    f"Somebody deleted the namespace {namespace.name}; it is created again once "
                    "the deletion has finished.",
                    reason=Reason.NAMESPACE_ENDING,
                    retry=True,
                )
        ours = marked(isolation.namespace_object(namespace), self._cluster.installation)
        wanted = difference.stamped(ours)
        if not difference.is_settled(resources.NAMESPACE, wanted, live):
            self._api.apply(wanted)

    def _find_instances(
        self, namespace: Namespace
    ) -> tuple[Sequence[Manifest], Sequence[Manifest]]:
        pods = self._api.list(resources.POD, namespace.name, labels.OURS)
        return pods, self._api.list(resources.STATEFUL_SET, namespace.name, labels.OURS)

    def _find_with_rights(
        self, namespace: Namespace
    ) -> tuple[Sequence[Manifest], Sequence[Manifest]]:
        """Find the instances after restoring the worker's rights, which somebody removed."""
        with self._rights(namespace, self._new_snapshot(namespace)):
            return self._find_instances(namespace)

    @contextmanager
    def _rights(self, namespace: Namespace, snapshot: Snapshot) -> Iterator[None]:
        """Give the worker its rights in the namespace for the block.

        The API server's authorizer reads role bindings from a cache that may lag. So if the binding
        is new, a refusal in the block means "not yet".
        """
        wanted = isolation.role_binding(self._cluster, namespace)
        is_new = name_of(wanted) not in snapshot.of(resources.ROLE_BINDING)
        snapshot.ensure(wanted)
        try:
            yield
        except InfraError as error:
            if is_new and error.reason == Reason.CLUSTER_FORBIDDEN:
                raise InfraError(
                    "The cluster does not apply the worker's new rights in the namespace yet.",
                    reason=Reason.RIGHTS_PENDING,
                    retry=True,
                ) from error
            raise

    def _snapshot(self, namespace: Namespace) -> Snapshot:
        if namespace.name not in self._snapshots:
            self._exists(namespace)
            self._snapshots[namespace.name] = self._new_snapshot(namespace)
        return self._snapshots[namespace.name]

    def _new_snapshot(self, namespace: Namespace) -> Snapshot:
        return Snapshot(self._api, namespace.name, self._cluster.installation)

    def _exists(self, namespace: Namespace) -> bool:
        """Return whether the namespace exists and stays; raise if it is somebody else's."""
        live = self._api.find(resources.NAMESPACE, None, namespace.name)
        if live is None or live["metadata"].get("deletionTimestamp"):
            return False
        self._check_owner(live, namespace)
        return True

    def _check_owner(self, live: Manifest, namespace: Namespace) -> None:
        live_labels = live["metadata"].get("labels", {})
        if not labels.of_space(namespace).items() <= live_labels.items():
            raise InfraError(
                f"The namespace {namespace.name} does not carry the labels of this space: "
                f"{_as_text(labels.of_space(namespace))}. If it is this space's, put them back; if "
                "it is somebody else's, give that another name.",
                reason=Reason.NAMESPACE_TAKEN,
                retry=False,
            )
        if self._is_marked_by_another(live):
            wanted = self._cluster.installation
            raise InfraError(
                f"The namespace {namespace.name} belongs to the installation "
                f"{live_labels[labels.INSTALLATION]} of Waypost, and this is {wanted}. "
                "Two installations cannot share a database: give one of them another. If this one "
                "takes over the other's spaces, stop that one, label their namespaces "
                f"{labels.INSTALLATION}={wanted} and delete the role bindings that it made there.",
                reason=Reason.OTHER_INSTALLATION,
                retry=False,
            )

    def _is_marked_by_another(self, live: Manifest) -> bool:
        """Return whether another installation made it; an object without the label is ours."""
        own = self._cluster.installation
        return bool(live["metadata"].get("labels", {}).get(labels.INSTALLATION, own) != own)

    def _would_restart(self, spec: InstanceSpec, snapshot: Snapshot) -> bool:
        """Return whether the spec changes the pod template of an existing instance.

        It compares our digests, because fields that others added to the template do not count.
        """
        live = snapshot.of(resources.STATEFUL_SET).get(spec.name)
        wanted = instances.stateful_set(self._cluster, spec)
        return live is not None and observed.made_from(live) != observed.made_from(wanted)

    def _why_missing(self, spec: InstanceSpec) -> str:
        """Return why the pod is not created; empty without the right to list events."""
        fields = {"involvedObject.kind": "StatefulSet", "involvedObject.name": spec.name}
        try:
            events = self._api.list(resources.EVENT, spec.namespace.name, {}, fields)
        except InfraError as error:
            if error.reason == Reason.CLUSTER_FORBIDDEN:
                return ""
            raise
        return observed.why_missing(events)

    def _switch_on(self, live: Manifest) -> None:
        """Set one replica again, with the template as it is, if somebody changed the number."""
        one = {"replicas": 1}
        if live["spec"].get("replicas") != one["replicas"]:
            namespace = live["metadata"]["namespace"]
            self._api.merge(resources.STATEFUL_SET, namespace, name_of(live), {"spec": one})

    def _refresh_files(self, spec: InstanceSpec, snapshot: Snapshot) -> None:
        """Make the kubelet refresh the changed files of a running pod."""
        pod = snapshot.of(resources.POD).get(f"{spec.name}-0")
        wanted = difference.digest(dict(spec.files))
        if pod is None or pod["metadata"].get("annotations", {}).get(_FILES) == wanted:
            return
        self._api.annotate(resources.POD, spec.namespace.name, name_of(pod), {_FILES: wanted})


def _check_end(live: Manifest) -> None:
    """Raise ``InfraError`` if the deletion of a namespace takes too long."""
    trouble = observed.ending_trouble(live, datetime.now(UTC))
    if trouble:
        raise InfraError(
            f"The deletion of the namespace {name_of(live)} does not finish: {trouble} Fix what "
            "holds it in the cluster; Waypost then continues automatically.",
            reason=Reason.NAMESPACE_STUCK,
            retry=True,
        )


def _ensure(snapshot: Snapshot, manifest: Manifest) -> None:
    """Apply one object of the isolation; a space also works if metering may not be bound."""
    try:
        snapshot.ensure(manifest)
    except InfraError as error:
        is_metering = name_of(manifest) == isolation.METERING
        if not is_metering or error.reason not in (
            Reason.ADMISSION_REFUSED,
            Reason.CLUSTER_FORBIDDEN,
        ):
            raise
        logger.warning("metering may not be bound: invoices are held", reason=str(error))


def _files_of(spec: InstanceSpec, snapshot: Snapshot) -> Sequence[Manifest]:
    """Return the live objects that hold the instance's files."""
    wanted = labels.select_instance(spec.name).items()
    return [
        live
        for resource in (resources.SECRET, resources.CONFIG_MAP)
        for live in snapshot.of(resource).values()
        if wanted <= live["metadata"].get("labels", {}).items()
    ]


def _as_text(wanted: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in wanted.items())
