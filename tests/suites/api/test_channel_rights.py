"""A token that may only manage channels has no invoices sent to itself, by API and command."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tenants.models import Tenant
from tenants.notifications import reads
from tenants.notifications.models import Channel
from tests.suites.api.conftest import Cast, bearer, problem
from tests.support import command
from tests.support.notifications import notified

CODE = "notification_kind.denied"
HOOK = {"name": "ci", "kind": "webhook", "url": "https://hooks.example/a"}


def token(cast: Cast, *permissions: str) -> str:
    body = {"name": "ci", "role": "admin", "permissions": permissions}
    answer = cast.call("owner").post(cast.path("/tokens"), body)
    assert answer.status_code == 201, answer.content
    return str(answer.json()["token"])


@pytest.fixture
def limited(cast: Cast) -> APIClient:
    """A client whose token may manage channels and see messaging, and no invoices."""
    return bearer(token(cast, "manage_notifications", "view"))


@pytest.fixture
def channels(cast: Cast) -> str:
    return cast.path("/notification-channels")


@pytest.mark.parametrize("kinds", [[], ["invoice.issued"], ["alarm.raised", "spend.threshold"]])
@pytest.mark.parametrize("hook", [HOOK, {**HOOK, "kind": "chat", "url": "slack://A/B/C"}])
def test_a_channel_for_events_that_the_token_may_not_see_is_refused(
    limited: APIClient, channels: str, kinds: list[str], hook: dict[str, Any]
) -> None:
    answer = limited.post(channels, {**hook, "kinds": kinds})

    problem(answer, 403, CODE)
    assert "view_billing" in answer.json()["detail"]
    assert not Channel.objects.exists()


def test_other_events_are_allowed_and_cannot_be_widened(
    cast: Cast, limited: APIClient, channels: str
) -> None:
    made = limited.post(channels, {**HOOK, "kinds": ["alarm.raised"]})
    assert made.status_code == 201
    own = f"{channels}/{made.json()['id']}"

    for kinds in ([], ["invoice.overdue"]):
        problem(limited.patch(own, {"kinds": kinds}), 403, CODE)
    assert limited.patch(own, {"kinds": ["space.trouble"]}).status_code == 200
    assert Channel.objects.get().kinds == ["space.trouble"]
    assert cast.call("admin").patch(own, {"kinds": []}).status_code == 200
    problem(limited.patch(own, {"url": "https://other.example/"}), 403, CODE)
    assert limited.patch(own, {"name": "renamed"}).status_code == 200
    assert limited.patch(own, {"enabled": False}).status_code == 200


def test_a_kind_that_was_taken_away_meanwhile_is_a_new_one(
    cast: Cast, limited: APIClient, channels: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {**HOOK, "kinds": ["alarm.raised", "invoice.issued"]}
    own = f"{channels}/{cast.call('owner').post(channels, body).json()['id']}"
    get_channel = reads.get_channel

    def read_early(*which: Any) -> Channel:
        row = get_channel(*which)
        Channel.objects.update(kinds=["alarm.raised"])  # another request
        return row

    monkeypatch.setattr(reads, "get_channel", read_early)

    problem(limited.patch(own, {"kinds": body["kinds"]}, HTTP_IF_MATCH="*"), 403, CODE)
    assert Channel.objects.get().kinds == ["alarm.raised"]


def test_tokens_are_reported_to_nobody_who_may_not_manage_them(cast: Cast, channels: str) -> None:
    wide = bearer(token(cast, "manage_notifications", "view", "view_billing"))

    problem(wide.post(channels, {**HOOK, "kinds": ["token.expiring"]}), 403, CODE)
    assert wide.post(channels, {**HOOK, "kinds": ["invoice.issued"]}).status_code == 201


def test_a_delivery_of_such_an_event_is_not_shown_and_not_sent_again(
    cast: Cast, limited: APIClient, tenant: Tenant
) -> None:
    found = notified.delivery(notified.webhook(tenant))
    found.event.kind = "invoice.issued"
    found.event.save()
    own = cast.path(f"/notification-deliveries/{found.pk}")

    problem(limited.get(own), 403, CODE)
    problem(limited.post(f"{own}/replay"), 403, CODE)
    assert cast.call("admin").get(own).status_code == 200
    found.event.kind = "alarm.raised"
    found.event.save()
    assert limited.get(own).status_code == 200


def test_the_command_is_refused_too(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    command.connect(monkeypatch, command.apply_rows)
    monkeypatch.setenv("WAYPOST_TENANT", cast.tenant.slug)
    monkeypatch.setenv("WAYPOST_TOKEN", token(cast, "manage_notifications", "view"))

    ended = command.run("notifications", "add-channel", "ci", HOOK["url"], "-e", "invoice.issued")

    assert (ended.code, ended.error) == (3, CODE)
    assert not Channel.objects.exists()


def test_the_list_of_kinds_says_what_each_needs(cast: Cast, owner: APIClient) -> None:
    rows = owner.get(cast.path("/notification-kinds")).json()["items"]

    needs = {row["key"]: row["needs"] for row in rows}
    assert needs["invoice.issued"] == "view_billing"
    assert needs["alarm.raised"] == "view"
