"""The page of an address's messages: who sees it, what a worker read, what it begins."""

import json

import pytest
from django.utils import timezone

from controlplane.console.forms.stored_messages import ChangeForm
from controlplane.core import operations, secrets
from controlplane.core.audit import SYSTEM
from tenants import permissions
from tenants.actions import message_requests
from tenants.models import Address, MessageRequest
from tenants.permissions import Permission
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
SHOWN = {
    "id": "broker-0:7",
    "body": "<b>hello</b>",
    "size": 12,
    "deliveries": 1,
    "came_from": "orders",
    "is_binary": False,
    "is_whole": True,
    "durable": True,
    "priority": 4,
    "group": "",
    "properties": {},
    "application_properties": {"region": "eu"},
}


def test_messages_are_browsed_and_resent(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    client = as_(world.owner)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"
    assert "Browse to see messages" in client.get(url).content.decode()

    answer = client.post(url)
    assert "are being read" in client.get(answer["Location"]).content.decode()
    row = MessageRequest.objects.get(kind="browse")
    row.sealed = secrets.encrypt(json.dumps({"messages": [SHOWN], "next": ""}))
    row.finished_at = timezone.now()
    row.save()
    operations.succeed("message_request", row.pk, up_to_generation=1)
    text = client.get(answer["Location"]).content.decode()
    assert "Only to move." in text
    assert "Only to resend: messages in a second." in text
    assert "&lt;b&gt;hello&lt;/b&gt;" in text
    assert "region" in text

    asked = {"verb": "resend", "message": ["broker-0:7"], "rate": "10"}
    question = client.post(f"{url}/change", asked)
    assert "Resend 1 message?" in question.content.decode()
    assert not MessageRequest.objects.filter(kind="resend").exists()
    assert client.post(f"{url}/change", {**asked, "confirmed": "on"}).status_code == 302
    resend = MessageRequest.objects.get(kind="resend")
    assert resend.arguments == {"rate": 10, "messages": ["broker-0:7"]}
    assert "Resend messages of invoices" in client.get(url).content.decode()
    refused = client.post(f"{url}/purge", {"confirmation": address.address})
    assert refused.status_code == 409
    assert "message_request.running" in refused.content.decode()


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (1_795_000_000_123, "18 Nov 2026, 11:06"),
        (2**52, str(2**52)),  # no calendar has it
        # What is larger, and what is no number, is stored as text.
        (str(2**60), str(2**60)),
        ("<b>now</b>", "&lt;b&gt;now&lt;/b&gt;"),
    ],
)
def test_a_time_of_a_message_is_a_date_and_any_other_value_is_shown_as_it_is(
    world: World, as_: As, time: int | str, words: str
) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    client = as_(world.owner)
    answer = client.post(f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages")
    shown = {**SHOWN, "properties": {"creation_time": time}}
    row = MessageRequest.objects.get(kind="browse")
    row.sealed = secrets.encrypt(json.dumps({"messages": [shown], "next": ""}))
    row.finished_at = timezone.now()
    row.save()
    operations.succeed("message_request", row.pk, up_to_generation=1)

    page = client.get(answer["Location"]).content.decode()

    assert words in page.split("creation time", 1)[1].split("</dd>", 1)[0]


def test_a_test_message_has_properties_with_types(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    client = as_(world.owner)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages/send"

    refused = client.post(url, {"body": "x", "properties": "region"})
    assert "Line 1: write name=value." in refused.content.decode()
    sent = client.post(url, {"body": "x", "properties": 'n=7\nid="7"\nregion=north\nok=true'})

    assert sent.status_code == 302
    sealed = json.loads(secrets.decrypt(MessageRequest.objects.get(kind="send").sealed))
    assert sealed["properties"] == {"n": 7, "id": "7", "region": "north", "ok": True}
    assert sealed["durable"] is False


def test_deletion_of_selected_messages_is_asked_once(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages/change"
    asked = {"verb": "delete", "message": ["broker-0:7", "broker-0:8"]}

    question = as_(world.owner).post(url, asked).content.decode()

    assert "Delete 2 messages?" in question
    assert "cannot be undone" in question
    assert question.count('name="message"') == 2
    assert as_(world.billing).post(url, {**asked, "confirmed": "on"}).status_code == 403
    assert not MessageRequest.objects.exists()


def test_others_do_not_see_messages(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"

    assert as_(world.billing).get(url).status_code == 403
    assert as_(world.outsider).get(url).status_code == 404
    assert as_(world.billing).post(f"{url}/send", {"body": "x"}).status_code == 403


@pytest.mark.parametrize("verb", ["resend", "move", "delete"])
def test_the_form_offers_only_what_the_role_may_do(
    world: World, as_: As, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give_billing(monkeypatch, permissions.OF_MESSAGES["browse"], permissions.OF_MESSAGES[verb])
    space = rows.space(world.tenant, "main")
    address = rows.address(space)
    other = rows.address(space, "other")
    client = as_(world.billing)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"
    text = client.get(f"{url}?page={_browsed(address)}").content.decode()

    assert {one for one in ChangeForm.VERBS if f'<option value="{one}"' in text} == {verb}
    assert ('name="to"' in text, 'name="rate"' in text) == (verb == "move", verb == "resend")
    assert ("/messages/purge" in text, "Send a test message" in text) == (False, False)
    for asked in ChangeForm.VERBS:
        values = {"verb": asked, "message": "broker-0:7", "to": other.address, "confirmed": "on"}
        assert client.post(f"{url}/change", values).status_code == (302 if asked == verb else 403)
    assert [row.kind for row in MessageRequest.objects.exclude(kind="browse")] == [verb]
    assert client.get(f"{url}/purge").status_code == 403
    assert client.post(f"{url}/send", {"body": "x"}).status_code == 403


def test_whoever_may_only_send_or_only_read_sees_no_more(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    client = as_(world.billing)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"
    page = _browsed(address)

    _give_billing(monkeypatch, permissions.OF_MESSAGES["browse"])
    text = client.get(f"{url}?page={page}").content.decode()
    assert "&lt;b&gt;hello" in text
    assert 'type="checkbox"' not in text
    assert "Change messages" not in text

    _give_billing(monkeypatch, permissions.OF_MESSAGES["send"])
    own = f"/t/acme-shipping/spaces/main/addresses/{address.pk}"
    assert f'href="{own}/messages"' in client.get(own).content.decode()  # the tab
    text = client.get(f"{url}?page={page}").content.decode()
    assert "Send a test message" in text
    assert "Your role may send test messages" in text
    assert [word for word in ("hello", "Browse", "Purge", "Change messages") if word in text] == []
    assert client.post(url).status_code == 403
    refused = client.post(f"{url}/send?page={page}", {"properties": "x"})
    assert refused.status_code == 400
    assert "hello" not in refused.content.decode()
    assert client.post(f"{url}/send", {"body": "x"}).status_code == 302

    _give_billing(monkeypatch, Permission.VIEW_BILLING)
    assert client.get(url).status_code == 403
    assert f'href="{own}/messages"' not in client.get(own).content.decode()


def test_a_page_that_was_not_reached_says_so_and_is_browsed_again(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    client = as_(world.owner)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"
    page = client.post(url, {"after": "broker-0:90000:12"})["Location"]
    row = MessageRequest.objects.get()
    row.finished_at = timezone.now()
    row.save()
    reason = "This page begins after 90000 messages, and the broker has passed 70000 of them."
    operations.fail("message_request", row.pk, code="messages.failed", message=reason)

    text = client.get(page).content.decode()

    assert reason in text
    assert 'name="after" value="broker-0:90000:12"><button class="button">Browse this' in text


def _give_billing(monkeypatch: pytest.MonkeyPatch, *given: Permission) -> None:
    """Give the role of billing these permissions, and ``view``, instead of its own."""
    role = frozenset({Permission.VIEW, *given})
    monkeypatch.setattr(permissions, "ROLES", {**permissions.ROLES, "billing": role})


def _browsed(address: Address, **changes: object) -> str:
    """Return the id of a request that has read ``SHOWN`` with ``changes``."""
    operation = message_requests.browse(address=address, by=SYSTEM)
    row = MessageRequest.objects.get(pk=operation.subject_id)
    row.sealed = secrets.encrypt(json.dumps({"messages": [{**SHOWN, **changes}], "next": ""}))
    row.finished_at = timezone.now()
    row.save()
    operations.succeed("message_request", row.pk, up_to_generation=1)
    return row.pk


@pytest.mark.parametrize(
    ("verb", "chosen", "done", "error", "shown"),
    [
        ("resend", ["broker-0:7"], 1, "", "1 message resent."),
        (
            "resend",
            ["broker-0:7"],
            0,
            "",
            "0 of 1 message resent: it is no longer there, or cannot be resent.",
        ),
        (
            "move",
            ["broker-0:7", "broker-0:8"],
            1,
            "",
            "1 of 2 messages moved: the others are no longer there, or cannot be moved.",
        ),
        ("delete", ["broker-0:7"], 0, "The broker refused this.", "0 messages deleted. The broker"),
        ("purge", None, 1200, "", "1,200 messages deleted."),
        ("send", None, 1, "", "The test message was sent."),
    ],
)
def test_the_outcome_of_a_change_stays_and_the_messages_are_read_again(
    world: World, as_: As, verb: str, chosen: list[str] | None, done: int, error: str, shown: str
) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    other = rows.address(address.space, "other")
    client, page = as_(world.owner), _browsed(address)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages"
    asked = {"verb": verb, "message": chosen or [], "to": other.address, "confirmed": "on"}
    more = {"body": "x", "confirmation": address.address}
    path = "change" if chosen else verb
    begun = client.post(f"{url}/{path}?page={page}", asked if chosen else more)
    assert "Running" in client.get(begun["Location"]).content.decode()
    row = MessageRequest.objects.exclude(kind="browse").get()
    _end(row, done, error)

    text = client.get(begun["Location"]).content.decode()

    assert shown in text
    assert "Read the messages again" in text
    again = client.post(begun["Location"])
    assert f"change={row.pk}" in again["Location"]
    after = client.get(again["Location"]).content.decode()
    assert shown in after
    assert "are being read" in after
    assert "Read the messages again" not in after
    assert shown not in client.get(f"{url}?page={page}").content.decode()


def test_the_activity_of_a_space_says_how_many_messages_changed(world: World, as_: As) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    message_requests.resend(address=address, messages=None, by=SYSTEM)
    _end(MessageRequest.objects.get(), 3, "")
    message_requests.send(address=address, body="x", by=SYSTEM)

    text = as_(world.owner).get("/t/acme-shipping/spaces/main/activity").content.decode()

    assert "Succeeded</span> 3 messages" in text
    assert f"Send a test message to {address.address}" in text


@pytest.mark.parametrize(
    ("came_from", "deliveries", "shown"),
    [("orders", 0, "\N{EN DASH}"), ("orders", 2, "2"), ("", 0, "0")],
)
def test_a_dead_letter_shows_no_count_that_began_again(
    world: World, as_: As, came_from: str, deliveries: int, shown: str
) -> None:
    address = rows.address(rows.space(world.tenant, "main"))
    page = _browsed(address, came_from=came_from, deliveries=deliveries)
    url = f"/t/acme-shipping/spaces/main/addresses/{address.pk}/messages?page={page}"

    assert f'data-label="Deliveries">{shown}<' in as_(world.owner).get(url).content.decode()


def _end(row: MessageRequest, done: int, error: str) -> None:
    row.done, row.finished_at = done, timezone.now()
    row.save()
    operations.progress("message_request", row.pk, [], messages_changed=row.changed)
    if error:
        operations.fail("message_request", row.pk, code="messages.failed", message=error)
    else:
        operations.succeed("message_request", row.pk, up_to_generation=1)
