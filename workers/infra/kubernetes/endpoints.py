"""Build a space's public endpoint: one stable service, and a route from outside to it. Pure.

An ingress, gateway or route shares one address between spaces: it passes TLS through by the server
name (SNI), with one host for each space. So nothing between the client and the space's router or
broker has a private key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from controlplane.core.instance_names import Kind, Listener
from workers.infra.base import Namespace
from workers.infra.kubernetes import labels, sizes
from workers.infra.kubernetes.cluster import Cluster, EndpointKind
from workers.infra.kubernetes.resources import Manifest

NAME = "messaging"
_PASSED_THROUGH_PORT = 443  # of ingresses, gateways and OpenShift's router
NO_BALANCER = (
    "The cluster has not given the space's load balancer an address yet. If this lasts, check that "
    "the cluster has a load balancer controller, and read the events of the service `messaging`."
)
# Conditions of a route: no traffic passes while one of them is False.
_LEADS = frozenset({"Accepted", "ResolvedRefs", "Admitted"})
_SERVICE_TYPES = {
    EndpointKind.LOAD_BALANCER: "LoadBalancer",
    EndpointKind.NODE_PORT: "NodePort",
}


def build(cluster: Cluster, namespace: Namespace, kind: Kind) -> Sequence[Manifest]:
    """Return the objects of the endpoint, the service first; clients connect to ``kind``."""
    outside = {
        EndpointKind.INGRESS: ingress,
        EndpointKind.GATEWAY: tls_route,
        EndpointKind.ROUTE: route,
    }.get(cluster.endpoint.kind)
    inside = service(cluster, namespace, kind)
    return [inside] if outside is None else [inside, outside(cluster, namespace)]


def inner_host(namespace: Namespace) -> str:
    """Return the host name of the space for clients inside the cluster."""
    return f"{NAME}.{namespace.name}.svc"


def outer_host(cluster: Cluster, namespace: Namespace) -> str:
    """Return the host name of the space in the installation's domain."""
    return f"{namespace.name}.{cluster.endpoint.domain}"


def find(cluster: Cluster, namespace: Namespace, service: Manifest) -> tuple[str, int] | None:
    """Return host and port for clients, or None until the cluster has assigned them."""
    kind, domain = cluster.endpoint.kind, cluster.endpoint.domain
    if kind is EndpointKind.SERVICE:
        return inner_host(namespace), sizes.PORTS[Listener.AMQPS]
    if kind is EndpointKind.NODE_PORT:
        port = service["spec"]["ports"][0].get("nodePort")
        return (domain, int(port)) if port else None
    if kind is EndpointKind.LOAD_BALANCER:
        host = outer_host(cluster, namespace) if domain else _balancer(service)
        return (host, sizes.PORTS[Listener.AMQPS]) if host else None
    return outer_host(cluster, namespace), _PASSED_THROUGH_PORT


def trouble(live: Sequence[Manifest]) -> str:
    """Return why clients outside cannot reach the space, and what to do; empty if none is known.

    ``live`` are the objects of the endpoint. Ingress controllers report nothing. Sources: Gateway
    API reference, RouteStatus ("Accepted", "ResolvedRefs"); OpenShift API, RouteIngress
    ("Admitted").
    """
    for manifest in live:
        if manifest["spec"].get("type") == "LoadBalancer" and not _balancer(manifest):
            return NO_BALANCER
        refused = [_refusal(status) for status in _list_route_status(manifest)]
        # One router or gateway that accepts the route is enough.
        if refused and all(refused):
            kind = manifest["kind"]
            return f"The cluster refuses the {kind} of the space; fix it there: {refused[0]}"
    return ""


def _list_route_status(live: Manifest) -> Sequence[Mapping[str, Any]]:
    """Return the status from each router or gateway that the route refers to.

    The status from any other one may be stale.
    """
    status = live.get("status", {})
    if live["kind"] == "Route":
        return list(status.get("ingress", []))
    if live["kind"] != "TLSRoute":
        return []
    gateways = [(parent["namespace"], parent["name"]) for parent in live["spec"]["parentRefs"]]
    reports = [(report, report.get("parentRef", {})) for report in status.get("parents", [])]
    return [
        report for report, ref in reports if (ref.get("namespace"), ref.get("name")) in gateways
    ]


def _refusal(status: Mapping[str, Any]) -> str:
    """Return why a router or gateway refuses the route; empty if it accepts, or reports nothing."""
    return " ".join(
        str(condition.get("message") or condition.get("reason"))
        for condition in status.get("conditions", [])
        if condition["type"] in _LEADS and condition["status"] == "False"
    )


def service(cluster: Cluster, namespace: Namespace, kind: Kind) -> Manifest:
    """Return the service in front of all public instances of the space."""
    choice = cluster.endpoint
    annotations = dict(choice.annotations)
    if choice.kind is EndpointKind.LOAD_BALANCER and choice.domain:
        # ExternalDNS creates a DNS record from this annotation.
        annotations["external-dns.alpha.kubernetes.io/hostname"] = outer_host(cluster, namespace)
    port = sizes.PORTS[Listener.AMQPS]
    return {
        **_head("v1", "Service", namespace, annotations),
        "spec": {
            "type": _SERVICE_TYPES.get(choice.kind, "ClusterIP"),
            "selector": labels.select_component(kind),
            "ports": [{"name": "amqps", "port": port, "targetPort": port, "protocol": "TCP"}],
        },
    }


def ingress(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return an ingress that passes TLS through, with the annotations of common controllers."""
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
    # The installation's annotations come last, so that they can override these.
    annotations = {**passing, **cluster.endpoint.annotations}
    return {**_head("networking.k8s.io/v1", "Ingress", namespace, annotations), "spec": spec}


def tls_route(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return a route of the Gateway API from the space's host to its service.

    Source: Gateway API 1.5, whose standard channel serves TLSRoute only as v1.
    """
    owner, _, name = cluster.endpoint.gateway.partition("/")
    return {
        **_head(
            "gateway.networking.k8s.io/v1", "TLSRoute", namespace, cluster.endpoint.annotations
        ),
        "spec": {
            "parentRefs": [{"namespace": owner, "name": name}],
            "hostnames": [outer_host(cluster, namespace)],
            "rules": [{"backendRefs": [{"name": NAME, "port": sizes.PORTS[Listener.AMQPS]}]}],
        },
    }


def route(cluster: Cluster, namespace: Namespace) -> Manifest:
    """Return an OpenShift route that passes TLS through."""
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
    """Return the host name or IP address of a service's load balancer; empty if it has none."""
    ingress = service.get("status", {}).get("loadBalancer", {}).get("ingress") or [{}]
    return str(ingress[0].get("hostname") or ingress[0].get("ip") or "")


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
