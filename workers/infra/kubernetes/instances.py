"""Build the objects of one instance: Secret, config maps, service, stateful set. Pure.

Each instance is a stateful set of one pod with its own files (docs/adr/0007). ``pods`` builds the
pod template.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind
from controlplane.core.reasons import Reason
from workers.infra.base import InfraError, InstanceSpec, Namespace
from workers.infra.kinds import REGISTRY
from workers.infra.kubernetes import labels, ownership, pods, reported, sizes
from workers.infra.kubernetes.cluster import CertificateSource, Cluster
from workers.infra.kubernetes.difference import digest
from workers.infra.kubernetes.objects import (
    instance_metadata,
    json_of,
    selector_of,
    space_metadata,
)
from workers.infra.kubernetes.resources import Applied

# The limit of a config map or secret (Kubernetes API, "MaxSecretSize").
_LARGEST_BYTES = 1_048_576
_ACCESS_MODES = ["ReadWriteOnce"]  # one node at a time mounts a journal


def build(cluster: Cluster, spec: InstanceSpec) -> Sequence[Applied]:
    """Return the objects of one instance, in the order of creation.

    Raises:
        InfraError: the files do not fit into an object.
    """
    return [*attached(spec), stateful_set(cluster, spec)]


def attached(spec: InstanceSpec) -> Sequence[Applied]:
    """Return the objects that the pod needs before it starts: its files and its DNS name.

    Raises:
        InfraError: the files do not fit into an object.
    """
    return [secret(spec), *config_maps(spec), service(spec)]


def disruption_budget(namespace: Namespace, kind: Kind) -> k8s.V1PodDisruptionBudget:
    """Return the budget that lets node drains stop at most one ready pod of the kind at a time.

    Pods that are not ready may always be evicted.
    """
    return k8s.V1PodDisruptionBudget(
        metadata=space_metadata(namespace, kind.value),
        spec=k8s.V1PodDisruptionBudgetSpec(
            max_unavailable=1,
            selector=selector_of(kind),
            # A pod that is not ready serves nobody, so it must not block the drain of its node.
            unhealthy_pod_eviction_policy="AlwaysAllow",
        ),
    )


def stateful_set(cluster: Cluster, spec: InstanceSpec) -> k8s.V1StatefulSet:
    """Return the stateful set of one instance: one replica, and a claim if it needs a volume.

    A broker needs a volume unless ``spec.persistent`` is False.
    """
    has_claim = REGISTRY[spec.kind].has_volume and spec.persistent
    return k8s.V1StatefulSet(
        metadata=instance_metadata(spec, spec.name),
        spec=k8s.V1StatefulSetSpec(
            replicas=1,
            service_name=spec.name,
            # With the default, OrderedReady, a pod that never gets ready is never replaced, not
            # even by the change that repairs it (Kubernetes documentation, "Forced rollback").
            pod_management_policy="Parallel",
            # The API's default. Explicit, so that a manual change of the partition is overwritten.
            update_strategy=k8s.V1StatefulSetUpdateStrategy(
                type="RollingUpdate",
                rolling_update=k8s.V1RollingUpdateStatefulSetStrategy(partition=0),
            ),
            # Only Waypost deletes volumes, once they are empty or a person agreed.
            persistent_volume_claim_retention_policy=(
                k8s.V1StatefulSetPersistentVolumeClaimRetentionPolicy(
                    when_deleted="Retain", when_scaled="Retain"
                )
            ),
            revision_history_limit=3,
            selector=k8s.V1LabelSelector(match_labels=labels.select_instance(spec.name)),
            template=pods.template(cluster, spec),
            # None leaves the field out. An empty list would be part of the object's digest.
            volume_claim_templates=[_claim(cluster, spec)] if has_claim else None,
        ),
    )


def template_hash(cluster: Cluster) -> str:
    """Return a hash of the pod templates, without images and without what differs between spaces.

    It changes when the installation's settings or another version of Waypost change the pods. It
    also changes when the installation begins or ceases to provide public certificates.
    """
    bare = replace(cluster, images=replace(cluster.images, broker="", router=""))
    nowhere = Namespace("", "", "")
    specs = [InstanceSpec(nowhere, kind, kind.value, {}) for kind in Kind]
    templates: list[object] = [json_of(pods.template(bare, spec)) for spec in specs]
    if cluster.endpoint.certificate.source is not CertificateSource.SPACE_CA:
        # This text only enters the digest. Another text would start a rollout.
        templates.append("public listeners present a key pair of their own")
    return digest(templates)


def with_former_claims(
    wanted: k8s.V1StatefulSet, live: reported.StatefulSet | None
) -> k8s.V1StatefulSet:
    """Return ``wanted`` with the size and storage class that the volume was created with.

    It is unchanged if there is no ``live`` stateful set, or no volume claim. The cluster refuses
    a change of either (Kubernetes documentation, "StatefulSet: Volume Claim Templates"). So the
    storage settings of the installation apply only to new volumes.
    """
    former = live.spec.volume_claim_templates if live else ()
    if not former or wanted.spec is None or not wanted.spec.volume_claim_templates:
        return wanted
    claim = k8s.V1PersistentVolumeClaimSpec(
        access_modes=_ACCESS_MODES,
        resources=k8s.V1VolumeResourceRequirements(
            requests=dict(former[0].spec.resources.requests)
        ),
        storage_class_name=former[0].spec.storage_class_name or None,
    )
    (template,) = wanted.spec.volume_claim_templates
    templates = [template.model_copy(update={"spec": claim})]
    spec = wanted.spec.model_copy(update={"volume_claim_templates": templates})
    return wanted.model_copy(update={"spec": spec})


def with_former(spec: InstanceSpec, live: Sequence[reported.Files]) -> InstanceSpec:
    """Return ``spec`` with its live files, and with all other files as the cluster has them now.

    ``live`` are the Secret and the config maps of the instance. A file that somebody else deleted
    or edited there gets the content in ``spec``: an instance may not start without its file, and an
    edited file may let anybody in.
    """
    former: dict[str, str] = {}
    for found in live:
        data = {name: found.data[name] for name in ownership.list_written(found)}
        is_secret = found.kind == "Secret"
        former |= {k: b64decode(v).decode() if is_secret else v for k, v in data.items()}
    kept = {name: text for name, text in former.items() if name not in spec.live_files}
    return replace(spec, files={**spec.files, **kept})


def secret(spec: InstanceSpec) -> k8s.V1Secret:
    """Return the Secret with the files in ``spec.secret_files``.

    Raises:
        InfraError: the files do not fit into an object.
    """
    files = {name: text for name, text in spec.files.items() if name in spec.secret_files}
    data = {name: b64encode(text.encode()).decode() for name, text in files.items()}
    _check_size(spec.name, data)
    return k8s.V1Secret(metadata=instance_metadata(spec, spec.name), type="Opaque", data={**data})


def config_maps(spec: InstanceSpec) -> Sequence[k8s.V1ConfigMap]:
    """Return the two config maps with the files that are not in ``spec.secret_files``.

    The second has only ``InstanceKind.growing_file``, so that this file may fill an object alone.

    Raises:
        InfraError: the files do not fit into an object.
    """
    files = {name: text for name, text in spec.files.items() if name not in spec.secret_files}
    grows = REGISTRY[spec.kind].growing_file
    growing = {grows: files.pop(grows)} if grows in files else {}
    found = []
    for name, data in ((spec.name, files), (f"{spec.name}-main", growing)):
        _check_size(name, data)
        found.append(k8s.V1ConfigMap(metadata=instance_metadata(spec, name), data=data))
    return found


def service(spec: InstanceSpec) -> k8s.V1Service:
    """Return the headless service that gives the instance its own DNS name.

    The name resolves even before the instance is ready, because routers and workers connect then.
    """
    return k8s.V1Service(
        metadata=instance_metadata(spec, spec.name),
        spec=k8s.V1ServiceSpec(
            cluster_ip="None",  # headless
            publish_not_ready_addresses=True,
            selector=labels.select_instance(spec.name),
            ports=[
                k8s.V1ServicePort(
                    name=name.value,
                    port=sizes.PORTS[name],
                    target_port=sizes.PORTS[name],
                    protocol="TCP",
                )
                for name in REGISTRY[spec.kind].listeners
            ],
        ),
    )


def _claim(cluster: Cluster, spec: InstanceSpec) -> k8s.V1PersistentVolumeClaim:
    """Return the claim template from which the cluster creates the instance's volume."""
    profile = cluster.profile(spec.placement)
    size = sizes.quantity((spec.disk_gb or cluster.storage.size_gb) * 1024)
    return k8s.V1PersistentVolumeClaim(
        metadata=k8s.V1ObjectMeta(
            name=pods.DATA_VOLUME,
            labels=labels.of_instance(spec.namespace, spec.kind, spec.name),
        ),
        spec=k8s.V1PersistentVolumeClaimSpec(
            access_modes=_ACCESS_MODES,
            resources=k8s.V1VolumeResourceRequirements(requests={"storage": size}),
            storage_class_name=profile.storage_class or cluster.storage.class_name or None,
        ),
    )


def _check_size(name: str, data: Mapping[str, str]) -> None:
    """Raise ``InfraError`` if the data is too large for one object of the cluster."""
    size = sum(len(key) + len(text.encode()) for key, text in data.items())
    if size > _LARGEST_BYTES:
        raise InfraError(
            f"The files of {name} take {size} bytes, and the cluster takes "
            f"{_LARGEST_BYTES} in one object: spread the addresses over more brokers or spaces.",
            reason=Reason.CONFIGURATION_TOO_LARGE,
            retry=False,
        )
