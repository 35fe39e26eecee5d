"""An evaluator of network policies, written from their specification and not from our builders.

Source: Kubernetes documentation, "Network Policies": a pod that no policy of a direction selects is
open in it; otherwise the union of the rules of those that select it holds; both ends must allow.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any

Labels = Mapping[str, str]
Object = Mapping[str, Any]


@dataclass(frozen=True)
class Pod:
    """One end of a connection."""

    name: str
    namespace: str
    labels: Labels
    namespace_labels: Labels
    address: str = ""  # no selector names a pod of the host's network; a block of addresses may


def allows(policies: Sequence[Object], source: Pod, target: Pod, port: int, protocol: str) -> bool:
    """Return whether ``source`` may connect to a port of ``target``."""
    leaves = _passes(policies, source, target, "Egress", port, protocol)
    enters = _passes(policies, target, source, "Ingress", port, protocol)
    return leaves and enters


def _passes(
    policies: Sequence[Object], pod: Pod, peer: Pod, direction: str, port: int, protocol: str
) -> bool:
    selecting = [
        policy["spec"]
        for policy in policies
        if policy["metadata"]["namespace"] == pod.namespace
        and direction in policy["spec"]["policyTypes"]
        and _selects(policy["spec"].get("podSelector"), pod.labels)
    ]
    if not selecting:
        return True
    rules = [rule for spec in selecting for rule in spec.get(direction.lower()) or []]
    peers = "to" if direction == "Egress" else "from"
    return any(
        _names_port(rule.get("ports"), port, protocol)
        and _names_peer(rule.get(peers), pod.namespace, peer)
        for rule in rules
    )


def _names_port(ports: Iterable[Object] | None, port: int, protocol: str) -> bool:
    if not ports:
        return True
    return any(
        named.get("protocol", "TCP") == protocol
        and ("port" not in named or named["port"] <= port <= named.get("endPort", named["port"]))
        for named in ports
    )


def _names_peer(peers: Iterable[Object] | None, home: str, peer: Pod) -> bool:
    if not peers:
        return True
    return any(_is_peer(named, home, peer) for named in peers)


def _is_peer(named: Object, home: str, peer: Pod) -> bool:
    if "ipBlock" in named:
        block = named["ipBlock"]
        if not peer.address:
            return False
        address = ip_address(peer.address)
        is_excepted = any(address in ip_network(cidr) for cidr in block.get("except", []))
        return address in ip_network(block["cidr"]) and not is_excepted
    if "namespaceSelector" in named:
        is_there = _selects(named["namespaceSelector"], peer.namespace_labels)
    else:
        is_there = peer.namespace == home
    return is_there and _selects(named.get("podSelector"), peer.labels)


def _selects(selector: Object | None, labels: Labels) -> bool:
    """Return whether a label selector (absent: everything) matches."""
    selector = selector or {}
    equal = (selector.get("matchLabels") or {}).items() <= labels.items()
    return equal and all(
        _matches(expression, labels) for expression in selector.get("matchExpressions") or []
    )


def _matches(expression: Object, labels: Labels) -> bool:
    key, operator = expression["key"], expression["operator"]
    values = expression.get("values") or []
    return bool(
        {
            "In": labels.get(key) in values,
            "NotIn": labels.get(key) not in values,
            "Exists": key in labels,
            "DoesNotExist": key not in labels,
        }[operator]
    )
