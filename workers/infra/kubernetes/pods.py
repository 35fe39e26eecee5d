"""Build the pod template of an instance. Pure.

The template has a digest of the pod's spec and of the files that the engine does not reload. So the
cluster replaces the pod if one of these changes, but not if another file does. Whoever changes what
this module builds starts a rollout that restarts every instance.
"""

from collections.abc import Mapping

from kubernetes import client as k8s

from controlplane.core.instance_names import Listener
from workers.infra.base import InstanceSpec
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import Container
from workers.infra.kubernetes import labels, probes, sizes
from workers.infra.kubernetes.cluster import Cluster, PlacementProfile
from workers.infra.kubernetes.difference import digest
from workers.infra.kubernetes.objects import json_of, selector_of

CONFIG_DIR = "/etc/waypost"
DATA_DIR = "/var/lib/waypost"
SCRATCH_DIR = "/tmp"
# Annotation of the pod: a digest of its spec, and of the files that the engine reads at its start.
RESTART = "waypost.io/restart"
DATA_VOLUME = "data"  # name of the volume of a broker's journal
_FILES_VOLUME, _SCRATCH_VOLUME = "files", "scratch"
_NODE = "kubernetes.io/hostname"


def template(cluster: Cluster, spec: InstanceSpec) -> k8s.V1PodTemplateSpec:
    """Return the pod template of an instance, with the digest that decides about restarts.

    The pods of a kind are spread over zones and nodes, as far as possible.
    """
    selector = selector_of(spec.kind)
    profile = cluster.profile(spec.placement)
    pod = k8s.V1PodSpec(
        service_account_name=spec.kind.value,
        # The next two values are the API's defaults. They are set so that Waypost overwrites manual
        # changes of them.
        dns_policy="ClusterFirst",
        scheduler_name="default-scheduler",
        automount_service_account_token=False,
        enable_service_links=False,  # no environment variables for the namespace's services
        termination_grace_period_seconds=REGISTRY[spec.kind].grace_seconds,
        security_context=security_context(cluster),
        # None leaves a field out, so that the digest of a pod without a profile stays the same.
        node_selector=dict(profile.node_selector) or None,
        tolerations=tolerations(profile) or None,
        priority_class_name=profile.priority_class or None,
        affinity=apart(selector),
        topology_spread_constraints=[
            k8s.V1TopologySpreadConstraint(
                max_skew=1,
                topology_key=key,
                when_unsatisfiable="ScheduleAnyway",
                label_selector=selector,
            )
            for key in ("topology.kubernetes.io/zone", _NODE)
        ],
        containers=[container(cluster, spec)],
        volumes=volumes(spec),
    )
    marked = {"annotations": dict(profile.pod_annotations)} if profile.pod_annotations else {}
    cold = {name: text for name, text in spec.files.items() if name not in spec.live_files}
    return k8s.V1PodTemplateSpec(
        metadata=k8s.V1ObjectMeta(
            labels=labels.of_instance(spec.namespace, spec.kind, spec.name),
            annotations={
                **profile.pod_annotations,
                RESTART: digest({"pod": json_of(pod), "files": cold, **marked}),
            },
        ),
        spec=pod,
    )


def container(cluster: Cluster, spec: InstanceSpec) -> k8s.V1Container:
    """Return the only container of an instance's pod, which runs the engine."""
    row = REGISTRY[spec.kind]
    paths = container_paths(cluster)
    run = row.command(paths, spec.memory_mb)
    health = row.health(paths)
    checks = probes.of_container(row, health)
    listeners = [*row.listeners, *([Listener.HEALTH] if health else [])]
    mounts = [
        k8s.V1VolumeMount(name=_FILES_VOLUME, mount_path=CONFIG_DIR, read_only=True),
        k8s.V1VolumeMount(name=_SCRATCH_VOLUME, mount_path=SCRATCH_DIR),
    ]
    if row.has_volume:
        mounts.append(k8s.V1VolumeMount(name=DATA_VOLUME, mount_path=DATA_DIR))
    return k8s.V1Container(
        name=spec.kind.value,
        image=spec.image or row.image(cluster.images),
        image_pull_policy=cluster.images.pull_policy,
        command=list(run.command),
        env=[k8s.V1EnvVar(name=name, value=value) for name, value in run.environment.items()],
        ports=[
            k8s.V1ContainerPort(name=name.value, container_port=sizes.PORTS[name], protocol="TCP")
            for name in listeners
        ],
        resources=resources(spec),
        security_context=k8s.V1SecurityContext(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=k8s.V1Capabilities(drop=["ALL"]),
        ),
        startup_probe=checks.startup,
        readiness_probe=checks.readiness,
        liveness_probe=checks.liveness,
        # The cluster puts the end of the log into the status of a container that failed, where
        # ``observed.how_ended`` reads it.
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=mounts,
    )


def resources(spec: InstanceSpec) -> k8s.V1ResourceRequirements:
    """Return what the container of an instance requests, and its limits; CPU has none."""
    memory = sizes.quantity(sizes.container_mb(spec.kind, spec.memory_mb))
    return k8s.V1ResourceRequirements(
        requests={
            "cpu": sizes.cpu(spec.cpu_millis),
            "memory": memory,
            "ephemeral-storage": sizes.quantity(sizes.EPHEMERAL_REQUEST_MB),
        },
        limits={"memory": memory, "ephemeral-storage": sizes.quantity(sizes.EPHEMERAL_MB)},
    )


def container_paths(cluster: Cluster) -> Container:
    """Return the paths and the port by which ``InstanceKind`` describes a container."""
    return Container(
        java=cluster.java,
        artemis_home=cluster.artemis_home,
        config_dir=CONFIG_DIR,
        data_dir=DATA_DIR,
        scratch_dir=SCRATCH_DIR,
        broker_plugin=cluster.broker_plugin,
        health_port=sizes.PORTS[Listener.HEALTH],
    )


def volumes(spec: InstanceSpec) -> list[k8s.V1Volume]:
    """Return the pod's volumes for the instance's files and for temporary files.

    The persistent volume of a broker's journal is not among them: it comes from a claim of the
    stateful set. A broker without one gets an empty folder of the node in its place.
    """
    sources = [
        k8s.V1VolumeProjection(secret=k8s.V1SecretProjection(name=spec.name)),
        k8s.V1VolumeProjection(config_map=k8s.V1ConfigMapProjection(name=spec.name)),
        k8s.V1VolumeProjection(config_map=k8s.V1ConfigMapProjection(name=f"{spec.name}-main")),
    ]
    return [
        k8s.V1Volume(
            name=_FILES_VOLUME,
            projected=k8s.V1ProjectedVolumeSource(
                default_mode=0o440,  # the engine reads by its group
                sources=sources,
            ),
        ),
        k8s.V1Volume(
            name=_SCRATCH_VOLUME, empty_dir=k8s.V1EmptyDirVolumeSource(size_limit="256Mi")
        ),
        # A broker that keeps messages in memory still writes temporary files to its data folder.
        *(
            [k8s.V1Volume(name=DATA_VOLUME, empty_dir=k8s.V1EmptyDirVolumeSource(size_limit="1Gi"))]
            if REGISTRY[spec.kind].has_volume and not spec.persistent
            else []
        ),
    ]


def tolerations(profile: PlacementProfile) -> list[k8s.V1Toleration]:
    """Return the profile's tolerations as objects of the Kubernetes API."""
    return [
        k8s.V1Toleration(
            key=row.key or None,
            operator=row.operator,
            value=row.value or None,
            effect=row.effect or None,
        )
        for row in profile.tolerations
    ]


def apart(selector: k8s.V1LabelSelector) -> k8s.V1Affinity:
    """Return the anti-affinity that spreads the selected pods over nodes, if possible.

    A soft spread constraint is only one score of the scheduler beside others, such as free memory.
    The anti-affinity for nodes adds a second score. Both count only pods of this namespace.
    """
    term = k8s.V1PodAffinityTerm(label_selector=selector, topology_key=_NODE)
    return k8s.V1Affinity(
        pod_anti_affinity=k8s.V1PodAntiAffinity(
            preferred_during_scheduling_ignored_during_execution=[
                k8s.V1WeightedPodAffinityTerm(weight=100, pod_affinity_term=term)
            ]
        )
    )


def security_context(cluster: Cluster) -> k8s.V1PodSecurityContext:
    """Return the pod's security context: never root, with the user and group of the installation.

    If ``cluster.identity`` has none, the platform assigns them.
    """
    group = cluster.identity.group
    return k8s.V1PodSecurityContext(
        run_as_non_root=True,
        seccomp_profile=k8s.V1SeccompProfile(type="RuntimeDefault"),
        run_as_user=cluster.identity.user,
        run_as_group=group,
        fs_group=group,
        # By default the cluster sets the group of every journal file at every start, which is slow.
        fs_group_change_policy=None if group is None else "OnRootMismatch",
    )


def made_from(annotations: Mapping[str, str] | None) -> str:
    """Return the digest that ``template`` put into a pod's annotations; empty if they have none.

    Equal digests mean that the pod needs no restart.
    """
    return (annotations or {}).get(RESTART, "")
