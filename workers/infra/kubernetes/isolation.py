"""Build the namespace of a space and everything that isolates it from other spaces. Pure.

There is one deny-all network policy, and one small policy for each allowed path of traffic. The
policies select pods of the space's namespace or of Waypost's, never those of another space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import Namespace, ResourceBudget
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import InstanceKind, Share
from workers.infra.kubernetes import labels, sizes
from workers.infra.kubernetes.cluster import Cluster, Pods
from workers.infra.kubernetes.resources import Manifest

QUOTA = "waypost"  # name of the ResourceQuota
METERING = "waypost-metering"  # name of the RoleBinding for metering
_POD_SECURITY = "pod-security.kubernetes.io"

_Rule = dict[str, Any]
_Rules = Mapping[str, Sequence[_Rule]]


@dataclass(frozen=True)
class Taken:
    """What a space uses now.

    ``memory_mb`` is the memory limit of each instance by kind; ``storage_mb`` the size of all
    volumes. Both are in MiB.
    """

    memory_mb: Mapping[Kind, Sequence[int]] = field(default_factory=dict)
    volumes: int = 0
    storage_mb: int = 0


_NOTHING = Taken()


def build(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget, taken: Taken = _NOTHING
) -> Sequence[Manifest]:
    """Return the objects that every space has, in the order of creation."""
    return [
        namespace_object(namespace),
        role_binding(cluster, namespace),
        metering_binding(cluster, namespace),
        *network_policies(cluster, namespace, budget),
        resource_quota(cluster, namespace, budget, taken),
        limit_range(namespace),
        *(service_account(cluster, namespace, kind) for kind in Kind),
    ]


def namespace_object(namespace: Namespace) -> Manifest:
    """Return the namespace, with pod security ``restricted`` enforced."""
    security = {f"{_POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    # The standards of older versions allow more.
    security[f"{_POD_SECURITY}/enforce-version"] = "latest"
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": namespace.name,
            "labels": {**labels.of_space(namespace), **security},
        },
    }


def role_binding(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return the role binding that lets the worker manage this namespace."""
    who = _account(cluster, cluster.worker_account)
    return _binding(namespace, "waypost-worker", cluster.space_role, who)


def metering_binding(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return the role binding that lets metering list the instances, and nothing more."""
    who = _account(cluster, cluster.metering_account)
    return _binding(namespace, METERING, cluster.metering_role, who)


def _binding(namespace: Namespace, name: str, role: str, who: Manifest) -> Manifest:
    group = "rbac.authorization.k8s.io"
    return {
        **_head(f"{group}/v1", "RoleBinding", namespace, name),
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [who],
    }


def _account(cluster: Cluster, name: str) -> Manifest:
    return {"kind": "ServiceAccount", "name": name, "namespace": cluster.control_namespace}


def resource_quota(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget, taken: Taken = _NOTHING
) -> Manifest:
    """Return the quota: what the plan allows, what the space uses already, and one instance more.

    Existing instances count with their present size. Otherwise, after a change to a smaller plan,
    the first replaced pod would not fit beside those that are still large. Volumes may be larger
    than configured: the setting was larger before, or a person enlarged them.

    The reserve of one: if a controller creates a pod or claim twice, the API server refuses the
    second one but has already counted it. It recounts only every five minutes. Without the reserve,
    another instance would be refused until then.
    """
    limits = {kind: _limits(kind, row.share(budget), taken) for kind, row in REGISTRY.items()}
    every = [limit for of_kind in limits.values() for limit in of_kind]
    memory = sizes.quantity(sum(every) + max(every, default=0))
    volumes = sum(len(limits[kind]) for kind, row in REGISTRY.items() if row.has_volume)
    # Kept volumes of deleted brokers count too.
    claims = max(volumes, taken.volumes) + 1
    return {
        **_head("v1", "ResourceQuota", namespace, QUOTA),
        "spec": {
            "hard": {
                "requests.memory": memory,
                "limits.memory": memory,
                "pods": str(len(every) + 1),
                "persistentvolumeclaims": str(claims),
                "requests.storage": sizes.quantity(_storage(cluster, claims, taken)),
                # The public endpoint is the only service of these types.
                "services.nodeports": "1",
                "services.loadbalancers": "1",
            }
        },
    }


def _storage(cluster: Cluster, claims: int, taken: Taken) -> int:
    """Return the storage, in MiB, of the existing volumes and of those still to be created."""
    size = cluster.storage.size_gb * 1024
    return max(taken.storage_mb, taken.volumes * size) + (claims - taken.volumes) * size


def _limits(kind: Kind, share: Share, taken: Taken) -> list[int]:
    """Return the memory limits, in MiB, of the instances that run and of those still to come."""
    size = sizes.container_mb(kind, share.memory_mb)
    running = [max(limit, size) for limit in taken.memory_mb.get(kind, ())]
    # A plan for fewer instances than run gives a negative factor, and so no further ones.
    return running + [size] * (share.count - len(running))


def limit_range(namespace: Namespace) -> Manifest:
    """Return the small defaults for containers without requests and limits."""
    return {
        **_head("v1", "LimitRange", namespace, "waypost"),
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "default": {"memory": "64Mi"},
                    "defaultRequest": {"cpu": "10m", "memory": "64Mi"},
                }
            ]
        },
    }


def service_account(cluster: Cluster, namespace: Namespace, kind: Kind) -> Manifest:
    """Return the service account of the brokers or routers, without rights and token."""
    account = {
        **_head("v1", "ServiceAccount", namespace, kind.value),
        "automountServiceAccountToken": False,
    }
    if cluster.images.pull_secrets:
        account["imagePullSecrets"] = [
            {"name": pull_secret_name(name)} for name in cluster.images.pull_secrets
        ]
    return account


def pull_secret_name(original: str) -> str:
    """Return the name of the copy; the prefix keeps it apart from the secrets of instances."""
    return f"pull-{original}"


def pull_secret(namespace: Namespace, original: Manifest) -> Manifest:
    """Return the copy of a registry's credentials."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": pull_secret_name(original["metadata"]["name"]),
            "namespace": namespace.name,
            "labels": {**labels.of_space(namespace), **labels.PULL_SECRET},
        },
        "type": original["type"],
        "data": dict(original["data"]),
    }


def network_policies(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget
) -> Sequence[Manifest]:
    """Return the deny-all policy and one policy for each allowed path of traffic."""
    public = Kind.ROUTER if budget.routers else Kind.BROKER
    paths: dict[str, tuple[_Rule, _Rules]] = {
        # An empty selector selects every pod of the namespace.
        "deny-all": ({}, {"ingress": [], "egress": []}),
        # Without "from": clients may come from anywhere.
        "clients": (_ours(public), {"ingress": [{"ports": _ports(sizes.PORTS[Listener.AMQPS])}]}),
        "management": ({}, {"ingress": [_from(_pods(cluster.worker), Listener.MANAGEMENT)]}),
    }
    for row in REGISTRY.values():
        if row.share(budget).count:
            paths |= _paths_of(cluster, row)
    return [_policy(namespace, name, pods, rules) for name, (pods, rules) in paths.items()]


def _paths_of(cluster: Cluster, row: InstanceKind) -> dict[str, tuple[_Rule, _Rules]]:
    """Return the traffic that one kind of instance needs, by the names of policies."""
    source = _ours(row.kind)
    paths: dict[str, tuple[_Rule, _Rules]] = {}
    for path in row.connects:
        peer = _ours(path.peer)
        incoming = {"ingress": [_from({"podSelector": source}, path.listener)]}
        outgoing = {"egress": [_to({"podSelector": peer}, _ports(sizes.PORTS[path.listener]))]}
        if path.incoming == path.outgoing:
            paths[path.incoming] = (source, {**incoming, **outgoing})
        else:
            paths |= {path.incoming: (peer, incoming), path.outgoing: (source, outgoing)}
    if row.needs_logins:
        service = _to(_pods(cluster.auth_service), _ports(cluster.auth_port))
        paths["logins"] = (source, {"egress": [service]})
    if row.needs_names:
        names = [
            {"protocol": protocol, "port": port}
            for port in cluster.dns_ports
            for protocol in ("UDP", "TCP")  # DNS repeats over TCP what exceeds a datagram
        ]
        cidrs = ({"ipBlock": {"cidr": cidr}} for cidr in cluster.dns_cidrs)
        resolvers = [_pods(cluster.dns), *cidrs]
        paths["names"] = (source, {"egress": [{"to": resolvers, "ports": names}]})
    return paths


def _policy(namespace: Namespace, name: str, pods: _Rule, rules: _Rules) -> Manifest:
    spec: _Rule = {
        "podSelector": dict(pods),
        "policyTypes": [direction.title() for direction in rules],
    }
    # An empty list means the same as none: nothing is allowed. The API drops an empty one, so it
    # would look like a difference.
    spec |= {direction: list(allowed) for direction, allowed in rules.items() if allowed}
    return {**_head("networking.k8s.io/v1", "NetworkPolicy", namespace, name), "spec": spec}


def _head(api_version: str, kind: str, namespace: Namespace, name: str) -> Manifest:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": namespace.name,
            "labels": labels.of_space(namespace),
        },
    }


def _ours(kind: Kind) -> _Rule:
    return {"matchLabels": labels.select_component(kind)}


def _pods(pods: Pods) -> _Rule:
    """Return a peer that selects these pods in their namespace."""
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": pods.namespace}},
        "podSelector": {"matchLabels": dict(pods.labels)},
    }


def _from(peer: _Rule, port: Listener) -> _Rule:
    return {"from": [peer], "ports": _ports(sizes.PORTS[port])}


def _to(peer: _Rule, ports: Sequence[_Rule]) -> _Rule:
    return {"to": [peer], "ports": list(ports)}


def _ports(port: int) -> list[_Rule]:
    return [{"protocol": "TCP", "port": port}]
