"""Operators see and steer rollouts; tenants say when their spaces may be restarted."""

from rest_framework.test import APIClient

from controlplane.core.models import AuditEvent
from tenants.models import AddressSpace, Rollout
from tests.suites.api.conftest import Cast, problem

PATH = "/api/v1/staff/rollout"


def test_progress_failures_and_steering(
    staff: APIClient, rollout: Rollout, space: AddressSpace
) -> None:
    told = staff.get(PATH).json()

    assert told["state"] == "Running"
    assert told["release"]["broker_image"] == "broker:2"
    assert told["former"]["number"] == 1
    assert told["progress"] == {"total": 1, "done": 0, "waiting": 0, "changing": 0, "failed": 1}
    assert told["failures"] == [
        {"tenant": "acme", "space": space.name, "reason": "broker-0: no image"}
    ]
    assert staff.post(f"{PATH}/pause", {"reason": "holiday"}).json()["state"] == "Paused"
    problem(staff.post(f"{PATH}/pause", {}), 409, "rollout.not_possible")
    resumed = staff.post(f"{PATH}/resume", {}).json()
    assert (resumed["state"], resumed["progress"]["changing"]) == ("Running", 1)
    back = staff.post(f"{PATH}/roll-back", {"reason": "broken"}).json()
    assert (back["release"]["number"], back["former"]["number"]) == (1, 2)
    problem(staff.post(f"{PATH}/explode", {}), 404, "missing")
    event = AuditEvent.objects.get(action="rollout.paused")
    assert (event.reason, event.subject_name) == ("holiday", "release 2")


def test_every_rollout_is_listed_the_newest_first(staff: APIClient, rollout: Rollout) -> None:
    staff.post(f"{PATH}/roll-back", {"reason": "broken"})

    items = staff.get("/api/v1/staff/rollouts").json()["items"]

    told = [(item["release"]["number"], item["state"], item["is_configured"]) for item in items]
    assert told == [(1, "Running", False), (2, "Superseded", True)]
    assert items[1]["ended_at"] is not None


def test_windows_are_replaced(owner: APIClient, cast: Cast) -> None:
    night = {"weekday": 6, "starts_at": "22:00", "minutes": 240}

    assert owner.put(cast.path("/maintenance-windows"), {"windows": [night]}).status_code == 200

    assert owner.get(cast.path("/maintenance-windows")).json() == {"windows": [night]}
    twice = owner.put(cast.path("/maintenance-windows"), {"windows": [night, night]})
    problem(twice, 422, "maintenance_window.invalid")
    wrong = owner.put(cast.path("/maintenance-windows"), {"windows": [{**night, "weekday": 7}]})
    assert wrong.status_code == 422
