"""What counts as "says so already": our fields, whatever else others added, and exact fields."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from controlplane.core.instance_names import Kind
from tests.support.infra.places import SPACE, broker, cluster, live
from workers.infra.base import ResourceBudget
from workers.infra.kubernetes import difference, instances, isolation, network, resources
from workers.infra.kubernetes.reported import Reported
from workers.infra.kubernetes.resources import Applied, document_of

WANTED = difference.stamped(instances.stateful_set(cluster(), broker()))
POLICY = difference.stamped(network.policies(cluster(), SPACE, ResourceBudget(1, 256, 0))[1])


def changed(wanted: Applied, *path: Any, to: Any) -> Reported:
    """Return the wanted object as a live one with one thing changed or added."""
    document: Any = copy.deepcopy(document_of(wanted))
    document["status"] = {"replicas": 1}
    document["metadata"]["resourceVersion"] = "7"
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return resources.of(wanted).reported.of(document)


def said(wanted: Applied, *path: Any) -> Any:
    """Return a part of the wanted object."""
    found: Any = document_of(wanted)
    for step in path:
        found = found[step]
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
def test_defaults_and_what_concerns_the_place_is_settled(live: Reported) -> None:
    assert difference.is_settled(WANTED, live)


@pytest.mark.parametrize(
    "live",
    [
        changed(WANTED, "metadata", "deletionTimestamp", to="2026-01-01T12:00:00Z"),
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
            to=[{"name": "mesh"}, *said(WANTED, *CONTAINER[:-1])],
        ),
        changed(WANTED, *CONTAINER[:-2], "initContainers", to=[{"name": "spy"}]),
        changed(WANTED, *CONTAINER, "envFrom", to=[{"secretRef": {"name": "x"}}]),
        changed(WANTED, *CONTAINER, "lifecycle", to={"preStop": {"exec": {}}}),
        # what we stopped wanting is only in the digest
        changed(WANTED, "metadata", "annotations", to={difference.DIGEST: "0"}),
    ],
)
def test_what_differs_in_our_fields_is_not_settled(live: Reported) -> None:
    assert not difference.is_settled(WANTED, live)


@pytest.mark.parametrize(
    "live",
    [
        changed(POLICY, "spec", "egress", to=[{}]),
        changed(POLICY, "spec", "ingress", to=[*said(POLICY, "spec", "ingress"), {}]),
        changed(POLICY, "spec", "podSelector", to={"matchLabels": {"x": "y"}}),
    ],
)
def test_nobody_adds_to_a_policy(live: Reported) -> None:
    assert difference.is_settled(POLICY, changed(POLICY, "status", to={}))
    assert not difference.is_settled(POLICY, live)


def test_files_that_are_none_are_settled() -> None:
    """The API leaves the field out; what somebody puts there is an addition none the less."""
    empty = replace(broker(), files={}, live_files=frozenset())
    wanted = difference.stamped(instances.config_maps(empty)[0])
    document = {key: value for key, value in document_of(wanted).items() if key != "data"}
    without, added = (
        resources.CONFIG_MAP.reported.of({**document, **more})
        for more in ({}, {"data": {"a": "b"}})
    )

    assert document_of(wanted)["data"] == {}
    assert difference.is_settled(wanted, without)
    assert not difference.is_settled(wanted, added)


def service(kind: Kind) -> Applied:
    """Return the service of a space's public endpoint."""
    choice = cluster().endpoint
    return choice.strategy.service(choice, SPACE, kind)


SERVICE = difference.stamped(service(Kind.BROKER))


@pytest.mark.parametrize(
    ("live", "fields"),
    [
        (changed(SERVICE, "spec", "clusterIP", to="10.0.0.1"), []),
        (changed(SERVICE, "spec", "ports", 0, "nodePort", to=30001), []),
        (changed(SERVICE, "spec", "selector", "more", to="x"), ["/spec/selector"]),
        (changed(SERVICE, "spec", "externalIPs", to=["192.0.2.1"]), ["/spec/externalIPs"]),
        (
            changed(SERVICE, "spec", "ports", to=[{"port": 1}, *said(SERVICE, "spec", "ports")]),
            ["/spec/ports"],
        ),
    ],
)
def test_what_is_added_to_a_service_is_named(live: Reported, fields: list[str]) -> None:
    assert difference.additions(SERVICE, live) == fields
    assert difference.is_settled(SERVICE, live) == (not fields)


def test_everything_that_is_built_is_settled_by_itself() -> None:
    built = [
        *isolation.build(cluster(), SPACE, ResourceBudget(1, 256, 1)),
        *instances.build(cluster(), broker()),
        *(instances.disruption_budget(SPACE, kind) for kind in Kind),
    ]
    for part in built:
        wanted = difference.stamped(part)
        assert difference.is_settled(wanted, live(wanted))


@pytest.mark.parametrize("is_first", [True, False])
def test_a_port_of_another_protocol_is_another_port(is_first: bool) -> None:
    wanted = difference.stamped(service(Kind.ROUTER))
    (ours,) = said(wanted, "spec", "ports")
    theirs = {**ours, "name": "more", "protocol": "UDP"}
    both = [theirs, ours] if is_first else [ours, theirs]
    found = changed(wanted, "spec", "ports", to=both)

    assert difference.holds(found.document, document_of(wanted))
    assert difference.additions(wanted, found) == ["/spec/ports"]


def test_a_port_without_a_protocol_is_of_tcp() -> None:
    wanted = {"ports": [{"containerPort": 1}, {"containerPort": 1, "protocol": "UDP"}]}
    live = {"ports": [{"containerPort": 1, "protocol": protocol} for protocol in ("UDP", "TCP")]}

    assert difference.holds(live, wanted)
