"""Build the namespace of a space and everything that isolates it from other spaces. Pure.

``network`` builds the network policies.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind
from workers.infra.base import Namespace, ResourceBudget
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import Share
from workers.infra.kubernetes import labels, network, reported, sizes
from workers.infra.kubernetes.cluster import Cluster
from workers.infra.kubernetes.objects import space_metadata
from workers.infra.kubernetes.resources import Applied

QUOTA = "waypost"  # name of the ResourceQuota in each space's namespace
METERING = "waypost-metering"  # name of the RoleBinding for metering
_POD_SECURITY = "pod-security.kubernetes.io"
_RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True)
class Taken:
    """What a space uses now, as the cluster reports it (``observed.taken``).

    * ``memory_mb``: the memory limits of the containers of its instances, in MiB, by kind.
    * ``volumes``: the number of its volume claims.
    * ``storage_mb``: the size of all its volumes together, in MiB.
    * ``cpu_millis``: what all its pods together request, in thousandths of a core.
    """

    memory_mb: Mapping[Kind, Sequence[int]] = field(default_factory=dict)
    volumes: int = 0
    storage_mb: int = 0
    cpu_millis: int = 0


_NOTHING = Taken()


def build(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget, taken: Taken = _NOTHING
) -> Sequence[Applied]:
    """Return the namespace object, then the objects of ``inside``, in the order of creation."""
    return [namespace_object(namespace), *inside(cluster, namespace, budget, taken)]


def inside(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget, taken: Taken = _NOTHING
) -> Sequence[Applied]:
    """Return the objects in a namespace that isolate and limit the space, in order of creation."""
    return [
        role_binding(cluster, namespace),
        metering_binding(cluster, namespace),
        *network.policies(cluster, namespace, budget),
        resource_quota(cluster, namespace, budget, taken),
        limit_range(namespace),
        *(service_account(cluster, namespace, kind) for kind in Kind),
    ]


def namespace_object(namespace: Namespace) -> k8s.V1Namespace:
    """Return the namespace, which enforces the pod security standard ``restricted``."""
    security = {f"{_POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    # Without a version the cluster may be set to the standard of an older one, which allows more.
    security[f"{_POD_SECURITY}/enforce-version"] = "latest"
    return k8s.V1Namespace(
        metadata=k8s.V1ObjectMeta(
            name=namespace.name, labels={**labels.of_space(namespace), **security}
        )
    )


def role_binding(cluster: Cluster, namespace: Namespace) -> k8s.V1RoleBinding:
    """Return the role binding that gives the worker its rights in this namespace."""
    return _binding(
        cluster, namespace, "waypost-worker", cluster.space_role, cluster.worker_account
    )


def metering_binding(cluster: Cluster, namespace: Namespace) -> k8s.V1RoleBinding:
    """Return the role binding that gives the metering worker its rights in this namespace.

    The role ``cluster.metering_role`` allows it to list pods and stateful sets, and nothing else.
    """
    return _binding(cluster, namespace, METERING, cluster.metering_role, cluster.metering_account)


def _binding(
    cluster: Cluster, namespace: Namespace, name: str, role: str, account: str
) -> k8s.V1RoleBinding:
    """Return the binding of a cluster role, in this namespace, to an account of Waypost's."""
    who = k8s.RbacV1Subject(
        kind="ServiceAccount", name=account, namespace=cluster.control_namespace
    )
    return k8s.V1RoleBinding(
        metadata=space_metadata(namespace, name),
        role_ref=k8s.V1RoleRef(api_group=_RBAC, kind="ClusterRole", name=role),
        subjects=[who],
    )


def resource_quota(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget, taken: Taken = _NOTHING
) -> k8s.V1ResourceQuota:
    """Return the resource quota: what the budget allows or the space uses, and one instance more.

    An existing instance counts with its present memory limit if that is larger than the plan's.
    Otherwise, after a change to a smaller plan, the first replaced pod would not fit beside those
    that are still large. Existing volumes count with their real size: the setting may have been
    larger, or a person may have enlarged them.

    One instance more is a reserve. If a controller creates a pod or claim twice, the API server
    refuses the second one but has already counted it. It recounts only every five minutes. Without
    the reserve it would refuse another instance until then.
    """
    limits = {kind: memory_limits(kind, row.share(budget), taken) for kind, row in REGISTRY.items()}
    every = [limit for of_kind in limits.values() for limit in of_kind]
    memory = sizes.quantity(sum(every) + max(every, default=0))
    volumes = sum(
        len(limits[kind]) for kind, row in REGISTRY.items() if row.has_volume and budget.persistent
    )
    # ``taken`` includes the kept volumes of deleted brokers.
    claims = max(volumes, taken.volumes) + 1
    # The storage of the existing volumes, and of those still to be created.
    size = (budget.disk_gb or cluster.storage.size_gb) * 1024
    existing = max(taken.storage_mb, taken.volumes * size)
    storage = existing + (claims - taken.volumes) * size
    # Each pod may have one container more, which a webhook adds and ``limit_range`` limits.
    containers = 2 * len(every) + 1
    hard = {
        "requests.cpu": sizes.cpu(_cpu_millis(limits, budget, taken)),
        "requests.ephemeral-storage": sizes.quantity(containers * sizes.EPHEMERAL_REQUEST_MB),
        "limits.ephemeral-storage": sizes.quantity(containers * sizes.EPHEMERAL_MB),
        "requests.memory": memory,
        "limits.memory": memory,
        "pods": str(len(every) + 1),
        "persistentvolumeclaims": str(claims),
        "requests.storage": sizes.quantity(storage),
        # The public endpoint is the only service of these types.
        "services.nodeports": "1",
        "services.loadbalancers": "1",
    }
    return k8s.V1ResourceQuota(
        metadata=space_metadata(namespace, QUOTA), spec=k8s.V1ResourceQuotaSpec(hard=hard)
    )


def _cpu_millis(limits: Mapping[Kind, Sequence[int]], budget: ResourceBudget, taken: Taken) -> int:
    """Return the CPU of the quota, in thousandths of a core.

    That is the CPU of the instances in ``limits``, or that of all present pods if it is more, and
    the CPU of one instance more.
    """
    one = {Kind.BROKER: budget.broker_cpu_millis}
    each = [one.get(kind, sizes.CPU_MILLIS) for kind, of_kind in limits.items() for _ in of_kind]
    return max(sum(each), taken.cpu_millis) + max(each, default=sizes.CPU_MILLIS)


def memory_limits(kind: Kind, share: Share, taken: Taken) -> list[int]:
    """Return the memory limits, in MiB, of the instances that exist and of those still to come.

    An existing instance counts with its present limit, or with that of ``share`` if it is larger.
    """
    size = sizes.container_mb(kind, share.memory_mb)
    running = [max(limit, size) for limit in taken.memory_mb.get(kind, ())]
    # If more instances exist than ``share`` allows, the factor is negative and the list empty.
    return running + [size] * (share.count - len(running))


def limit_range(namespace: Namespace) -> k8s.V1LimitRange:
    """Return the limit range: defaults for containers that request nothing.

    Waypost's own containers state what they need. The quota would refuse any other one without
    these defaults, such as one that a webhook adds, or an instance that an older version of Waypost
    created without a limit of ephemeral storage.
    """
    ephemeral = "ephemeral-storage"
    container = k8s.V1LimitRangeItem(
        type="Container",
        default={"memory": "64Mi", ephemeral: sizes.quantity(sizes.EPHEMERAL_MB)},
        default_request={
            "cpu": "10m",
            "memory": "64Mi",
            ephemeral: sizes.quantity(sizes.EPHEMERAL_REQUEST_MB),
        },
    )
    return k8s.V1LimitRange(
        metadata=space_metadata(namespace, "waypost"),
        spec=k8s.V1LimitRangeSpec(limits=[container]),
    )


def service_account(cluster: Cluster, namespace: Namespace, kind: Kind) -> k8s.V1ServiceAccount:
    """Return the service account of the pods of a kind. It has no rights, and pods get no token."""
    secrets = [
        k8s.V1LocalObjectReference(name=pull_secret_name(name))
        for name in cluster.images.pull_secrets
    ]
    return k8s.V1ServiceAccount(
        metadata=space_metadata(namespace, kind.value),
        automount_service_account_token=False,
        # The API drops an empty list, so the live object would always differ.
        image_pull_secrets=secrets or None,
    )


def pull_secret_name(original: str) -> str:
    """Return the name of the copy of a pull secret.

    No instance has a name with this prefix, so no Secret of an instance has the same name.
    """
    return f"pull-{original}"


def pull_secret(namespace: Namespace, original: reported.Files) -> k8s.V1Secret:
    """Return the copy, for one space, of a Secret with a registry's credentials."""
    return k8s.V1Secret(
        metadata=k8s.V1ObjectMeta(
            name=pull_secret_name(original.name),
            namespace=namespace.name,
            labels={**labels.of_space(namespace), **labels.PULL_SECRET},
        ),
        type=original.type,
        data=dict(original.data),
    )
