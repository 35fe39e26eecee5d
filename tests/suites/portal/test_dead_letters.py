"""Dead letters in the portal: the check box of a new space, the default, the warning."""

import pytest

from tenants.models import Address, AddressSpace
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"
NEW = HOME + "spaces/-/new"
ASKED = {"name": "orders", "space_plan": "brokered-small"}


def test_the_check_box_decides_about_the_address(world: World, as_: As) -> None:
    client = as_(world.owner)
    shown = client.get(NEW).content.decode()

    client.post(NEW, {**ASKED, "dead_letters": "on"})
    client.post(NEW, {**ASKED, "name": "bare"})

    assert "checked" in shown.split('name="dead_letters"')[1].split(">")[0]
    made = {space.name: space.addresses.count() for space in AddressSpace.objects.all()}
    assert made == {"orders": 1, "bare": 0}


def test_a_new_space_still_leads_to_its_first_address(world: World, as_: As) -> None:
    client = as_(world.owner)

    client.post(NEW, {**ASKED, "dead_letters": "on"})

    assert "Add the first address" in client.get(HOME + "spaces/orders/").content.decode()
    form = client.get(HOME + "spaces/orders/addresses/new").content.decode()
    assert '<option value="dead-letters" selected>' in form
    assert '<option value="">none: the message is deleted</option>' in form
    assert '<option value="" selected>where dead letters go</option>' in form


def test_the_page_says_where_messages_go_and_warns_where_they_are_deleted(
    world: World, as_: As
) -> None:
    space = rows.space(world.tenant, "orders", "brokered-small")
    rows.address(space, "dead-letters", "deadletter")
    rows.address(space, "kept", "queue", dead_letter="dead-letters")
    rows.address(space, "bare", "queue")
    client = as_(world.member)

    pages = {
        row.address: client.get(f"{HOME}spaces/orders/addresses/{row.pk}").content.decode()
        for row in Address.objects.all()
    }

    assert "Messages that are rejected, or fail too often, go to" in pages["kept"]
    assert "messages are deleted" not in pages["kept"] + pages["dead-letters"]
    assert "Rejected and expired messages are deleted." in pages["bare"]
    assert "Choose one" in pages["bare"]
