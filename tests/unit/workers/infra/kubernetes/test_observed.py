"""What the cluster reports, in one status and in words."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.infra.places import broker, cluster
from workers.infra.base import InstanceStatus
from workers.infra.kubernetes import instances, observed, pods, reported, resources

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
SET: dict[str, Any] = resources.document_of(instances.stateful_set(cluster(), broker()))
SET["metadata"]["uid"] = "s1"


REFUSED = "its pod is not created: the cluster refuses it: fix what its message names."


def pod(*, ready: bool, revision: str = "", node: str = "", **status: Any) -> dict[str, Any]:
    template = SET["spec"]["template"]["metadata"]
    annotations = {pods.RESTART: revision or template["annotations"][pods.RESTART]}
    conditions = [
        {"type": "Ready", "status": str(ready)},
        *status.pop("conditions", []),
    ]
    containers = status.pop("containerStatuses", [{"restartCount": 2}])
    return {
        "metadata": {
            "uid": "u1",
            "labels": template["labels"],
            "annotations": annotations,
            "ownerReferences": [{"kind": "StatefulSet", "uid": "s1"}],
        },
        "spec": {"nodeName": node},
        "status": {"conditions": conditions, "containerStatuses": containers, **status},
    }


def status(stateful_set: dict[str, Any], seen: list[dict[str, Any]]) -> InstanceStatus:
    """Return the status from documents as the API reports them."""
    pods_seen = [reported.Pod.of(pod) for pod in seen]
    return observed.status(reported.StatefulSet.of(stateful_set), pods_seen, NOW)


def ending_trouble(namespace: dict[str, Any]) -> str:
    return observed.ending_trouble(reported.WithConditions.of(namespace), NOW)


def waiting(reason: str, message: str = "") -> list[dict[str, Any]]:
    return [{"restartCount": 0, "state": {"waiting": {"reason": reason, "message": message}}}]


def ended(code: int, reason: str, message: str = "") -> dict[str, Any]:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


@pytest.mark.parametrize(
    ("seen", "running", "message", "trouble"),
    [
        ([pod(ready=True)], True, "ready", ""),
        ([pod(ready=False)], False, "starting", ""),
        ([pod(ready=False, containerStatuses=waiting("ContainerCreating"))], False, "starting", ""),
        (
            [pod(ready=False, containerStatuses=waiting("ImagePullBackOff", "no such image"))],
            False,
            "ImagePullBackOff: no such image",
            "ImagePullBackOff: no such image",
        ),
        (
            [pod(ready=False, containerStatuses=[{"restartCount": 0, "started": True}])],
            False,
            "it runs, but does not pass its readiness probe",
            "",
        ),
        (
            [pod(ready=False, node="n1", containerStatuses=[{"started": True, "ready": True}])],
            False,
            "its node n1 does not answer",
            "",
        ),
        ([pod(ready=True, revision="former")], False, "being replaced", ""),
        ([], False, "no pod yet", ""),
    ],
)
def test_a_pod_is_one_status(
    seen: list[dict[str, Any]], running: bool, message: str, trouble: str
) -> None:
    found = status(SET, seen)

    assert (found.name, found.running, found.message) == ("broker-0", running, message)
    assert found.trouble == trouble
    assert found.boot == ("u1-2" if running else found.boot)


BACKING_OFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting"}}


@pytest.mark.parametrize(
    ("container", "words"),
    [
        # the cluster's own words, while it does not say how the last start ended
        ({"state": BACKING_OFF}, "CrashLoopBackOff: back-off 40s restarting"),
        (
            {"state": BACKING_OFF, "lastState": ended(1, "Error", "AGENT (critical)\n no key.\n")},
            (
                "CrashLoopBackOff: it ended with exit code 1 (Error); it said last: "
                "AGENT (critical) no key"
            ),
        ),
        (
            {"state": BACKING_OFF, "lastState": ended(137, "OOMKilled")},
            "CrashLoopBackOff: it ended with exit code 137 (OOMKilled)",
        ),
        (
            {"state": ended(137, "OOMKilled"), "lastState": ended(1, "Error", "before")},
            "it ended with exit code 137 (OOMKilled)",
        ),
        ({"state": ended(3, "")}, "it ended with exit code 3"),
        # what keeps it from starting now is not how it ended then
        (
            {**waiting("ImagePullBackOff", "no such image")[0], "lastState": ended(1, "Error")},
            "ImagePullBackOff: no such image",
        ),
    ],
)
def test_an_instance_that_ends_says_why(container: dict[str, Any], words: str) -> None:
    found = status(SET, [pod(ready=False, containerStatuses=[container])])

    assert (found.running, found.message, found.trouble) == (False, words, words)


def test_an_instance_that_starts_again_says_how_it_ended_and_is_no_trouble_yet() -> None:
    again = {"state": {"running": {}}, "restartCount": 1, "lastState": ended(1, "Error", "no key")}

    found = status(SET, [pod(ready=False, containerStatuses=[again])])
    started = pod(ready=True, containerStatuses=[{**again, "started": True}])

    words = "starting. Before, it ended with exit code 1 (Error); it said last: no key"
    assert (found.message, found.trouble) == (words, "")
    assert status(SET, [started]).message == "ready"


def test_last_words_are_bounded_and_one_line_of_what_can_be_shown() -> None:
    log = "\n".join(f"\x1b[31mline {number}\x1b[0m\t\x00" for number in range(200))
    crashed = [{"state": BACKING_OFF, "lastState": ended(1, "Error", log)}]

    words = status(SET, [pod(ready=False, containerStatuses=crashed)]).trouble

    said = words.partition("it said last: ")[2]
    assert said.startswith("…")
    assert len(said) <= 301
    assert said.endswith("line 199 [0m")
    assert said.isprintable()


def test_a_pod_that_is_replaced_and_ends_is_no_trouble() -> None:
    replaced = pod(ready=False, containerStatuses=[{"state": ended(143, "Error")}])
    replaced["metadata"]["deletionTimestamp"] = "2026-01-01T12:00:30Z"

    found = status(SET, [replaced])

    assert (found.message, found.trouble) == ("being replaced", "")


def test_a_pod_of_one_of_that_name_that_was_deleted_is_not_this_ones() -> None:
    """Its volume goes with it: what it were given would be lost."""
    former = pod(ready=True)
    former["metadata"]["ownerReferences"][0]["uid"] = "s0"

    assert status(SET, [former]).message == "no pod yet"
    assert status(SET, [former, pod(ready=True)]).running


def test_a_pod_that_no_node_takes_says_why() -> None:
    unscheduled = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 volume node affinity conflict.",
    }

    found = status(SET, [pod(ready=False, conditions=[unscheduled])])

    assert found.trouble == (
        "Unschedulable: 0/3 nodes are available: 3 volume node affinity conflict. Its volume is "
        'on a node that is down or full: bring the node back, or see "A volume is lost" in '
        "docs/operate/disaster.md"
    )


def test_a_pod_that_cannot_be_made_says_why() -> None:
    refused = {**SET, "status": {"conditions": [{"message": "exceeded quota: team"}]}}

    assert status(refused, []).message == "exceeded quota: team"


def event(reason: str, at: str, message: str = "exceeded quota: team") -> dict[str, Any]:
    return {"reason": reason, "lastTimestamp": at, "message": message}


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], ""),
        ([event("Killing", "2026-01-01T11:00:00Z")], ""),
        (
            [event("FailedCreate", "2026-01-01T11:00:00Z")],
            (
                "its pod is not created: a quota of the cluster is used up: raise it, or free "
                "resources. The cluster said: exceeded quota: team"
            ),
        ),
        # it was made since, and is missing for another reason
        (
            [
                event("SuccessfulCreate", "2026-01-01T11:30:00Z"),
                event("FailedCreate", "2026-01-01T11:00:00Z"),
            ],
            "",
        ),
        # in the same second
        (
            [
                event("FailedCreate", "2026-01-01T11:30:00Z"),
                event("SuccessfulCreate", "2026-01-01T11:30:00Z"),
            ],
            "",
        ),
        # with and without fractions of a second, as the two APIs of events report them
        (
            [
                event("FailedCreate", "2026-01-01T11:30:00Z"),
                event("SuccessfulCreate", "2026-01-01T11:30:00.250000Z"),
            ],
            "",
        ),
        (
            [
                event("SuccessfulCreate", "2026-01-01T11:30:00.250000Z"),
                event("FailedCreate", "2026-01-01T11:30:00.750000Z", "no such account"),
            ],
            f"{REFUSED} The cluster said: no such account",
        ),
        # in the same second, of which the success tells no fraction
        (
            [
                event("FailedCreate", "2026-01-01T11:30:00.750000Z"),
                event("SuccessfulCreate", "2026-01-01T11:30:00Z"),
            ],
            "",
        ),
        # in another time zone
        (
            [
                event("SuccessfulCreate", "2026-01-01T12:00:00+01:00"),
                event("FailedCreate", "2026-01-01T11:30:00Z", "no such account"),
            ],
            f"{REFUSED} The cluster said: no such account",
        ),
        # without a time that can be read
        (
            [
                event("SuccessfulCreate", ""),
                event("FailedCreate", "2026-01-01T11:30:00Z", "no such account"),
            ],
            f"{REFUSED} The cluster said: no such account",
        ),
        # the quota's own beginnings
        ([event("FailedCreate", "2026-01-01T11:00:00Z", "status unknown for quota: x")], ""),
        (
            [event("FailedCreate", "2026-01-01T11:00:00Z", "no such account")],
            f"{REFUSED} The cluster said: no such account",
        ),
    ],
)
def test_the_last_event_says_why_a_pod_is_missing(events: list[dict[str, Any]], words: str) -> None:
    assert observed.why_missing([reported.Event.of(event) for event in events]) == words


def test_a_pod_whose_end_nobody_confirms_names_its_node() -> None:
    def ending(due: str) -> str:
        there = pod(ready=True)
        there["metadata"]["deletionTimestamp"] = due
        there["spec"] = {"nodeName": "node-7"}
        return status(SET, [there]).trouble

    assert ending("2026-01-01T11:59:30Z") == ""
    assert ending("2026-01-01T11:50:00Z").startswith("its node node-7 does not confirm")


def test_a_namespace_that_does_not_end_says_what_holds_it() -> None:
    held = {"type": "NamespaceFinalizersRemaining", "status": "True", "message": "x in 1 resource"}
    done = {"type": "NamespaceDeletionContentFailure", "status": "False", "message": "fine"}

    def ending(requested_at: str | None) -> str:
        metadata = {"deletionTimestamp": requested_at} if requested_at else {}
        status = {"conditions": [held, done]}
        return ending_trouble({"metadata": metadata, "status": status})

    assert ending(None) == ""
    assert ending("2026-01-01T11:59:00Z") == ""
    assert ending("2026-01-01T11:50:00Z") == "x in 1 resource"
    nothing_said = {"metadata": {"deletionTimestamp": "2026-01-01T11:50:00Z"}}
    assert ending_trouble(nothing_said) == "the cluster does not say why."
