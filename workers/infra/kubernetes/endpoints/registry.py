"""The kinds of endpoints that an installation can choose: one row for each.

Everything that depends on the kind iterates this registry or takes a row of it: the cluster's
description, the adapter, the chart's checks and the documents (through tests).
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

# By the value of ``spaces.endpoint.kind`` in the chart.
REGISTRY: Mapping[str, EndpointKind] = {
    "service": InsideOnly(),
    "loadbalancer": LoadBalancer(),
    "nodeport": NodePort(),
    "ingress": Ingress(),
    "gateway": Gateway(),
    "route": OpenShiftRoute(),
}
# The resources of all kinds, so that a change of the kind removes what the former one needed.
OUTSIDE: Sequence[Resource[Reported]] = tuple(
    kind.outside for kind in REGISTRY.values() if kind.outside is not None
)
