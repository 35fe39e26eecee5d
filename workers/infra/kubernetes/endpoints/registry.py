"""The kinds of endpoints that an installation can choose: one row for each.

``cluster`` and ``session`` take all that depends on the kind from here. Tests compare the checks of
the chart and the documents with it.
"""

from collections.abc import Mapping, Sequence

from workers.infra.kubernetes.endpoints.gateway import Gateway
from workers.infra.kubernetes.endpoints.ingress import Ingress
from workers.infra.kubernetes.endpoints.kind import EndpointKind
from workers.infra.kubernetes.endpoints.load_balancer import LoadBalancer
from workers.infra.kubernetes.endpoints.node_port import NodePort
from workers.infra.kubernetes.endpoints.route import OpenShiftRoute
from workers.infra.kubernetes.endpoints.service import InsideOnly
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Resource

# The keys are the values of ``spaces.endpoint.kind`` in the chart.
REGISTRY: Mapping[str, EndpointKind] = {
    "service": InsideOnly(),
    "loadbalancer": LoadBalancer(),
    "nodeport": NodePort(),
    "ingress": Ingress(),
    "gateway": Gateway(),
    "route": OpenShiftRoute(),
}
# Ports that are no port of a node, whatever kind the installation had before.
FIXED_PORTS = frozenset(kind.client_port for kind in REGISTRY.values()) - {None}
# The resources of all ``lead`` objects. When the kind changes, a session deletes those of the other
# kinds.
OUTSIDE: Sequence[Resource[Reported]] = tuple(
    kind.outside for kind in REGISTRY.values() if kind.outside is not None
)
