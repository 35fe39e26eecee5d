"""The spend cap on pages: tried on last month, set, shown with both parts, removed."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from plans.models import QuotaAlert, SpendCap
from tests.suites.portal.conftest import As
from tests.support.plans import usage_tails
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
PAGE = "/t/acme-shipping/usage/spend-cap"


def test_a_cap_is_tried_before_it_is_set_and_removed(world: World, as_: As) -> None:
    client = as_(world.owner)
    empty = client.get(PAGE).content.decode()
    tried = client.get(PAGE, {"amount": "1", "action": "refuse_connections"}).content.decode()
    nothing_saved = not SpendCap.objects.exists()

    answer = client.post(PAGE, {"amount": "1.50", "action": "refuse_connections"})
    cap = SpendCap.objects.get()
    page = client.get(PAGE).content.decode()
    removed = client.post(PAGE, {"remove": "1"})

    assert "There is no cap" in empty
    assert "It would have acted on" in tried  # the plan's fee alone is more
    assert re.search(
        r"The fee alone is [1-9][\d,.]* EUR: with this cap, clients cannot connect", tried
    )
    assert "waypost spend-cap set 100 --action refuse_connections" in tried
    assert nothing_saved
    assert answer.status_code == removed.status_code == 302
    assert (cap.amount_minor, cap.action) == (150, "refuse_connections")
    assert "by usage that has landed" in page
    assert not SpendCap.objects.exists()


def test_a_cap_that_is_no_amount_is_refused(world: World, as_: As) -> None:
    answer = as_(world.owner).post(PAGE, {"amount": "-3", "action": "explode"})

    assert answer.status_code == 400
    assert not SpendCap.objects.exists()


def test_both_parts_of_a_limit_are_on_the_usage_page(world: World, as_: As) -> None:
    usage_tails.store(world.tenant.pk, {"messages_in": 2000, "messages_out": 0}, timezone.now())

    page = as_(world.owner).get("/t/acme-shipping/usage/").content.decode()

    assert "Limits of this month" in page
    assert "Messages a month" in page
    assert "you are notified" in page


def test_who_may_not_see_amounts_sees_no_alert_of_the_cap(world: World, as_: As) -> None:
    QuotaAlert.objects.create(
        tenant=world.tenant,
        resource="spend",
        period_starts_at=rows.this_month() + timedelta(0),
        level_percent=100,
        used=60000,
        limit=50000,
        currency="EUR",
        tail=100,
        action="throttle",
    )

    owner = as_(world.owner).get("/t/acme-shipping/usage/").content.decode()
    developer = as_(world.member).get("/t/acme-shipping/usage/").content.decode()

    assert "monthly spend cap is used: 600.00 EUR of 500.00 EUR, 1.00 EUR of it not landed" in owner
    assert "spend cap" not in developer
