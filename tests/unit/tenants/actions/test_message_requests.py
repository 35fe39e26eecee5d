"""A test message that nobody may send now is refused with the reason and with what to do."""

from typing import Any

import pytest
from django.utils import timezone

from controlplane.core.audit import SYSTEM
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
