"""The ``infra`` contract on a Kubernetes cluster: a namespace for each space.

Desired state is in PostgreSQL, so nothing is watched and no object of ours is read as a wish: each
pass reads what is there, applies what differs, and leaves readiness to be observed.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import structlog

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
    Room,
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

# Set on a pod when its files changed: the kubelet then refreshes them at once, not in a minute.
_FILES = "waypost.io/files"
_OUTSIDE = (resources.INGRESS, resources.TLS_ROUTE, resources.ROUTE)
_PUBLIC_SPACE = {**labels.OURS, labels.COMPONENT: labels.SPACE_COMPONENT}


class KubernetesInfra:
    """Instances as stateful sets. One pass over a space uses one object of this class."""

    def __init__(self, api: Api, cluster: Cluster) -> None:
        self._api = api
        self._cluster = cluster
        self._snapshots: dict[str, Snapshot] = {}

    def engine_images(self) -> EngineImages:
        images = self._cluster.images
        return EngineImages(images.broker, images.router, instances.shape(self._cluster))

    def ensure_namespace(self, namespace: Namespace, room: Room) -> None:
        """Begin a pass: what is known of the namespace is read anew."""
        self._ensure_owned(namespace)
        snapshot = self._snapshots[namespace.name] = self._new_snapshot(namespace)
        with self._rights(namespace, snapshot):
            taken = observed.taken(
                snapshot.of(resources.STATEFUL_SET).values(), snapshot.of(resources.RESOURCE_QUOTA)
            )
            wanted = list(isolation.build(self._cluster, namespace, room, taken))[1:]
            wanted += [instances.disruption_budget(namespace, kind) for kind in Kind]
            snapshot.of(resources.SECRET)
            for manifest in wanted:
                _ensure(snapshot, manifest)
        copies = pull_secrets.ensure(self._api, self._cluster, namespace, snapshot)
        snapshot.prune(resources.SECRET, copies, labels.PULL_SECRET)
        for resource in dict.fromkeys(resources.of(each) for each in wanted):
            keep = [name_of(each) for each in wanted if each["kind"] == resource.kind]
            snapshot.prune(resource, keep, labels.OURS)

    def place(self, namespace: Namespace, kind: Kind, name: str) -> Layout:
        return Layout(
            config_dir=instances.CONFIG_DIR,
            data_dir=instances.DATA_DIR,
            bind_host="0.0.0.0",
            host=f"{name}.{namespace.name}.svc",
            ports={each: sizes.PORTS[each] for each in engines.PORTS[kind]},
        )

    def ensure_instance(self, spec: InstanceSpec, *, may_restart: bool = True) -> InstanceStatus:
        if spec.kind is Kind.ROUTER and not (spec.image or self._cluster.images.router):
            raise InfraError(
                "This installation has no router image, so it runs brokered spaces only: set "
                "`router.image` in the chart's values.",
                reason="RouterImageMissing",
                retry=False,
            )
        snapshot = self._snapshot(spec.namespace)
        held_back = not may_restart and self._would_restart(spec, snapshot)
        if held_back:
            spec = instances.with_former(spec, _files_of(spec, snapshot))
        former = snapshot.of(resources.STATEFUL_SET).get(spec.name)
        for manifest in instances.build(self._cluster, spec):
            if manifest["kind"] != "StatefulSet":
                snapshot.ensure(manifest)
            elif not held_back:
                snapshot.ensure(instances.with_former_claims(manifest, former))
            elif former is not None:
                self._switch_on(former)
        self._refresh_files(spec, snapshot)
        applied = snapshot.of(resources.STATEFUL_SET)[spec.name]
        pods = list(snapshot.of(resources.POD).values())
        status = observed.status(applied, pods, datetime.now(UTC))
        if not status.boot:
            status = replace(status, trouble=self._why_missing(spec))
        return replace(status, held_back=held_back)

    def restart_instance(self, namespace: Namespace, name: str) -> None:
        """Replace the pod: its stateful set makes another one with the same volume."""
        if self._is_there(namespace):
            self._api.delete(resources.POD, namespace.name, f"{name}-0")

    def list_instances(self, namespace: Namespace) -> Sequence[InstanceStatus]:
        try:
            pods, found = self._find_instances(namespace)
        except InfraError as error:
            if error.reason != "ClusterForbidden":
                raise
            if not self._is_there(namespace):
                return []  # our rights in a namespace end with it
            pods, found = self._find_with_rights(namespace)
        if any(self._is_marked_by_another(each) for each in found):
            self._is_there(namespace)  # the namespace decides: it may have been taken over
        now = datetime.now(UTC)
        return [observed.status(each, pods, now) for each in found if observed.is_instance(each)]

    def delete_instance(
        self, namespace: Namespace, name: str, *, keep_volume: bool = False
    ) -> None:
        if not self._is_there(namespace):
            return
        selector = labels.select_instance(name)
        for resource in (
            resources.SERVICE,
            resources.CONFIG_MAP,
            resources.SECRET,
            *([] if keep_volume else [resources.VOLUME_CLAIM]),
        ):
            for each in self._api.list(resource, namespace.name, selector):
                self._api.delete(resource, namespace.name, name_of(each))
        # Last, and by name: by it the next pass finds an instance that is half gone.
        self._api.delete(resources.STATEFUL_SET, namespace.name, name)
        self._snapshots.pop(namespace.name, None)

    def ensure_endpoint(self, namespace: Namespace, instance: str) -> PublicEndpoint:
        kind = Kind.BROKER if instance.startswith(Kind.BROKER) else Kind.ROUTER
        snapshot = self._snapshot(namespace)
        wanted = endpoints.build(self._cluster, namespace, kind)
        live = [snapshot.ensure(each) for each in wanted]
        for resource in _OUTSIDE:
            keep = [name_of(each) for each in wanted if each["kind"] == resource.kind]
            snapshot.prune(resource, keep, _PUBLIC_SPACE)
        found = endpoints.find(self._cluster, namespace, live[0])
        inner = (endpoints.inner_host(namespace),)
        if found is None:
            snapshot.forget(resources.SERVICE)
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
        if not self._is_there(namespace):
            return
        # What leads to the service first; and what asks for a certificate before its secret.
        shown = (resources.CERTIFICATE, resources.SECRET)
        for resource in (*_OUTSIDE, resources.SERVICE, *shown):
            for each in self._list_endpoint(resource, namespace):
                self._api.delete(resource, namespace.name, name_of(each))
        # Nothing is pulled for a space that ends; its namespace may stay with kept volumes.
        for each in self._api.list(resources.SECRET, namespace.name, labels.PULL_SECRET):
            self._api.delete(resources.SECRET, namespace.name, name_of(each))
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
        return sorted(name_of(each) for each in found)

    def _list_endpoint(self, resource: Resource, namespace: Namespace) -> Sequence[Manifest]:
        try:
            return self._api.list(resource, namespace.name, _PUBLIC_SPACE)
        except InfraError as error:
            # Who may not look at certificates made none.
            if resource is resources.CERTIFICATE and error.reason == "ClusterForbidden":
                return []
            raise

    def _ensure_owned(self, namespace: Namespace) -> None:
        """Make the namespace; one of that name that belongs to somebody else is left alone."""
        live = self._api.find(resources.NAMESPACE, None, namespace.name)
        if live is not None:
            self._check_owner(live, namespace)
            if live["metadata"].get("deletionTimestamp"):
                _check_end(live)
                raise InfraError(
                    f"Somebody deleted the namespace {namespace.name}; it is made again once it "
                    "has ended.",
                    reason="NamespaceEnding",
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
        """Give the worker its rights again, if somebody took them: a space that ends needs them."""
        with self._rights(namespace, self._new_snapshot(namespace)):
            return self._find_instances(namespace)

    @contextmanager
    def _rights(self, namespace: Namespace, snapshot: Snapshot) -> Iterator[None]:
        """Give the worker its rights, and take a refusal for "not yet" where they are new.

        The API server's authorizer reads role bindings from a cache that follows its writes.
        """
        wanted = isolation.role_binding(self._cluster, namespace)
        is_new = name_of(wanted) not in snapshot.of(resources.ROLE_BINDING)
        snapshot.ensure(wanted)
        try:
            yield
        except InfraError as error:
            if is_new and error.reason == "ClusterForbidden":
                raise InfraError(
                    "The worker's rights in the namespace are on their way.",
                    reason="RightsPending",
                    retry=True,
                ) from error
            raise

    def _snapshot(self, namespace: Namespace) -> Snapshot:
        if namespace.name not in self._snapshots:
            self._is_there(namespace)
            self._snapshots[namespace.name] = self._new_snapshot(namespace)
        return self._snapshots[namespace.name]

    def _new_snapshot(self, namespace: Namespace) -> Snapshot:
        return Snapshot(self._api, namespace.name, self._cluster.installation)

    def _is_there(self, namespace: Namespace) -> bool:
        """Return whether the namespace is there and will be; refuses that of somebody else."""
        live = self._api.find(resources.NAMESPACE, None, namespace.name)
        if live is None or live["metadata"].get("deletionTimestamp"):
            return False
        self._check_owner(live, namespace)
        return True

    def _check_owner(self, live: Manifest, namespace: Namespace) -> None:
        held = live["metadata"].get("labels", {})
        if not labels.of_space(namespace).items() <= held.items():
            raise InfraError(
                f"The namespace {namespace.name} does not carry the labels of this space: "
                f"{_told(labels.of_space(namespace))}. If it is this space's, put them back; if it "
                "is somebody else's, give that another name.",
                reason="NamespaceTaken",
                retry=False,
            )
        if self._is_marked_by_another(live):
            wanted = self._cluster.installation
            raise InfraError(
                f"The namespace {namespace.name} belongs to the installation "
                f"{held[labels.INSTALLATION]} of Waypost, and this is {wanted}. Two installations "
                "cannot share a database: give one of them another. If this one takes over the "
                "other's spaces, stop that one, label their namespaces "
                f"{labels.INSTALLATION}={wanted} and delete the role bindings that it made there.",
                reason="OtherInstallation",
                retry=False,
            )

    def _is_marked_by_another(self, live: Manifest) -> bool:
        """Return whether another installation made it; what nobody has marked yet is ours."""
        own = self._cluster.installation
        return bool(live["metadata"].get("labels", {}).get(labels.INSTALLATION, own) != own)

    def _would_restart(self, spec: InstanceSpec, snapshot: Snapshot) -> bool:
        """Return whether the spec changes what the pod of an instance that is there is made from.

        By its digest: what others wrote into the template is no change of ours.
        """
        live = snapshot.of(resources.STATEFUL_SET).get(spec.name)
        wanted = instances.stateful_set(self._cluster, spec)
        return live is not None and observed.made_from(live) != observed.made_from(wanted)

    def _why_missing(self, spec: InstanceSpec) -> str:
        """Return why the pod is not made; asked only where it is missing.

        Without the right to look it is as if nobody said why.
        """
        fields = {"involvedObject.kind": "StatefulSet", "involvedObject.name": spec.name}
        try:
            events = self._api.list(resources.EVENT, spec.namespace.name, {}, fields)
        except InfraError as error:
            if error.reason == "ClusterForbidden":
                return ""
            raise
        return observed.why_missing(events)

    def _switch_on(self, live: Manifest) -> None:
        """Have a pod made, by the template as it is, where somebody scaled to none or to many."""
        one = {"replicas": 1}
        if live["spec"].get("replicas") != one["replicas"]:
            namespace = live["metadata"]["namespace"]
            self._api.merge(resources.STATEFUL_SET, namespace, name_of(live), {"spec": one})

    def _refresh_files(self, spec: InstanceSpec, snapshot: Snapshot) -> None:
        """Let a running pod see its changed files soon."""
        pod = snapshot.of(resources.POD).get(f"{spec.name}-0")
        wanted = difference.digest(dict(spec.files))
        if pod is None or pod["metadata"].get("annotations", {}).get(_FILES) == wanted:
            return
        self._api.annotate(resources.POD, spec.namespace.name, name_of(pod), {_FILES: wanted})


def _check_end(live: Manifest) -> None:
    """Refuse a namespace that should have ended by now."""
    held_up = observed.ending_trouble(live, datetime.now(UTC))
    if held_up:
        raise InfraError(
            f"The namespace {name_of(live)} does not end: {held_up} Mend what holds it in the "
            "cluster; Waypost goes on by itself then.",
            reason="NamespaceStuck",
            retry=True,
        )


def _ensure(snapshot: Snapshot, manifest: Manifest) -> None:
    """Apply one object of the isolation; where metering may not be bound, the space goes on."""
    try:
        snapshot.ensure(manifest)
    except InfraError as error:
        is_metering = name_of(manifest) == isolation.METERING
        if not is_metering or error.reason not in ("AdmissionRefused", "ClusterForbidden"):
            raise
        logger.warning("metering may not be bound: invoices are held", reason=str(error))


def _files_of(spec: InstanceSpec, snapshot: Snapshot) -> Sequence[Manifest]:
    """Return the live objects that hold the instance's files."""
    wanted = labels.select_instance(spec.name).items()
    return [
        each
        for resource in (resources.SECRET, resources.CONFIG_MAP)
        for each in snapshot.of(resource).values()
        if wanted <= each["metadata"].get("labels", {}).items()
    ]


def _told(wanted: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in wanted.items())
