"""What counts as "says so already": our fields, whatever else others added, and exact fields."""

import copy
from typing import Any

import pytest

from tests.unit.infra.places import SPACE, broker, cluster
from workers.infra.base import Kind, Room
from workers.infra.kubernetes import difference, instances, isolation, resources

WANTED = difference.stamped(instances.stateful_set(cluster(), broker()))
POLICY = difference.stamped(
    isolation.network_policies(cluster(), SPACE, Room(1, 256, 0))[1],
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
        # an injected sidecar
        changed(
            WANTED,
            *CONTAINER[:-1],
            to=[{"name": "mesh"}, *WANTED["spec"]["template"]["spec"]["containers"]],
        ),
    ],
)
def test_defaults_and_additions_of_others_are_settled(live: dict[str, Any]) -> None:
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


def test_everything_that_is_built_is_settled_by_itself() -> None:
    built = [
        *isolation.build(cluster(), SPACE, Room(1, 256, 1)),
        *instances.build(cluster(), broker()),
        *(instances.disruption_budget(SPACE, kind) for kind in Kind),
    ]
    for manifest in built:
        wanted = difference.stamped(manifest)
        assert difference.is_settled(resources.of(manifest), wanted, copy.deepcopy(wanted))
