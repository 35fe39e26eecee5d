"""Build the network policies of a space. Pure.

There is one deny-all policy, and one small policy for each allowed path of traffic. The policies
select pods of the space's namespace or of Waypost's, never those of another space.
"""

from collections.abc import Sequence

from kubernetes import client as k8s

from workers.infra.base import Kind, Namespace, ResourceBudget
from workers.infra.kubernetes import sizes
from workers.infra.kubernetes.cluster import Cluster, Pods
from workers.infra.kubernetes.objects import selector_of, space_metadata

Port = k8s.V1NetworkPolicyPort
Peer = k8s.V1NetworkPolicyPeer


def policies(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget
) -> Sequence[k8s.V1NetworkPolicy]:
    """Return the deny-all policy and one policy for each allowed path of traffic."""
    paths = paths_of_all(cluster, Kind.ROUTER if budget.routers else Kind.BROKER)
    if budget.routers:
        paths |= paths_of_routers(cluster)
    return [
        k8s.V1NetworkPolicy(metadata=space_metadata(namespace, name), spec=spec)
        for name, spec in paths.items()
    ]


def paths_of_all(cluster: Cluster, public: Kind) -> dict[str, k8s.V1NetworkPolicySpec]:
    """Return the policies of every space, by name; clients connect to pods of kind ``public``."""
    worker = [_peer(cluster.worker)]
    return {
        # An empty selector selects every pod of the namespace. Without rules nothing is allowed:
        # an empty list means the same, but the API drops it, so it would look like a difference.
        "deny-all": k8s.V1NetworkPolicySpec(
            pod_selector=k8s.V1LabelSelector(), policy_types=["Ingress", "Egress"]
        ),
        # Without "from": clients may come from anywhere.
        "clients": _ingress(
            selector_of(public), k8s.V1NetworkPolicyIngressRule(ports=_tcp("amqps"))
        ),
        "management": _ingress(
            k8s.V1LabelSelector(),
            k8s.V1NetworkPolicyIngressRule(_from=worker, ports=_tcp("management")),
        ),
    }


def paths_of_routers(cluster: Cluster) -> dict[str, k8s.V1NetworkPolicySpec]:
    """Return the further policies of a space with routers, by name."""
    router, broker = selector_of(Kind.ROUTER), selector_of(Kind.BROKER)
    routers = [Peer(pod_selector=router)]
    resolvers = [_peer(cluster.dns)]
    resolvers += [Peer(ip_block=k8s.V1IPBlock(cidr=cidr)) for cidr in cluster.dns_cidrs]
    names = [
        Port(protocol=protocol, port=port)
        for port in cluster.dns_ports
        for protocol in ("UDP", "TCP")  # DNS repeats over TCP what does not fit into a datagram
    ]
    return {
        "brokers-from-routers": _ingress(
            broker, k8s.V1NetworkPolicyIngressRule(_from=routers, ports=_tcp("management"))
        ),
        "routers-to-brokers": _egress(router, [Peer(pod_selector=broker)], _tcp("management")),
        "mesh": k8s.V1NetworkPolicySpec(
            pod_selector=router,
            policy_types=["Ingress", "Egress"],
            ingress=[k8s.V1NetworkPolicyIngressRule(_from=routers, ports=_tcp("mesh"))],
            egress=[k8s.V1NetworkPolicyEgressRule(to=routers, ports=_tcp("mesh"))],
        ),
        "logins": _egress(
            router,
            [_peer(cluster.auth_service)],
            [Port(protocol="TCP", port=cluster.auth_port)],
        ),
        "names": _egress(router, resolvers, names),
    }


def _ingress(
    pods: k8s.V1LabelSelector, rule: k8s.V1NetworkPolicyIngressRule
) -> k8s.V1NetworkPolicySpec:
    return k8s.V1NetworkPolicySpec(pod_selector=pods, policy_types=["Ingress"], ingress=[rule])


def _egress(
    pods: k8s.V1LabelSelector, peers: list[Peer], ports: list[Port]
) -> k8s.V1NetworkPolicySpec:
    rule = k8s.V1NetworkPolicyEgressRule(to=peers, ports=ports)
    return k8s.V1NetworkPolicySpec(pod_selector=pods, policy_types=["Egress"], egress=[rule])


def _peer(pods: Pods) -> Peer:
    """Return a peer that selects these pods in their namespace."""
    name = {"kubernetes.io/metadata.name": pods.namespace}
    return Peer(
        namespace_selector=k8s.V1LabelSelector(match_labels=name),
        pod_selector=k8s.V1LabelSelector(match_labels=dict(pods.labels)),
    )


def _tcp(name: str) -> list[Port]:
    """Return a port of the instances, by its name."""
    return [Port(protocol="TCP", port=sizes.PORTS[name])]
