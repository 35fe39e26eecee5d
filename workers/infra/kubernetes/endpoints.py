"""Where clients reach a space: one stable service, and what leads to it from outside. Pure.

Outside kinds that share one address pass TLS through by its server name, one host for each space,
so that nothing between the client and the space's router or broker holds a key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.infra.base import Kind, Namespace
from workers.infra.kubernetes import labels, sizes
from workers.infra.kubernetes.cluster import Cluster, EndpointKind
from workers.infra.kubernetes.resources import Manifest

NAME = "messaging"
_PASSED_THROUGH_PORT = 443
NO_BALANCER = (
    "The cluster has not given the space's load balancer an address yet. If that lasts: is there a "
    "controller of load balancers, and what do the events of the service `messaging` say?"
)
# False in any of these: nothing leads there.
_LEADS = frozenset({"Accepted", "ResolvedRefs", "Admitted"})
_SERVICE_TYPES = {
    EndpointKind.LOAD_BALANCER: "LoadBalancer",
    EndpointKind.NODE_PORT: "NodePort",
}


def build(cluster: Cluster, namespace: Namespace, kind: Kind) -> Sequence[Manifest]:
    """Return the objects of the space's endpoint; ``kind`` of instance is the public one."""
    outside = {
        EndpointKind.INGRESS: ingress,
        EndpointKind.GATEWAY: tls_route,
        EndpointKind.ROUTE: route,
    }.get(cluster.endpoint.kind)
    inside = service(cluster, namespace, kind)
    return [inside] if outside is None else [inside, outside(cluster, namespace)]


def inner_host(namespace: Namespace) -> str:
    """Return the name by which clients inside the cluster reach the space."""
    return f"{NAME}.{namespace.name}.svc"


def outer_host(cluster: Cluster, namespace: Namespace) -> str:
    """Return the name of the space in the installation's domain."""
    return f"{namespace.name}.{cluster.endpoint.domain}"


def find(cluster: Cluster, namespace: Namespace, service: Manifest) -> tuple[str, int] | None:
    """Return host and port for clients; None while the cluster has not given them yet."""
    kind, domain = cluster.endpoint.kind, cluster.endpoint.domain
    if kind is EndpointKind.SERVICE:
        return inner_host(namespace), sizes.PORTS["amqps"]
    if kind is EndpointKind.NODE_PORT:
        port = service["spec"]["ports"][0].get("nodePort")
        return (domain, int(port)) if port else None
    if kind is EndpointKind.LOAD_BALANCER:
        host = outer_host(cluster, namespace) if domain else _balancer(service)
        return (host, sizes.PORTS["amqps"]) if host else None
    return outer_host(cluster, namespace), _PASSED_THROUGH_PORT


def trouble(live: Sequence[Manifest]) -> str:
    """Return why nothing leads to the space from outside, and what to do; empty if none is known.

    ``live``: the objects of its endpoint. Controllers of ingresses do not say. Sources: Gateway API
    reference, RouteStatus ("Accepted", "ResolvedRefs"); OpenShift API, RouteIngress ("Admitted").
    """
    for each in live:
        if each["spec"].get("type") == "LoadBalancer" and not _balancer(each):
            return NO_BALANCER
        refused = [_refusal(one) for one in _list_ways(each)]
        if refused and all(refused):
            return (
                f"The cluster refuses the {each['kind']} to the space; mend it there: {refused[0]}"
            )
    return ""


def _list_ways(live: Manifest) -> Sequence[Mapping[str, Any]]:
    """Return what each router or gateway that is asked says; what others said may be stale."""
    status = live.get("status", {})
    if live["kind"] == "Route":
        return list(status.get("ingress", []))
    if live["kind"] != "TLSRoute":
        return []
    asked = [(each["namespace"], each["name"]) for each in live["spec"]["parentRefs"]]
    told = [(each, each.get("parentRef", {})) for each in status.get("parents", [])]
    return [each for each, ref in told if (ref.get("namespace"), ref.get("name")) in asked]


def _refusal(way: Mapping[str, Any]) -> str:
    """Return why this one does not lead there; empty if it does, or does not say."""
    return " ".join(
        str(each.get("message") or each.get("reason"))
        for each in way.get("conditions", [])
        if each["type"] in _LEADS and each["status"] == "False"
    )


def service(cluster: Cluster, namespace: Namespace, kind: Kind) -> Manifest:
    """Return the service in front of all public instances of the space."""
    choice = cluster.endpoint
    annotations = dict(choice.annotations)
    if choice.kind is EndpointKind.LOAD_BALANCER and choice.domain:
        annotations["external-dns.alpha.kubernetes.io/hostname"] = outer_host(cluster, namespace)
    port = sizes.PORTS["amqps"]
    return {
        **_head("v1", "Service", namespace, annotations),
        "spec": {
            "type": _SERVICE_TYPES.get(choice.kind, "ClusterIP"),
            "selector": labels.select_component(kind),
            "ports": [{"name": "amqps", "port": port, "targetPort": port, "protocol": "TCP"}],
        },
    }


def ingress(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return an ingress that passes TLS through, in the words of the common controllers."""
    passing = {
        "nginx.ingress.kubernetes.io/ssl-passthrough": "true",
        "haproxy.org/ssl-passthrough": "true",
        "haproxy-ingress.github.io/ssl-passthrough": "true",
    }
    host = outer_host(cluster, namespace)
    backend = {"service": {"name": NAME, "port": {"name": "amqps"}}}
    spec: Manifest = {
        "tls": [{"hosts": [host]}],
        "rules": [
            {
                "host": host,
                "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]},
            }
        ],
    }
    if cluster.endpoint.class_name:
        spec["ingressClassName"] = cluster.endpoint.class_name
    annotations = {**passing, **cluster.endpoint.annotations}
    return {**_head("networking.k8s.io/v1", "Ingress", namespace, annotations), "spec": spec}


def tls_route(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return a route of the Gateway API from the space's host to its service.

    Source: Gateway API 1.5, which serves TLSRoute as v1, and in its standard channel as nothing
    else.
    """
    owner, _, name = cluster.endpoint.gateway.partition("/")
    return {
        **_head(
            "gateway.networking.k8s.io/v1", "TLSRoute", namespace, cluster.endpoint.annotations
        ),
        "spec": {
            "parentRefs": [{"namespace": owner, "name": name}],
            "hostnames": [outer_host(cluster, namespace)],
            "rules": [{"backendRefs": [{"name": NAME, "port": sizes.PORTS["amqps"]}]}],
        },
    }


def route(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return OpenShift's route, TLS passed through."""
    return {
        **_head("route.openshift.io/v1", "Route", namespace, cluster.endpoint.annotations),
        "spec": {
            "host": outer_host(cluster, namespace),
            "port": {"targetPort": "amqps"},
            "tls": {"termination": "passthrough", "insecureEdgeTerminationPolicy": "None"},
            "to": {"kind": "Service", "name": NAME, "weight": 100},
        },
    }


def _balancer(service: Manifest) -> str:
    given = service.get("status", {}).get("loadBalancer", {}).get("ingress") or [{}]
    return str(given[0].get("hostname") or given[0].get("ip") or "")


def _head(
    api_version: str, kind: str, namespace: Namespace, annotations: Mapping[str, str]
) -> Manifest:
    metadata: Manifest = {
        "name": NAME,
        "namespace": namespace.name,
        "labels": labels.of_space(namespace),
    }
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
