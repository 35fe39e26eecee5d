"""The settings of an address in the portal: who may change them, and what a change does."""

import pytest

from controlplane.core.audit import SYSTEM
from tenants.actions import addresses
from tenants.models import Address
from tests.suites.portal.conftest import As
from tests.support import domain
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def orders(world: World) -> Address:
    return domain.address(rows.space(world.tenant, "orders"), "orders", "queue")


def url(address: Address) -> str:
    return f"/t/acme-shipping/spaces/orders/addresses/{address.id}/settings"


def test_a_change_is_applied_and_what_is_left_empty_stays_the_plans(
    world: World, as_: As, orders: Address
) -> None:
    client = as_(world.owner)
    assert "Nothing restarts" in client.get(url(orders)).content.decode()

    changed = client.post(
        url(orders), {"generation": orders.generation, "max_delivery_attempts": "3"}
    )

    assert changed.status_code == 302, changed.content.decode()
    shown = client.get(url(orders)).content.decode()
    assert "The settings of" in shown
    assert "are being changed. Nothing restarts." in shown
    before = orders.settings
    orders.refresh_from_db()
    assert orders.settings.max_delivery_attempts == 3
    assert orders.settings.max_bytes == before.max_bytes


def test_a_page_that_somebody_else_outdated_changes_nothing(
    world: World, as_: As, orders: Address
) -> None:
    stale = orders.generation
    addresses.update(
        address=orders, settings=type(orders.settings)(max_delivery_attempts=5), by=SYSTEM
    )

    refused = as_(world.owner).post(
        url(orders), {"generation": stale, "max_delivery_attempts": "3"}
    )

    assert "Show the settings as they are now" in refused.content.decode()
    orders.refresh_from_db()
    assert orders.settings.max_delivery_attempts == 5


def test_the_form_calls_other_settings_by_their_titles(
    world: World, as_: As, orders: Address
) -> None:
    page = as_(world.owner).get(url(orders)).content.decode()

    assert "Not together with “Message lifetime”" in page
    assert "message_ttl_ms, which" not in page


def test_members_who_may_not_change_them_read_them(world: World, as_: As, orders: Address) -> None:
    page = as_(world.billing).get(url(orders)).content.decode()

    assert "Settings in force" in page
    assert "Change settings" not in page
    posted = as_(world.billing).post(url(orders), {"generation": orders.generation})
    assert posted.status_code == 403
    assert as_(world.outsider).get(url(orders)).status_code == 404


def test_the_form_of_a_new_address_shows_what_an_empty_field_means(world: World, as_: As) -> None:
    rows.space(world.tenant, "orders")

    page = as_(world.owner).get("/t/acme-shipping/spaces/orders/addresses/new?type=queue")

    shown = page.context["form"]
    attempts, size = shown["max_delivery_attempts"], shown["max_mebibytes"]
    assert attempts.help_text.endswith("goes to the dead letters. Default: 10.")
    assert attempts.field.widget.attrs["placeholder"] == "10"
    assert shown["message_ttl_seconds"].help_text.endswith("Default: no value.")
    # The sizes differ, so that no single value is the placeholder.
    assert "Default: 40 MiB in Standard small queue; 400 MiB in Standard medium queue" in str(
        size.help_text
    )
    assert "placeholder" not in size.field.widget.attrs
    assert "Default: 10." in page.content.decode()
