"""The namespace of a space, and what keeps every other space out of it. Pure builders.

One deny-all policy, and one small policy for each way that traffic may take; a policy names pods of
its own namespace, or of Waypost's own, never of another space.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workers.infra.base import Kind, Namespace, Room
from workers.infra.kubernetes import labels, sizes
from workers.infra.kubernetes.cluster import Cluster, Pods
from workers.infra.kubernetes.resources import Manifest

QUOTA = "waypost"  # its name
METERING = "waypost-metering"  # the name of its binding
_POD_SECURITY = "pod-security.kubernetes.io"

_Rule = dict[str, Any]
_Rules = Mapping[str, Sequence[_Rule]]


@dataclass(frozen=True)
class Taken:
    """What a space has now: the memory limit of each instance by kind, and its volumes, in MiB."""

    memory_mb: Mapping[Kind, Sequence[int]] = field(default_factory=dict)
    volumes: int = 0
    storage_mb: int = 0


_NOTHING = Taken()


def build(
    cluster: Cluster, namespace: Namespace, room: Room, taken: Taken = _NOTHING
) -> Sequence[Manifest]:
    """Return every object of the space that is there whatever runs in it, in order."""
    return [
        namespace_object(namespace),
        role_binding(cluster, namespace),
        metering_binding(cluster, namespace),
        *network_policies(cluster, namespace, room),
        resource_quota(cluster, namespace, room, taken),
        limit_range(namespace),
        *(service_account(cluster, namespace, kind) for kind in Kind),
    ]


def namespace_object(namespace: Namespace) -> Manifest:
    """Return the namespace, with pod security ``restricted`` enforced."""
    security = {f"{_POD_SECURITY}/{mode}": "restricted" for mode in ("enforce", "audit", "warn")}
    # The standard of a former version allows what today's forbids.
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
    """Return what lets the worker, and nobody else, work in this namespace."""
    who = _account(cluster, cluster.worker_account)
    return _binding(namespace, "waypost-worker", cluster.space_role, who)


def metering_binding(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return what lets metering see which instances there are, and nothing more."""
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
    cluster: Cluster, namespace: Namespace, room: Room, taken: Taken = _NOTHING
) -> Manifest:
    """Return the most that the space may take of the cluster, and one instance more.

    What is there already counts with what it has: were the quota of a smaller plan in force at
    once, the first pod that is replaced would not fit beside those that are still large. Volumes
    may be larger than configured: made when that was more, or enlarged by a person.

    The one more: a pod or claim that a controller makes twice is refused the second time, but the
    API server has counted it by then, and counts anew only every five minutes. Until then another
    instance would be refused for no reason that anybody could mend.
    """
    brokers = _limits(Kind.BROKER, room.brokers, room.broker_memory_mb, taken)
    routers = _limits(Kind.ROUTER, room.routers, room.router_memory_mb, taken)
    memory = sizes.quantity(sum(brokers + routers) + max(brokers + routers, default=0))
    claims = max(len(brokers), taken.volumes) + 1
    return {
        **_head("v1", "ResourceQuota", namespace, QUOTA),
        "spec": {
            "hard": {
                "requests.memory": memory,
                "limits.memory": memory,
                "pods": str(len(brokers + routers) + 1),
                "persistentvolumeclaims": str(claims),
                "requests.storage": sizes.quantity(_storage(cluster, claims, taken)),
                "services.nodeports": "1",
                "services.loadbalancers": "1",
            }
        },
    }


def _storage(cluster: Cluster, claims: int, taken: Taken) -> int:
    """Return the storage, in MiB, for the volumes there are and for those still to come."""
    size = cluster.storage.size_gb * 1024
    return max(taken.storage_mb, taken.volumes * size) + (claims - taken.volumes) * size


def _limits(kind: Kind, count: int, memory_mb: int, taken: Taken) -> list[int]:
    """Return the memory limit, in MiB, of each instance that runs and of those still to come."""
    size = sizes.container_mb(kind, memory_mb)
    running = [max(each, size) for each in taken.memory_mb.get(kind, ())]
    return running + [size] * (count - len(running))


def limit_range(namespace: Namespace) -> Manifest:
    """Return what a container gets that asks for nothing: little."""
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
    """Return the account of the brokers or of the routers: no rights, and no token."""
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
    """Return the name of the copy; the names of instances are those of their own secrets."""
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


def network_policies(cluster: Cluster, namespace: Namespace, room: Room) -> Sequence[Manifest]:
    """Return the deny-all policy and one policy for each way that traffic may take."""
    public = Kind.ROUTER if room.routers else Kind.BROKER
    ways: dict[str, tuple[_Rule, _Rules]] = {
        "deny-all": ({}, {"ingress": [], "egress": []}),
        "clients": (_ours(public), {"ingress": [{"ports": _ports(sizes.PORTS["amqps"])}]}),
        "management": ({}, {"ingress": [_from(_pods(cluster.worker), "management")]}),
    }
    if room.routers:
        ways |= _ways_of_routers(cluster)
    return [_policy(namespace, name, pods, rules) for name, (pods, rules) in ways.items()]


def _ways_of_routers(cluster: Cluster) -> dict[str, tuple[_Rule, _Rules]]:
    router, broker = _ours(Kind.ROUTER), _ours(Kind.BROKER)
    mesh = {
        "ingress": [_from({"podSelector": router}, "mesh")],
        "egress": [_to({"podSelector": router}, _ports(sizes.PORTS["mesh"]))],
    }
    to_brokers = _to({"podSelector": broker}, _ports(sizes.PORTS["management"]))
    names = [
        {"protocol": protocol, "port": port}
        for port in cluster.dns_ports
        for protocol in ("UDP", "TCP")
    ]
    resolvers = [_pods(cluster.dns), *({"ipBlock": {"cidr": each}} for each in cluster.dns_cidrs)]
    return {
        "brokers-from-routers": (
            broker,
            {"ingress": [_from({"podSelector": router}, "management")]},
        ),
        "routers-to-brokers": (router, {"egress": [to_brokers]}),
        "mesh": (router, mesh),
        "logins": (
            router,
            {"egress": [_to(_pods(cluster.auth_service), _ports(cluster.auth_port))]},
        ),
        "names": (router, {"egress": [{"to": resolvers, "ports": names}]}),
    }


def _policy(namespace: Namespace, name: str, pods: _Rule, rules: _Rules) -> Manifest:
    spec: _Rule = {"podSelector": dict(pods), "policyTypes": [each.title() for each in rules]}
    # An empty list and an absent one mean the same, nothing; the API keeps the absent one.
    spec |= {way: list(allowed) for way, allowed in rules.items() if allowed}
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
    """Return the peer "those pods of that namespace"."""
    return {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": pods.namespace}},
        "podSelector": {"matchLabels": dict(pods.labels)},
    }


def _from(peer: _Rule, port: str) -> _Rule:
    return {"from": [peer], "ports": _ports(sizes.PORTS[port])}


def _to(peer: _Rule, ports: Sequence[_Rule]) -> _Rule:
    return {"to": [peer], "ports": list(ports)}


def _ports(port: int) -> list[_Rule]:
    return [{"protocol": "TCP", "port": port}]
