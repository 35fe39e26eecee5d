"""Channels, deliveries, preferences and alarms by the API and the command."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.cli import alarms as alarms_command
from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from tenants.models import Address, AddressSpace, Tenant, User
from tenants.notifications.models import AddressAlarm, Attempt, Channel, Delivery, Event
from tests.suites.api.conftest import Cast, problem
from tests.support import command
from tests.support.notifications import notified

HOOK = {"name": "ci", "kind": "webhook", "url": "https://hooks.example/a?key=hidden"}
LOGIN = "user:x"
CHAT = {"name": "chat", "kind": "chat", "url": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdev"}


@pytest.fixture
def channels(cast: Cast) -> str:
    return cast.path("/notification-channels")


def test_a_secret_is_shown_once_and_the_url_never(
    owner: APIClient, channels: str, cast: Cast
) -> None:
    made = owner.post(channels, HOOK)
    body = made.json()

    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    assert body["secret"].startswith("whsec_")
    assert body["target"] == "https://hooks.example"
    read = owner.get(f"{channels}/{body['id']}")
    listed = owner.get(channels)
    for answer in (read, listed):
        assert body["secret"] not in answer.content.decode()
        assert "hidden" not in answer.content.decode()
    stored = Channel.objects.get()
    assert body["secret"] not in stored.secret_encrypted
    assert "hidden" not in stored.target_encrypted
    audit = AuditEvent.objects.get(action="channel.create")
    assert "hidden" not in json.dumps(audit.after)
    assert audit.tenant_id == cast.tenant.pk


def test_a_repeated_creation_makes_one_channel(owner: APIClient, channels: str) -> None:
    first = owner.post(channels, HOOK, HTTP_IDEMPOTENCY_KEY="one")
    again = owner.post(channels, HOOK, HTTP_IDEMPOTENCY_KEY="one")

    assert first.json()["id"] == again.json()["id"]
    assert Channel.objects.count() == 1
    assert again.json() == {**first.json(), "secret": None}


def test_a_repeated_rotation_makes_one_secret_and_does_not_show_it_again(
    owner: APIClient, channels: str
) -> None:
    path = f"{channels}/{owner.post(channels, HOOK).json()['id']}/secret"

    first = owner.post(path, HTTP_IDEMPOTENCY_KEY="one")
    again = owner.post(path, HTTP_IDEMPOTENCY_KEY="one")

    assert first.json()["secret"].startswith("whsec_")
    assert again.json() == {**first.json(), "secret": None}


def test_a_repeated_test_of_a_channel_sends_one_event(
    owner: APIClient, channels: str, tenant: Tenant
) -> None:
    path = f"{channels}/{notified.webhook(tenant).pk}/test"

    answers = [owner.post(path, HTTP_IDEMPOTENCY_KEY="one") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [204, 204]
    assert Event.objects.filter(kind="channel.test").count() == 1


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({**HOOK, "url": "http://hooks.example/"}, "url.refused"),
        ({**HOOK, "url": "https://127.0.0.1/"}, "url.refused"),
        ({**HOOK, "url": f"https://{LOGIN}@hooks.example/"}, "url.refused"),
        ({**CHAT, "url": "json://127.0.0.1/"}, "chat_url.refused"),
        ({**CHAT, "url": "mailto://user:password@mail.example"}, "chat_url.refused"),
        ({**CHAT, "url": CHAT["url"] + "?template=/etc/passwd"}, "chat_url.refused"),
        ({**CHAT, "url": "https://hooks.slack.example/x"}, "chat_url.refused"),
        ({**HOOK, "kinds": ["no.such"]}, "channel.invalid"),
        ({**HOOK, "kinds": ["channel.test"]}, "channel.invalid"),
        ({**HOOK, "name": " "}, "request.invalid"),
        ({**HOOK, "nonsense": 1}, "request.invalid"),
    ],
)
def test_what_no_channel_may_be_is_refused(
    owner: APIClient, channels: str, body: dict[str, Any], code: str
) -> None:
    problem(owner.post(channels, body), 422, code)


def test_a_chat_has_no_secret_to_rotate(owner: APIClient, channels: str) -> None:
    made = owner.post(channels, CHAT).json()

    assert (made["secret"], made["target"]) == ("", "Slack")
    problem(owner.post(f"{channels}/{made['id']}/secret"), 409, "channel.no_secret")


def test_a_name_is_free_once(owner: APIClient, channels: str) -> None:
    owner.post(channels, HOOK)

    problem(owner.post(channels, HOOK), 409, "channel.exists")


def test_a_tenant_has_so_many_channels(owner: APIClient, channels: str, tenant: Tenant) -> None:
    for number in range(20):
        notified.webhook(tenant, f"hook-{number}")

    problem(owner.post(channels, HOOK), 409, "channel.too_many")


def test_a_change_needs_the_present_etag_if_one_is_sent(owner: APIClient, channels: str) -> None:
    made = owner.post(channels, HOOK)
    path, tag = f"{channels}/{made.json()['id']}", made["ETag"]

    changed = owner.patch(path, {"kinds": ["alarm.raised"]}, HTTP_IF_MATCH=tag)
    assert changed.status_code == 200
    assert changed.json()["kinds"] == ["alarm.raised"]
    assert changed["ETag"] != tag
    problem(owner.patch(path, {"name": "x"}, HTTP_IF_MATCH=tag), 412, "generation.changed")
    problem(owner.delete(path, HTTP_IF_MATCH=tag), 412, "generation.changed")
    assert owner.patch(path, {"kinds": ["alarm.raised"]})["ETag"] == changed["ETag"]  # no change


def test_enabling_forgets_failures(owner: APIClient, channels: str, tenant: Tenant) -> None:
    channel = notified.webhook(tenant)
    path = f"{channels}/{channel.pk}"
    off = owner.patch(path, {"enabled": False}).json()
    assert (off["enabled"], off["disabled_reason"]) == (False, "a member has disabled it.")
    problem(
        owner.post(
            path.replace("channels/" + channel.pk, "deliveries/")
            + notified.delivery(channel).pk
            + "/replay"
        ),
        409,
        "channel.disabled",
    )

    assert owner.get(channels, {"enabled": "true"}).json()["items"] == []
    assert owner.get(channels, {"enabled": "false"}).json()["items"] == [off]

    on = owner.patch(path, {"enabled": True}).json()
    assert (on["enabled"], on["failing_since"]) == (True, None)


def test_a_test_event_goes_to_this_channel_alone(
    owner: APIClient, channels: str, tenant: Tenant
) -> None:
    channel = notified.webhook(tenant)
    assert owner.post(f"{channels}/{channel.pk}/test").status_code == 204

    event = Event.objects.get(kind="channel.test")
    assert event.channel == channel
    assert event.fields["organization"] == tenant.name


def test_the_log_has_attempts_and_a_replay_begins_again(
    owner: APIClient, cast: Cast, tenant: Tenant
) -> None:
    delivery = notified.delivery(notified.webhook(tenant))
    Attempt.objects.create(
        delivery=delivery, at=delivery.created_at, status=500, duration_ms=7, error="no"
    )
    Delivery.objects.update(state="failed", ended_at=delivery.created_at, attempts=11)
    path = cast.path("/notification-deliveries")

    listed = owner.get(path, {"state": "failed"}).json()["items"]
    assert [row["id"] for row in listed] == [delivery.pk]
    assert owner.get(path, {"state": "waiting"}).json()["items"] == []
    problem(owner.get(path, {"foo": "1"}), 422, "query.unknown")
    for name, value in (("kind", "alarm.raised"), ("event", delivery.event_id)):
        assert owner.get(path, {name: value}).json()["items"] == listed
        assert owner.get(path, {name: "other"}).json()["items"] == []
    detail = owner.get(f"{path}/{delivery.pk}").json()
    assert detail["log"][0]["status"] == 500
    assert detail["fields_sent"]["address"] == "orders"
    replayed = owner.post(f"{path}/{delivery.pk}/replay")
    assert replayed.status_code == 202
    assert (replayed.json()["state"], replayed.json()["attempts"]) == ("waiting", 0)


def test_ids_of_another_tenant_are_not_found(
    cast: Cast, owner: APIClient, queue: Address, space: AddressSpace
) -> None:
    theirs = notified.webhook(cast.other)
    delivery = notified.delivery(theirs)
    outsider = cast.call("outsider")
    mine = f"/api/v1/tenants/{cast.other.slug}"
    assert outsider.get(f"{mine}/notification-channels/{theirs.pk}").status_code == 200

    channel = cast.path(f"/notification-channels/{theirs.pk}")
    problem(owner.get(channel), 404, "channel.missing")
    problem(owner.patch(channel, {"name": "mine"}), 404, "channel.missing")
    problem(owner.delete(channel), 404, "channel.missing")
    problem(owner.post(f"{channel}/test"), 404, "channel.missing")
    problem(owner.post(f"{channel}/secret"), 404, "channel.missing")
    log = cast.path(f"/notification-deliveries/{delivery.pk}")
    problem(owner.get(log), 404, "delivery.missing")
    problem(owner.post(f"{log}/replay"), 404, "delivery.missing")
    filtered = owner.get(cast.path("/notification-deliveries"), {"channel": theirs.pk})
    assert filtered.json()["items"] == []
    alarm = notified.alarm(queue)
    problem(
        outsider.get(f"{mine}/address-spaces/main/alarms/{alarm.pk}"), 404, "address_space.missing"
    )


def test_each_person_chooses_for_themselves_and_a_manager_for_those_who_did_not(
    cast: Cast, owner: APIClient
) -> None:
    own, defaults = (
        cast.path("/notification-preferences/me"),
        cast.path("/notification-preferences"),
    )
    developer = cast.call("developer")

    def by_mail(client: APIClient, kind: str) -> Any:
        return {row["kind"]: row["by_mail"] for row in client.get(own).json()["items"]}.get(kind)

    assert by_mail(developer, "alarm.raised") is True
    assert owner.patch(defaults, {"choices": {"alarm.raised": False}}).status_code == 200
    assert by_mail(developer, "alarm.raised") is by_mail(owner, "alarm.raised") is False
    developer.patch(own, {"choices": {"alarm.raised": True}})
    assert by_mail(developer, "alarm.raised") is True
    assert by_mail(owner, "alarm.raised") is False
    developer.patch(own, {"choices": {"alarm.raised": None}})
    assert by_mail(developer, "alarm.raised") is False
    assert by_mail(developer, "invoice.issued") is None
    for kind in ("invoice.issued", "channel.disabled", "no.such"):
        problem(developer.patch(own, {"choices": {kind: True}}), 422, "preference.invalid")
    problem(cast.call("token").get(own), 403, "denied")


def test_a_budget_is_set_and_removed(cast: Cast, owner: APIClient) -> None:
    path = cast.path("/notification-preferences")

    assert owner.patch(path, {"budget_minor": 5000}).json()["budget_minor"] == 5000
    problem(owner.patch(path, {"budget_minor": 0}), 422, "budget.invalid")
    assert owner.get(path).json()["budget_minor"] == 5000
    assert owner.patch(path, {"budget_minor": None}).json()["budget_minor"] is None


@pytest.fixture
def alarms(cast: Cast, queue: Address) -> str:
    return cast.path("/address-spaces/main/alarms")


def test_an_alarm_is_found_in_its_own_space_only(
    cast: Cast, owner: APIClient, queue: Address, make_spaces: Callable[..., list[AddressSpace]]
) -> None:
    (second,) = make_spaces(cast.tenant, 1, 1)
    (theirs,) = make_spaces(cast.other, 1, 1)
    mine = notified.alarm(second.addresses.get())
    foreign = notified.alarm(theirs.addresses.get())
    alarms = cast.path("/address-spaces/main/alarms")

    assert owner.get(alarms).json()["items"] == []
    for alarm in (mine, foreign):
        path = f"{alarms}/{alarm.pk}"
        problem(owner.get(path), 404, "alarm.missing")
        problem(owner.put(path, {"threshold": 1}), 404, "alarm.missing")
        problem(owner.delete(path), 404, "alarm.missing")
    own = cast.path(f"/address-spaces/{second.name}/alarms")
    assert [row["id"] for row in owner.get(own).json()["items"]] == [mine.pk]
    assert AddressAlarm.objects.count() == 2


RULE = {"address": "orders/new", "metric": "depth", "threshold": 1000, "for_seconds": 60}


def test_an_alarm_is_made_read_changed_and_deleted(owner: APIClient, alarms: str) -> None:
    made = owner.post(alarms, RULE)
    body = made.json()
    assert made.status_code == 201
    assert (body["clear_below"], body["raised_at"]) == (800, None)
    path = f"{alarms}/{body['id']}"

    assert owner.get(path).json() == body
    assert owner.get(alarms, {"address": "orders/new"}).json()["items"] == [body]
    assert owner.get(alarms, {"address": "other"}).json()["items"] == []
    assert owner.get(alarms, {"is_raised": "false"}).json()["items"] == [body]
    assert owner.get(alarms, {"is_raised": "true"}).json()["items"] == []
    changed = owner.put(path, {"threshold": 5, "clear_below": 2}, HTTP_IF_MATCH=made["ETag"])
    assert (changed.json()["threshold"], changed.json()["for_seconds"]) == (5, 0)
    problem(
        owner.put(path, {"threshold": 6}, HTTP_IF_MATCH=made["ETag"]), 412, "generation.changed"
    )
    assert owner.delete(path).status_code == 204
    problem(owner.get(path), 404, "alarm.missing")
    audited = AuditEvent.objects.filter(subject_type="alarm").order_by("id")
    actions = [event.action for event in audited]
    assert actions == ["alarm.create", "alarm.update", "alarm.delete"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0},
        {"threshold": 10, "clear_below": 11},
        {"for_seconds": -1},
        {"for_seconds": 700_000},
        {"threshold": 10**16},
    ],
)
def test_limits_that_make_no_sense_are_refused(
    owner: APIClient, alarms: str, wrong: dict[str, int]
) -> None:
    problem(owner.post(alarms, {**RULE, **wrong}), 422, "alarm.invalid")


def test_an_alarm_exists_once_and_ten_at_most(
    owner: APIClient, alarms: str, queue: Address
) -> None:
    owner.post(alarms, RULE)
    problem(owner.post(alarms, RULE), 409, "alarm.exists")
    for number in range(9):
        notified.alarm(queue, threshold=10 + number)

    problem(owner.post(alarms, {**RULE, "threshold": 7}), 409, "alarm.too_many")


@pytest.fixture
def run(cast: Cast, queue: Address, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run `waypost …` as the owner against the API in this process; return what it prints."""
    command.connect(monkeypatch, command.apply_rows)
    monkeypatch.setenv("WAYPOST_TENANT", cast.tenant.slug)
    monkeypatch.setenv("WAYPOST_TOKEN", cast.token(cast.tenant))

    def run(*arguments: str) -> Any:
        ended = command.run(*arguments)
        assert ended.code == 0, ended.stderr + ended.error
        return json.loads(ended.stdout) if "json" in arguments else ended.stdout + ended.stderr

    return run


def test_the_command_sets_lists_and_deletes_alarms(run: Callable[..., Any]) -> None:
    made = run("alarms", "create", "main", "orders/new", "age", "300", "for", "0", "-o", "json")
    assert (made["metric"], made["threshold"], made["clear_below"]) == ("age", 300, 240)
    assert made["id"] in run("alarms", "list", "main", "--address", "orders/new")
    limits = ("600", "for", "60", "below", "9")
    changed = run("alarms", "update", "main", made["id"], *limits, "-o", "json")
    assert (changed["threshold"], changed["for_seconds"], changed["clear_below"]) == (600, 60, 9)
    for wrong in (["x"], ["5", "for"], ["5", "over", "6"], ["5", "for", "-1"]):
        with pytest.raises(Invalid):
            alarms_command.parsed(wrong)
    run("alarms", "delete", "main", made["id"])
    assert not AddressAlarm.objects.exists()


def test_the_command_manages_channels_and_replays(run: Callable[..., Any], tenant: Tenant) -> None:
    made = run(
        "notifications", "add-channel", "ci", HOOK["url"], "-e", "alarm.raised", "-o", "json"
    )
    assert made["secret"].startswith("whsec_")
    assert made["kinds"] == ["alarm.raised"]
    assert "ci" in run("notifications", "channels")
    for named in (made["id"], "ci"):
        run("notifications", "test-channel", named)
    assert Event.objects.filter(kind="channel.test").count() == 2
    rotated = run("notifications", "rotate-secret", made["id"], "-o", "json")
    assert rotated["secret"] != made["secret"]
    assert (
        run("notifications", "enable-channel", made["id"], "--off", "-o", "json")["enabled"]
        is False
    )
    run("notifications", "enable-channel", made["id"])
    delivery = notified.delivery(Channel.objects.get())
    assert delivery.pk in run("notifications", "deliveries", "--state", "waiting")
    assert delivery.pk in run("notifications", "deliveries", "--channel", "ci")
    assert run("notifications", "delivery", delivery.pk, "-o", "json")["log"] == []
    assert "alarm.raised" in run("notifications", "delivery", delivery.pk)
    assert run("notifications", "replay", delivery.pk, "-o", "json")["state"] == "waiting"
    run("notifications", "remove-channel", "ci", "--yes")
    assert not Channel.objects.exists()


def test_the_command_lists_kinds_and_chooses_mails(
    run: Callable[..., Any], cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.utils import timezone

    from controlplane.api import person_tokens

    owner: User = cast.people["owner"]
    monkeypatch.setenv("WAYPOST_TOKEN", person_tokens.issue(owner, timezone.now())[0])
    assert "alarm.raised" in run("notifications", "kinds")
    run("notifications", "mail", "alarm.raised", "--off")
    rows = {row["kind"]: row for row in run("notifications", "mails", "-o", "json")}
    assert rows["alarm.raised"]["own"] is rows["alarm.raised"]["by_mail"] is False
