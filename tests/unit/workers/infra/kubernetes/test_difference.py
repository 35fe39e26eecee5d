"""What counts as "says so already": our fields, whatever else others added, and exact fields."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from controlplane.core.instance_names import Kind
from tests.support.infra.places import SPACE, broker, cluster
from workers.infra.base import ResourceBudget
from workers.infra.kubernetes import difference, endpoints, instances, isolation, resources

WANTED = difference.stamped(instances.stateful_set(cluster(), broker()))
POLICY = difference.stamped(
    isolation.network_policies(cluster(), SPACE, ResourceBudget(1, 256, 0))[1],
)


def changed(manifest: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    """Return the manifest as a live object with one thing changed or added."""
    live: Any = copy.deepcopy(manifest)
    live["status"] = {"replicas": 1}
    live["metadata"]["resourceVersion"] = "7"
    at = live
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    found: dict[str, Any] = live
    return found


CONTAINER = ("spec", "template", "spec", "containers", 0)


@pytest.mark.parametrize(
    "live",
    [
        changed(WANTED, "metadata", "uid", to="u"),
        changed(WANTED, "metadata", "labels", "theirs", to="x"),
        changed(WANTED, "spec", "minReadySeconds", to=0),
        changed(WANTED, *CONTAINER, "terminationMessagePath", to="/dev/termination-log"),
        changed(WANTED, "spec", "template", "spec", "nodeSelector", to={"disk": "fast"}),
    ],
)
def test_defaults_and_what_concerns_the_place_is_settled(live: dict[str, Any]) -> None:
    assert difference.is_settled(resources.STATEFUL_SET, WANTED, live)


@pytest.mark.parametrize(
    "live",
    [
        None,
        changed(WANTED, "metadata", "deletionTimestamp", to="now"),
        changed(WANTED, "spec", "replicas", to=0),
        changed(WANTED, "metadata", "labels", to={}),
        changed(WANTED, *CONTAINER, "image", to="other"),
        changed(WANTED, *CONTAINER, "command", to=["sh"]),
        changed(WANTED, *CONTAINER, "securityContext", to={}),
        changed(WANTED, *CONTAINER[:-1], to=[]),
        # what sees the messages, or changes what runs
        changed(
            WANTED,
            *CONTAINER[:-1],
            to=[{"name": "mesh"}, *WANTED["spec"]["template"]["spec"]["containers"]],
        ),
        changed(WANTED, *CONTAINER[:-2], "initContainers", to=[{"name": "spy"}]),
        changed(WANTED, *CONTAINER, "envFrom", to=[{"secretRef": {"name": "x"}}]),
        changed(WANTED, *CONTAINER, "lifecycle", to={"preStop": {"exec": {}}}),
        # what we stopped wanting is only in the digest
        changed(WANTED, "metadata", "annotations", to={difference.DIGEST: "0"}),
    ],
)
def test_what_differs_in_our_fields_is_not_settled(live: dict[str, Any] | None) -> None:
    assert not difference.is_settled(resources.STATEFUL_SET, WANTED, live)


@pytest.mark.parametrize(
    "live",
    [
        changed(POLICY, "spec", "egress", to=[{}]),
        changed(POLICY, "spec", "ingress", to=[*POLICY["spec"]["ingress"], {}]),
        changed(POLICY, "spec", "podSelector", to={"matchLabels": {"x": "y"}}),
    ],
)
def test_nobody_adds_to_a_policy(live: dict[str, Any]) -> None:
    assert difference.is_settled(resources.NETWORK_POLICY, POLICY, changed(POLICY, "status", to={}))
    assert not difference.is_settled(resources.NETWORK_POLICY, POLICY, live)


def test_files_that_are_none_are_settled() -> None:
    """The API leaves the field out; what somebody puts there is an addition none the less."""
    empty = instances.build(cluster(), replace(broker(), files={}, live_files=frozenset()))
    wanted = difference.stamped(next(rule for rule in empty if rule["kind"] == "ConfigMap"))
    live = {key: value for key, value in wanted.items() if key != "data"}

    assert wanted["data"] == {}
    assert difference.is_settled(resources.CONFIG_MAP, wanted, live)
    assert not difference.is_settled(resources.CONFIG_MAP, wanted, {**live, "data": {"a": "b"}})


SERVICE = difference.stamped(endpoints.service(cluster(), SPACE, Kind.BROKER))


@pytest.mark.parametrize(
    ("live", "fields"),
    [
        (changed(SERVICE, "spec", "clusterIP", to="10.0.0.1"), []),
        (changed(SERVICE, "spec", "ports", 0, "nodePort", to=30001), []),
        (changed(SERVICE, "spec", "selector", "more", to="x"), ["/spec/selector"]),
        (changed(SERVICE, "spec", "externalIPs", to=["192.0.2.1"]), ["/spec/externalIPs"]),
        (
            changed(SERVICE, "spec", "ports", to=[{"port": 1}, *SERVICE["spec"]["ports"]]),
            ["/spec/ports"],
        ),
    ],
)
def test_what_is_added_to_a_service_is_named(live: dict[str, Any], fields: list[str]) -> None:
    assert difference.additions(resources.SERVICE, SERVICE, live) == fields
    assert difference.is_settled(resources.SERVICE, SERVICE, live) == (not fields)


def test_everything_that_is_built_is_settled_by_itself() -> None:
    built = [
        *isolation.build(cluster(), SPACE, ResourceBudget(1, 256, 1)),
        *instances.build(cluster(), broker()),
        *(instances.disruption_budget(SPACE, kind) for kind in Kind),
    ]
    for manifest in built:
        wanted = difference.stamped(manifest)
        assert difference.is_settled(resources.of(manifest), wanted, copy.deepcopy(wanted))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_port_of_another_protocol_is_another_port(is_first: bool) -> None:
    wanted = difference.stamped(endpoints.service(cluster(), SPACE, Kind.ROUTER))
    (ours,) = wanted["spec"]["ports"]
    theirs = {**ours, "name": "more", "protocol": "UDP"}
    both = [theirs, ours] if is_first else [ours, theirs]
    live = changed(wanted, "spec", "ports", to=both)

    assert difference.holds(live, wanted)
    assert difference.additions(resources.SERVICE, wanted, live) == ["/spec/ports"]


def test_a_port_without_a_protocol_is_of_tcp() -> None:
    wanted = {"ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]}
    live = {"ports": [{"containerPort": 1, "protocol": protocol} for protocol in ("UDP", "TCP")]}

    assert difference.holds(live, wanted)
