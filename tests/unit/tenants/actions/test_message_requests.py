"""What a request for an operation on messages refuses, and what the audit log says of it."""

from typing import Any

import pytest
from django.utils import timezone

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from tenants.actions import message_requests
from tenants.actions.message_requests import SendWithdrawn
from tenants.models import Address, AddressSpace, Tenant, UnpaidStage
from tests.support import domain

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "A quota of this organization is used up"),
        ({"unpaid_stage": UnpaidStage.LIMITED}, "Invoices are unpaid"),
        ({"unpaid_stage": UnpaidStage.SUSPENDED}, "Invoices are unpaid"),
        ({"suspended_at": NOW, "suspension_reason": "Spam."}, "This organization is suspended"),
        ({"erase_at": NOW}, "This organization is being closed"),
    ],
)
def test_the_refusal_names_what_withdrew_sending(fields: dict[str, Any], reason: str) -> None:
    orders = domain.address(domain.space(domain.cast().tenant, "brokered"), "orders")
    Tenant.objects.filter(pk=orders.space.tenant_id).update(**fields)
    AddressSpace.objects.filter(pk=orders.space_id).update(send_withdrawn=True)

    with pytest.raises(SendWithdrawn) as refusal:
        message_requests.send(address=Address.objects.get(pk=orders.pk), body="x", by=SYSTEM)

    assert refusal.value.message.startswith(reason)


def test_the_audit_says_how_many_messages_were_selected_but_not_of_a_test_message() -> None:
    space = domain.space(domain.cast().tenant, "brokered")
    orders, other = domain.address(space, "orders"), domain.address(space, "other")

    message_requests.send(address=orders, body="x", by=SYSTEM)
    message_requests.delete(address=other, messages=["broker-0:1"], by=SYSTEM)

    events = AuditEvent.objects.filter(action__startswith="messages.")
    assert {event.action: event.after for event in events} == {
        "messages.send": {},
        "messages.delete": {"selected": 1},
    }


@pytest.mark.parametrize(
    ("came_from", "counted", "known"), [("orders", 0, None), ("orders", 2, 2), ("", 0, 0)]
)
def test_a_moved_message_has_no_count_before_its_queue_delivers_it(
    came_from: str, counted: int, known: int | None
) -> None:
    message = {"came_from": came_from, "deliveries": counted}

    assert message_requests.deliveries_of(message) == known


def test_a_topic_says_that_its_subscriptions_store_its_messages(cast: domain.Cast) -> None:
    news = domain.address(domain.space(cast.tenant, "brokered"), "news", "topic")

    with pytest.raises(message_requests.NotStored, match=r"is a topic: .* in its subscriptions"):
        message_requests.purge(address=news, by=SYSTEM)
