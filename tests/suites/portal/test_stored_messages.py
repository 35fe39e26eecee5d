"""The page of an address's messages: who sees it, what a worker read, what it begins."""

import json

import pytest
from django.utils import timezone

from controlplane.core import operations, secrets
from tenants.models import MessageRequest
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
