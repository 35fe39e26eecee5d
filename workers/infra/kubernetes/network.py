"""Build the network policies of a space. Pure.

One policy denies all traffic of the space's pods. One small policy for each path allows: clients,
from anywhere; management, from the worker; connections within the space; the auth service; and DNS.
No policy allows traffic between two spaces, except through the port for clients.
"""

from collections.abc import Sequence

from kubernetes import client as k8s

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import Namespace, ResourceBudget
from workers.infra.kinds import REGISTRY
from workers.infra.kinds.base import InstanceKind
from workers.infra.kubernetes import sizes
from workers.infra.kubernetes.cluster import Cluster, Pods
from workers.infra.kubernetes.objects import selector_of, space_metadata

Port = k8s.V1NetworkPolicyPort
Peer = k8s.V1NetworkPolicyPeer


def policies(
    cluster: Cluster, namespace: Namespace, budget: ResourceBudget
) -> Sequence[k8s.V1NetworkPolicy]:
    """Return all network policies of a space.

    ``budget`` decides which kinds of instances the space has, and to which kind clients connect.
    """
    paths = paths_of_all(cluster, Kind.ROUTER if budget.routers else Kind.BROKER)
    for row in REGISTRY.values():
        if row.share(budget).count:
            paths |= paths_of(cluster, row)
    return [
        k8s.V1NetworkPolicy(metadata=space_metadata(namespace, name), spec=spec)
        for name, spec in paths.items()
    ]


def paths_of_all(cluster: Cluster, public: Kind) -> dict[str, k8s.V1NetworkPolicySpec]:
    """Return the specs of the policies that every space has, by name.

    Clients connect to the pods of kind ``public``.
    """
    worker = [_peer(cluster.worker)]
    return {
        # An empty selector selects every pod of the namespace, and without rules nothing is
        # allowed. An empty list of rules means the same. But the API drops an empty list, so the
        # live object would always differ.
        "deny-all": k8s.V1NetworkPolicySpec(
            pod_selector=k8s.V1LabelSelector(), policy_types=["Ingress", "Egress"]
        ),
        # Without "from": clients may come from anywhere.
        "clients": _ingress(
            selector_of(public), k8s.V1NetworkPolicyIngressRule(ports=_tcp(Listener.AMQPS))
        ),
        "management": _ingress(
            k8s.V1LabelSelector(),
            k8s.V1NetworkPolicyIngressRule(_from=worker, ports=_tcp(Listener.MANAGEMENT)),
        ),
    }


def paths_of(cluster: Cluster, row: InstanceKind) -> dict[str, k8s.V1NetworkPolicySpec]:
    """Return the specs of the further policies of a space with instances of this kind, by name."""
    source = selector_of(row.kind)
    paths: dict[str, k8s.V1NetworkPolicySpec] = {}
    for path in row.connects:
        peer, ports = selector_of(path.peer), _tcp(path.listener)
        incoming = k8s.V1NetworkPolicyIngressRule(_from=[Peer(pod_selector=source)], ports=ports)
        outgoing = k8s.V1NetworkPolicyEgressRule(to=[Peer(pod_selector=peer)], ports=ports)
        if path.incoming == path.outgoing:
            paths[path.incoming] = k8s.V1NetworkPolicySpec(
                pod_selector=source,
                policy_types=["Ingress", "Egress"],
                ingress=[incoming],
                egress=[outgoing],
            )
        else:
            paths[path.incoming] = _ingress(peer, incoming)
            paths[path.outgoing] = _egress(source, outgoing)
    if row.needs_logins:
        paths["logins"] = _egress(
            source,
            k8s.V1NetworkPolicyEgressRule(
                to=[_peer(cluster.auth_service)],
                ports=[Port(protocol="TCP", port=cluster.auth_port)],
            ),
        )
    if row.needs_names:
        paths["names"] = _egress(source, _resolution(cluster))
    return paths


def _resolution(cluster: Cluster) -> k8s.V1NetworkPolicyEgressRule:
    """Return the rule that lets pods send requests to the cluster's DNS servers."""
    resolvers = [_peer(cluster.dns)]
    resolvers += [Peer(ip_block=k8s.V1IPBlock(cidr=cidr)) for cidr in cluster.dns_cidrs]
    ports = [
        Port(protocol=protocol, port=port)
        for port in cluster.dns_ports
        for protocol in ("UDP", "TCP")  # DNS repeats over TCP what does not fit into a datagram
    ]
    return k8s.V1NetworkPolicyEgressRule(to=resolvers, ports=ports)


def _ingress(
    pods: k8s.V1LabelSelector, rule: k8s.V1NetworkPolicyIngressRule
) -> k8s.V1NetworkPolicySpec:
    return k8s.V1NetworkPolicySpec(pod_selector=pods, policy_types=["Ingress"], ingress=[rule])


def _egress(
    pods: k8s.V1LabelSelector, rule: k8s.V1NetworkPolicyEgressRule
) -> k8s.V1NetworkPolicySpec:
    return k8s.V1NetworkPolicySpec(pod_selector=pods, policy_types=["Egress"], egress=[rule])


def _peer(pods: Pods) -> Peer:
    """Return the peer of a policy that stands for ``pods`` in their namespace."""
    name = {"kubernetes.io/metadata.name": pods.namespace}
    return Peer(
        namespace_selector=k8s.V1LabelSelector(match_labels=name),
        pod_selector=k8s.V1LabelSelector(match_labels=dict(pods.labels)),
    )


def _tcp(listener: Listener) -> list[Port]:
    return [Port(protocol="TCP", port=sizes.PORTS[listener])]
