"""What becomes of a pass: the status, and when to look again."""

from datetime import UTC, datetime
from typing import Any

import pytest

from controlplane.core.errors import Unavailable, WaypostError
from controlplane.core.reasons import Reason
from tests.support.custom_resources.fakes import Clock, FakeApi, FakeSecrets, refusal
from workers.custom_resources import controller as module
from workers.custom_resources.controller import Controller
from workers.custom_resources.kinds import ADDRESS_SPACE, MESSAGING_USER, Deletion
from workers.infra.base import InfraError
from workers.infra.secret_port import StoredSecret

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def body(name: str = "orders", **spec: Any) -> dict[str, Any]:
    metadata = {"namespace": "shop", "name": name, "uid": "uid-1", "generation": 1}
    return {"metadata": metadata, "spec": {"type": "brokered", "plan": "small", **spec}}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    """The API that every token reaches."""
    made = FakeApi("address_space", Clock())
    monkeypatch.setattr(module, "TenantApi", lambda *_: made)
    return made


@pytest.fixture
def controller(api: FakeApi) -> Controller:
    store = FakeSecrets()
    store.stored["shop", "waypost-token"] = StoredSecret({"token": "t"}, "v0")
    return Controller("http://waypost.test", "waypost-token", store, lambda: NOW)


def conditions_of(status: dict[str, Any]) -> dict[str, str]:
    return {one["type"]: one["reason"] for one in status["conditions"]}


def test_a_pass_notes_what_it_did(controller: Controller) -> None:
    outcome = controller.apply(ADDRESS_SPACE, body())

    assert conditions_of(outcome.status) == {"Ready": "Ok", "Synced": "Applied"}
    assert {key: outcome.status[key] for key in ("tenant", "id", "created", "phase")} == {
        "tenant": "acme",
        "id": "id-1",
        "created": True,
        "phase": "Active",
    }
    assert outcome.again_seconds is None


def test_what_is_not_ready_is_looked_at_again_soon(controller: Controller, api: FakeApi) -> None:
    controller.apply(ADDRESS_SPACE, body())
    api.objects["/address-spaces/orders"]["observed_generation"] = 0

    assert controller.apply(ADDRESS_SPACE, body()).again_seconds == 2


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (refusal(403, "quota_exceeded"), None),  # until somebody changes the quota
        (refusal(422, "request.invalid"), None),
        (refusal(401, "credentials.invalid"), None),
        (refusal(428, "if_match.missing"), None),
        (refusal(412, "generation.changed"), 2),
        (refusal(404, "address_space.missing"), 2),
        (refusal(409, "address_space.terminating"), 2),
        (refusal(429, "rate_limited"), 2),
        (refusal(503, "database.unavailable"), 5),
        (Unavailable("silent", code="api.unreachable"), 5),
        (InfraError("forbidden", reason=Reason.CLUSTER_FORBIDDEN, retry=False), 5),
    ],
)
def test_a_refusal_is_a_condition_and_is_tried_again_if_it_may_pass(
    controller: Controller,
    api: FakeApi,
    monkeypatch: pytest.MonkeyPatch,
    error: WaypostError | InfraError,
    again: float | None,
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(api, "create", refuse)

    outcome = controller.apply(ADDRESS_SPACE, body())

    synced = [one for one in outcome.status["conditions"] if one["type"] == "Synced"]
    assert [one["status"] for one in synced] == ["False"]
    assert outcome.again_seconds == again


def test_a_namespace_without_a_token_says_what_to_create(controller: Controller) -> None:
    foreign = body()
    foreign["metadata"]["namespace"] = "other"

    outcome = controller.apply(ADDRESS_SPACE, foreign)

    assert conditions_of(outcome.status)["Synced"] == "ResourcesTokenMissing"
    assert "waypost-token" in outcome.message
    assert controller.remove(
        ADDRESS_SPACE, {**foreign, "spec": body(deletionPolicy="Delete")["spec"]}
    ) == (module.Outcome({}))


def test_a_token_that_changes_is_used_at_once(
    controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = []

    def connect(_: str, token: str) -> FakeApi:
        used.append(token)
        return FakeApi("address_space", Clock())

    monkeypatch.setattr(module, "TenantApi", connect)
    for token in ("t", "t", "u\n"):
        controller.store.stored["shop", "waypost-token"] = StoredSecret({"token": token}, "v")  # type: ignore[attr-defined]
        controller.apply(ADDRESS_SPACE, body())

    assert used == ["t", "u"]


def test_a_user_s_status_names_its_secret_and_no_password(controller: Controller) -> None:
    user = body(space="orders", permissions=[], secretName="login")

    status = controller.apply(MESSAGING_USER, user).status

    assert status["secret"] == {"name": "login", "version": "v1"}
    assert "password" not in str(status)


def test_a_retained_object_needs_no_request(controller: Controller) -> None:
    controller.store.stored.clear()  # type: ignore[attr-defined]

    assert controller.remove(ADDRESS_SPACE, body()).again_seconds is None


@pytest.mark.parametrize("policy", [Deletion.RETAIN, Deletion.DELETE])
def test_nothing_is_kept_of_a_resource_that_is_gone(
    controller: Controller, api: FakeApi, policy: Deletion
) -> None:
    gone = body(deletionPolicy=str(policy))
    controller.apply(ADDRESS_SPACE, gone)
    assert controller._locks
    api.objects.clear()

    assert controller.remove(ADDRESS_SPACE, gone).again_seconds is None

    assert controller._locks == {}
