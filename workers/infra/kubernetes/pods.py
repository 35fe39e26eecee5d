"""Build the pod template of an instance. Pure.

The template has a digest of the pod and of the files that the engine does not reload. So a change
of one of these makes the cluster replace the pod, and a change of any other file does not.
Any change of what this module builds therefore restarts every instance, in a rollout.
"""

from collections.abc import Mapping

from kubernetes import client as k8s

from controlplane.core.instance_names import Listener
from workers.infra.base import InstanceSpec
from workers.infra.engines import Launch
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import Container
from workers.infra.kubernetes import labels, sizes
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.difference import digest
from workers.infra.kubernetes.objects import json_of, selector_of

CONFIG_DIR = "/etc/waypost"
DATA_DIR = "/var/lib/waypost"
SCRATCH_DIR = "/tmp"
# Annotation with a digest of what the pod is made from: its spec, and the files read at its start.
RESTART = "waypost.io/restart"
DATA_VOLUME = "data"  # name of the volume of a broker's journal
_FILES_VOLUME, _SCRATCH_VOLUME = "files", "scratch"
_NODE = "kubernetes.io/hostname"


def template(cluster: Cluster, spec: InstanceSpec) -> k8s.V1PodTemplateSpec:
    """Return the pod template of an instance, with the digest that decides about restarts."""
    selector = selector_of(spec.kind)
    pod = k8s.V1PodSpec(
        service_account_name=spec.kind.value,
        # The next two are the API's defaults. Explicit, so that manual changes are overwritten.
        dns_policy="ClusterFirst",
        scheduler_name="default-scheduler",
        automount_service_account_token=False,
        enable_service_links=False,  # no environment variables for the namespace's services
        termination_grace_period_seconds=REGISTRY[spec.kind].grace_seconds,
        security_context=security_context(cluster),
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
    cold = {name: text for name, text in spec.files.items() if name not in spec.live_files}
    return k8s.V1PodTemplateSpec(
        metadata=k8s.V1ObjectMeta(
            labels=labels.of_instance(spec.namespace, spec.kind, spec.name),
            annotations={RESTART: digest({"pod": json_of(pod), "files": cold})},
        ),
        spec=pod,
    )


def container(cluster: Cluster, spec: InstanceSpec) -> k8s.V1Container:
    """Return the only container of an instance's pod."""
    row = REGISTRY[spec.kind]
    memory = sizes.quantity(sizes.container_mb(spec.kind, spec.memory_mb))
    run = launch(cluster, spec)
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
            for name in row.listeners
        ],
        resources=k8s.V1ResourceRequirements(
            requests={"cpu": "100m", "memory": memory},
            limits={"memory": memory},
        ),
        security_context=k8s.V1SecurityContext(
            allow_privilege_escalation=False,
            read_only_root_filesystem=True,
            capabilities=k8s.V1Capabilities(drop=["ALL"]),
        ),
        startup_probe=probe(Listener.MANAGEMENT, 2, 1800),
        readiness_probe=probe(row.ready_listener, 5, 3),
        liveness_probe=probe(Listener.MANAGEMENT, 30, 6),
        # Puts the end of the log into the status of a container that fails, for ``observed``.
        termination_message_policy="FallbackToLogsOnError",
        volume_mounts=mounts,
    )


def launch(cluster: Cluster, spec: InstanceSpec) -> Launch:
    """Return the command and environment of the engine, with its paths inside the container."""
    paths = Container(
        java=cluster.java,
        artemis_home=cluster.artemis_home,
        config_dir=CONFIG_DIR,
        data_dir=DATA_DIR,
        scratch_dir=SCRATCH_DIR,
        broker_plugin=cluster.broker_plugin,
    )
    return REGISTRY[spec.kind].command(paths, spec.memory_mb)


def probe(listener: Listener, period_seconds: int, failures: int) -> k8s.V1Probe:
    """Return a probe that passes while a port listens.

    * Started: the management port listens. A broker opens it after it has read its journal, which
      may take long, so the startup probe allows an hour. A router opens it after it has read its
      configuration.
    * Ready: a router also listens for clients; otherwise the service would lead them to a closed
      port. Only some brokers have clients, so the worker checks their listener.

    The worker also checks that messages pass. It is not part of readiness, so that a failed peer
    takes no instance out of service.
    """
    return k8s.V1Probe(
        tcp_socket=k8s.V1TCPSocketAction(port=listener.value),
        period_seconds=period_seconds,
        failure_threshold=failures,
    )


def volumes(spec: InstanceSpec) -> list[k8s.V1Volume]:
    """Return the volumes without the broker's journal, which comes from a claim."""
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
    ]


def apart(selector: k8s.V1LabelSelector) -> k8s.V1Affinity:
    """Return the affinity that spreads the selected pods over nodes, if possible.

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
    """Return the pod's user and group; the platform assigns those that the cluster leaves out."""
    group = cluster.identity.group
    return k8s.V1PodSecurityContext(
        run_as_non_root=True,
        seccomp_profile=k8s.V1SeccompProfile(type="RuntimeDefault"),
        run_as_user=cluster.identity.user,
        run_as_group=group,
        fs_group=group,
        # The default changes the group of every journal file at every start.
        fs_group_change_policy=None if group is None else "OnRootMismatch",
    )


def made_from(annotations: Mapping[str, str] | None) -> str:
    """Return the digest that ``template`` puts into the annotations of a pod; empty without one."""
    return (annotations or {}).get(RESTART, "")
