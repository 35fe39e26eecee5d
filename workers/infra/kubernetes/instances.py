"""One broker or router as objects: files, stateful set, names, disruption budget. Pure builders.

Each instance is a stateful set of one pod with files of its own (docs/adr/0007). A change of a file
that its engine reloads changes no pod; a change of any other changes the pod template, and the
cluster replaces the pod.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workers.infra import engines
from workers.infra.base import InfraError, InstanceSpec, Kind, Namespace
from workers.infra.kubernetes import labels, ownership, sizes
from workers.infra.kubernetes.cluster import CertificateSource, Cluster
from workers.infra.kubernetes.difference import digest
from workers.infra.kubernetes.resources import Manifest

CONFIG_DIR = "/etc/waypost"
DATA_DIR = "/var/lib/waypost"
SCRATCH_DIR = "/tmp"
# Says what the pod was made from: all of its template, and the files that are read at its start.
RESTART = "waypost.io/restart"
# What a config map or a secret may hold (Kubernetes API, "MaxSecretSize").
_LARGEST_BYTES = 1_048_576
# Grow with the number of addresses, so each has an object of its own.
_GROWING = ("broker.xml", "router.json")
_NODE = "kubernetes.io/hostname"
_GRACE_SECONDS: Mapping[Kind, int] = {Kind.BROKER: 60, Kind.ROUTER: 30}


def build(cluster: Cluster, spec: InstanceSpec) -> Sequence[Manifest]:
    """Return every object of one instance, in order.

    Raises:
        InfraError: the files do not fit into an object.
    """
    return [
        _secret(spec),
        *_config_maps(spec),
        _service(spec),
        stateful_set(cluster, spec),
    ]


def disruption_budget(namespace: Namespace, kind: Kind) -> Manifest:
    """Return "one of a kind at a time" for evictions, as when a node is drained."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {
            "name": kind.value,
            "namespace": namespace.name,
            "labels": labels.of_space(namespace),
        },
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": labels.select_component(kind)},
        },
    }


def stateful_set(cluster: Cluster, spec: InstanceSpec) -> Manifest:
    """Return the stateful set of one instance."""
    return {
        **_head("apps/v1", "StatefulSet", spec, spec.name),
        "spec": {
            "replicas": 1,
            "serviceName": spec.name,
            # Parallel, or a pod that never got ready would block the change that repairs it.
            "podManagementPolicy": "Parallel",
            # The API's default, said so that a partition set by hand is taken back.
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            "persistentVolumeClaimRetentionPolicy": {
                "whenDeleted": "Retain",
                "whenScaled": "Retain",
            },
            "revisionHistoryLimit": 3,
            "selector": {"matchLabels": labels.select_instance(spec.name)},
            "template": _template(cluster, spec),
            **_claims(cluster, spec),
        },
    }


def shape(cluster: Cluster) -> str:
    """Return what stands for the pods of every space, but for their images and what is a space's.

    It differs when the installation's settings or this module make pods in another way.
    """
    bare = replace(cluster, images=replace(cluster.images, broker="", router=""))
    nowhere = Namespace("", "", "")
    specs = [InstanceSpec(nowhere, kind, kind.value, {}) for kind in Kind]
    made: list[object] = [_template(bare, spec) for spec in specs]
    if cluster.endpoint.certificate.source is not CertificateSource.SPACE_CA:
        made.append("public listeners present a key pair of their own")
    return digest(made)


def with_former_claims(wanted: Manifest, live: Manifest | None) -> Manifest:
    """Return the stateful set with the size and class that its volume was made with.

    The cluster refuses a change of either (Kubernetes documentation, "StatefulSet: Volume Claim
    Templates"): what the installation says of storage is for volumes that are still to be made.
    """
    made = (live or {}).get("spec", {}).get("volumeClaimTemplates")
    if not made or "volumeClaimTemplates" not in wanted["spec"]:
        return wanted
    (claim,) = wanted["spec"]["volumeClaimTemplates"]
    former = made[0]["spec"]
    spec = {**claim["spec"], "resources": {"requests": dict(former["resources"]["requests"])}}
    spec.pop("storageClassName", None)
    if former.get("storageClassName"):
        spec["storageClassName"] = former["storageClassName"]
    claims = [{**claim, "spec": spec}]
    return {**wanted, "spec": {**wanted["spec"], "volumeClaimTemplates": claims}}


def with_former(spec: InstanceSpec, live: Sequence[Manifest]) -> InstanceSpec:
    """Return the spec with its live files only; the others are those of the ``live`` objects.

    Only those that we wrote. A file that somebody deleted there, or edited, is given anew: what
    starts without it does not come up, and what starts with it may let anybody in.
    """
    former: dict[str, str] = {}
    for each in live:
        held = {name: each["data"][name] for name in ownership.list_written(each)}
        is_secret = each["kind"] == "Secret"
        former |= {k: b64decode(v).decode() if is_secret else v for k, v in held.items()}
    kept = {name: text for name, text in former.items() if name not in spec.live_files}
    return replace(spec, files={**spec.files, **kept})


def _template(cluster: Cluster, spec: InstanceSpec) -> Manifest:
    pod = {
        "serviceAccountName": spec.kind.value,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS[spec.kind],
        "securityContext": _pod_security(cluster),
        **_spreading(spec),
        "containers": [_container(cluster, spec)],
        "volumes": _volumes(spec),
    }
    cold = {name: text for name, text in spec.files.items() if name not in spec.live_files}
    return {
        "metadata": {
            "labels": labels.of_instance(spec.namespace, spec.kind, spec.name),
            "annotations": {RESTART: digest({"pod": pod, "files": cold})},
        },
        "spec": pod,
    }


def _container(cluster: Cluster, spec: InstanceSpec) -> Manifest:
    memory = sizes.quantity(sizes.container_mb(spec.kind, spec.memory_mb))
    images = cluster.images
    command = _command(cluster, spec)
    return {
        "name": spec.kind.value,
        "image": spec.image or (images.broker if spec.kind is Kind.BROKER else images.router),
        "imagePullPolicy": images.pull_policy,
        "command": list(command.command),
        "env": [{"name": name, "value": value} for name, value in command.environment.items()],
        "ports": [
            {"name": name, "containerPort": sizes.PORTS[name], "protocol": "TCP"}
            for name in engines.PORTS[spec.kind]
        ],
        "resources": {
            "requests": {"cpu": "100m", "memory": memory},
            "limits": {"memory": memory},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **_probes(spec.kind),
        # One that cannot start writes why, and ends: the end of its log is in its status then.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": _mounts(spec),
    }


def _command(cluster: Cluster, spec: InstanceSpec) -> engines.Launch:
    if spec.kind is Kind.ROUTER:
        return engines.router_command(cluster.router_command, CONFIG_DIR)
    places = engines.BrokerPlaces(cluster.artemis_home, CONFIG_DIR, DATA_DIR, SCRATCH_DIR)
    class_path = ["-cp", f"{cluster.artemis_home}/lib/*"]
    return engines.as_new_life(
        engines.broker_command(cluster.java, places, spec.memory_mb, class_path, ())
    )


def _probes(kind: Kind) -> Manifest:
    """Started: it listens where it does only once its journal is open, or its configuration read.

    A broker may read its journal for long: the startup probe gives it an hour. Ready: a router
    listens for clients besides, as its file says from its start, or the service would lead them to
    a closed port; of brokers only some have clients, and the worker asks. Whether messages get
    through is asked by the worker, so that a lost neighbour takes no instance out of service.
    """
    port = {"port": "management"}
    ready = {"port": "amqps"} if kind is Kind.ROUTER else port
    return {
        "startupProbe": {"tcpSocket": port, "periodSeconds": 2, "failureThreshold": 1800},
        "readinessProbe": {"tcpSocket": ready, "periodSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {"tcpSocket": port, "periodSeconds": 30, "failureThreshold": 6},
    }


def _volumes(spec: InstanceSpec) -> list[Manifest]:
    files = {
        "name": "files",
        "projected": {
            "defaultMode": 0o440,
            "sources": [
                {"secret": {"name": spec.name}},
                {"configMap": {"name": spec.name}},
                {"configMap": {"name": f"{spec.name}-main"}},
            ],
        },
    }
    return [files, {"name": "scratch", "emptyDir": {"sizeLimit": "256Mi"}}]


def _mounts(spec: InstanceSpec) -> list[Manifest]:
    mounts: list[Manifest] = [
        {"name": "files", "mountPath": CONFIG_DIR, "readOnly": True},
        {"name": "scratch", "mountPath": SCRATCH_DIR},
    ]
    if spec.kind is Kind.BROKER:
        mounts.append({"name": "data", "mountPath": DATA_DIR})
    return mounts


def _claims(cluster: Cluster, spec: InstanceSpec) -> Manifest:
    if spec.kind is not Kind.BROKER:
        return {}
    claim: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": sizes.quantity(cluster.storage.size_gb * 1024)}},
    }
    if cluster.storage.class_name:
        claim["storageClassName"] = cluster.storage.class_name
    metadata = {
        "name": "data",
        "labels": labels.of_instance(spec.namespace, spec.kind, spec.name),
    }
    return {"volumeClaimTemplates": [{"metadata": metadata, "spec": claim}]}


def _spreading(spec: InstanceSpec) -> Manifest:
    """Keep instances of one kind apart, over zones and over nodes, where that is possible.

    A spread that may be left is one score of the scheduler's among others, as of free memory; the
    rule against a node that has one of the kind already is a second. Both are of this namespace.
    """
    selector = {"matchLabels": labels.select_component(spec.kind)}
    apart = {"labelSelector": selector, "topologyKey": _NODE}
    return {
        "affinity": {
            "podAntiAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 100, "podAffinityTerm": apart}
                ]
            }
        },
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": key,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": selector,
            }
            for key in ("topology.kubernetes.io/zone", _NODE)
        ],
    }


def _pod_security(cluster: Cluster) -> Manifest:
    security: Manifest = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    if cluster.identity.user is not None:
        security["runAsUser"] = cluster.identity.user
    if cluster.identity.group is not None:
        security |= {"runAsGroup": cluster.identity.group, "fsGroup": cluster.identity.group}
        # The default looks at every file of the journal at every start.
        security["fsGroupChangePolicy"] = "OnRootMismatch"
    return security


def _secret(spec: InstanceSpec) -> Manifest:
    held = {name: text for name, text in spec.files.items() if name in spec.secret_files}
    data = {name: b64encode(text.encode()).decode() for name, text in held.items()}
    return _fitting({**_head("v1", "Secret", spec, spec.name), "type": "Opaque", "data": data})


def _config_maps(spec: InstanceSpec) -> Sequence[Manifest]:
    """Return the files that hold no secret, the one that grows in an object of its own."""
    held = {name: text for name, text in spec.files.items() if name not in spec.secret_files}
    growing = {name: held.pop(name) for name in _GROWING if name in held}
    return [
        _fitting({**_head("v1", "ConfigMap", spec, name), "data": data})
        for name, data in ((spec.name, held), (f"{spec.name}-main", growing))
    ]


def _service(spec: InstanceSpec) -> Manifest:
    """Return the instance's own name; routers and workers must find it before it is ready."""
    return {
        **_head("v1", "Service", spec, spec.name),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": labels.select_instance(spec.name),
            "ports": [
                {
                    "name": name,
                    "port": sizes.PORTS[name],
                    "targetPort": sizes.PORTS[name],
                    "protocol": "TCP",
                }
                for name in engines.PORTS[spec.kind]
            ],
        },
    }


def _fitting(manifest: Manifest) -> Manifest:
    size = sum(len(key) + len(text.encode()) for key, text in manifest["data"].items())
    if size > _LARGEST_BYTES:
        raise InfraError(
            f"The files of {manifest['metadata']['name']} take {size} bytes, and the cluster keeps "
            f"{_LARGEST_BYTES} in one object: spread the addresses over more brokers or spaces.",
            reason="ConfigurationTooLarge",
            retry=False,
        )
    return manifest


def _head(api_version: str, kind: str, spec: InstanceSpec, name: str) -> Manifest:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": spec.namespace.name,
            "labels": labels.of_instance(spec.namespace, spec.kind, spec.name),
        },
    }
