"""Build the objects of one broker or router: files, stateful set, service, budget. Pure.

Each instance is a stateful set of one pod with its own files (docs/adr/0007). The pod template has
a digest of the files that the engine does not reload. So a change of one of these makes the cluster
replace the pod, and a change of any other file does not.
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
# Annotation with a digest of what the pod is made from: its spec, and the files read at its start.
RESTART = "waypost.io/restart"
# The limit of a config map or secret (Kubernetes API, "MaxSecretSize").
_LARGEST_BYTES = 1_048_576
# These files grow with the number of addresses, so each gets its own config map.
_GROWING = ("broker.xml", "router.json")
_NODE = "kubernetes.io/hostname"
_GRACE_SECONDS: Mapping[Kind, int] = {Kind.BROKER: 60, Kind.ROUTER: 30}


def build(cluster: Cluster, spec: InstanceSpec) -> Sequence[Manifest]:
    """Return every object of one instance, in the order of creation.

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
    """Return the budget that lets evictions, such as a node drain, stop one instance at a time."""
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
            # Parallel: otherwise a pod that never gets ready blocks the change that repairs it.
            "podManagementPolicy": "Parallel",
            # The API's default. Explicit, so that a manual change of the partition is overwritten.
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
            # Only Waypost deletes volumes, once they are empty or a person agreed.
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


def template_hash(cluster: Cluster) -> str:
    """Return a hash of the pod templates of all spaces, without images and what differs by space.

    It changes when the installation's settings, or a new version of this module, change the pods.
    """
    bare = replace(cluster, images=replace(cluster.images, broker="", router=""))
    nowhere = Namespace("", "", "")
    specs = [InstanceSpec(nowhere, kind, kind.value, {}) for kind in Kind]
    templates: list[object] = [_template(bare, spec) for spec in specs]
    if cluster.endpoint.certificate.source is not CertificateSource.SPACE_CA:
        # Only part of the digest: a change of this text would start a rollout.
        templates.append("public listeners present a key pair of their own")
    return digest(templates)


def with_former_claims(wanted: Manifest, live: Manifest | None) -> Manifest:
    """Return the stateful set with the size and class with which its volume was created.

    The cluster refuses a change of either (Kubernetes documentation, "StatefulSet: Volume Claim
    Templates"). So the storage settings of the installation apply only to new volumes.
    """
    templates = (live or {}).get("spec", {}).get("volumeClaimTemplates")
    if not templates or "volumeClaimTemplates" not in wanted["spec"]:
        return wanted
    (claim,) = wanted["spec"]["volumeClaimTemplates"]
    former = templates[0]["spec"]
    spec = {**claim["spec"], "resources": {"requests": dict(former["resources"]["requests"])}}
    spec.pop("storageClassName", None)
    if former.get("storageClassName"):
        spec["storageClassName"] = former["storageClassName"]
    claims = [{**claim, "spec": spec}]
    return {**wanted, "spec": {**wanted["spec"], "volumeClaimTemplates": claims}}


def with_former(spec: InstanceSpec, live: Sequence[Manifest]) -> InstanceSpec:
    """Return the spec with new content for live files only.

    All other files keep the content of the ``live`` objects, if Waypost wrote it. A file that
    somebody deleted or edited gets the new content: an instance may not start without its file, and
    an edited file may let anybody in.
    """
    former: dict[str, str] = {}
    for manifest in live:
        data = {name: manifest["data"][name] for name in ownership.list_written(manifest)}
        is_secret = manifest["kind"] == "Secret"
        former |= {k: b64decode(v).decode() if is_secret else v for k, v in data.items()}
    kept = {name: text for name, text in former.items() if name not in spec.live_files}
    return replace(spec, files={**spec.files, **kept})


def _template(cluster: Cluster, spec: InstanceSpec) -> Manifest:
    pod = {
        "serviceAccountName": spec.kind.value,
        # The next two are the API's defaults. Explicit, so that manual changes are overwritten.
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,  # no environment variables for the namespace's services
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
        # Puts the end of the log into the status of a container that fails, for ``observed``.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": _mounts(spec),
    }


def _command(cluster: Cluster, spec: InstanceSpec) -> engines.Launch:
    if spec.kind is Kind.ROUTER:
        return engines.router_command("qdrouterd", CONFIG_DIR)
    paths = engines.BrokerPaths(cluster.artemis_home, CONFIG_DIR, DATA_DIR, SCRATCH_DIR)
    class_path = ["-cp", f"{cluster.artemis_home}/lib/*"]
    return engines.as_new_incarnation(
        engines.broker_command(
            cluster.java, paths, spec.memory_mb, class_path, (), has_plugin=cluster.broker_plugin
        )
    )


def _probes(kind: Kind) -> Manifest:
    """Return the probes of an instance.

    * Started: the management port listens. A broker opens it after it has read its journal, which
      may take long, so the startup probe allows an hour. A router opens it after it has read its
      configuration.
    * Ready: a router also listens for clients; otherwise the service would lead them to a closed
      port. Only some brokers have clients, so the worker checks their listener.

    The worker also checks that messages pass. It is not part of readiness, so that a failed peer
    takes no instance out of service.
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
            "defaultMode": 0o440,  # the engine reads by its group
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
    """Spread the instances of one kind over zones and nodes, if possible.

    A soft spread constraint is only one score of the scheduler beside others, such as free memory.
    The anti-affinity for nodes adds a second score. Both count only pods of this namespace.
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
        # The default changes the group of every journal file at every start.
        security["fsGroupChangePolicy"] = "OnRootMismatch"
    return security


def _secret(spec: InstanceSpec) -> Manifest:
    files = {name: text for name, text in spec.files.items() if name in spec.secret_files}
    data = {name: b64encode(text.encode()).decode() for name, text in files.items()}
    return _fitting({**_head("v1", "Secret", spec, spec.name), "type": "Opaque", "data": data})


def _config_maps(spec: InstanceSpec) -> Sequence[Manifest]:
    """Return the config maps of the files without secrets; the second has the file that grows."""
    files = {name: text for name, text in spec.files.items() if name not in spec.secret_files}
    growing = {name: files.pop(name) for name in _GROWING if name in files}
    return [
        _fitting({**_head("v1", "ConfigMap", spec, name), "data": data})
        for name, data in ((spec.name, files), (f"{spec.name}-main", growing))
    ]


def _service(spec: InstanceSpec) -> Manifest:
    """Return the headless service that gives the instance its own DNS name.

    Routers and workers must find the instance before it is ready.
    """
    return {
        **_head("v1", "Service", spec, spec.name),
        "spec": {
            "clusterIP": "None",  # headless
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
    """Return the manifest; raise ``InfraError`` if its data is too large for the cluster."""
    size = sum(len(key) + len(text.encode()) for key, text in manifest["data"].items())
    if size > _LARGEST_BYTES:
        raise InfraError(
            f"The files of {manifest['metadata']['name']} take {size} bytes, and the cluster takes "
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
