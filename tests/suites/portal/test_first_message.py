"""The last step of a new space: a test message."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core import operations
from tenants.models import MessageRequest
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
SPACE = "/t/acme-shipping/spaces/orders/"
URL = SPACE + "first-message"


def test_a_space_with_a_user_leads_to_a_test_message(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    address = rows.address(space)
    rows.messaging_user(space)
    client = as_(world.member)

    before = client.get(SPACE).content.decode()
    posted = client.post(URL, {"address": address.pk})
    running = client.get(posted["Location"]).content.decode()
    request = MessageRequest.objects.get(kind="send")
    operations.succeed("message_request", request.pk, up_to_generation=1)
    done = client.get(posted["Location"]).content.decode()

    assert f'href="{URL}"' in before
    assert "is on its way" in running
    assert "Your first message is there" in done
    assert f'href="{URL}"' not in client.get(SPACE).content.decode()


def test_the_search_box_of_the_page_is_empty(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)

    page = as_(world.member).get(f"/t/acme-shipping/spaces/{space.name}/first-message")

    box = re.search(r'<input id="search"[^>]*>', page.content.decode())
    assert box is not None
    assert 'value=""' in box[0]


def test_without_a_queue_the_page_says_what_to_do(world: World, as_: As) -> None:
    rows.active_space(world.tenant)

    page = as_(world.member).get(URL).content.decode()

    assert "Create an address" in page


def test_a_failed_message_says_why(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    address = rows.address(space)
    client = as_(world.member)
    posted = client.post(URL, {"address": address.pk})
    request = MessageRequest.objects.get(kind="send")

    operations.fail("message_request", request.pk, code="x", message="broker-0 does not answer.")

    page = client.get(posted["Location"]).content.decode()
    assert "broker-0 does not answer." in page
    assert "Try again" in page


def test_another_tenants_request_is_not_shown(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    posted = as_(world.owner).post(URL, {"address": rows.address(space).pk})
    rows.active_space(world.other)
    request = posted["Location"].split("=")[1]

    page = as_(world.outsider).get(
        f"/t/other-people/spaces/orders/first-message?request={request}"
    ).content.decode()  # fmt: skip

    assert "on its way" not in page


def test_the_page_takes_as_many_queries_for_many_addresses(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant)
    rows.address(space, "one")
    client = as_(world.owner)
    client.get(URL)
    with CaptureQueriesContext(connection) as one:
        client.get(URL)
    for number in range(4):
        rows.address(space, f"more-{number}")
    with CaptureQueriesContext(connection) as many:
        client.get(URL)

    assert len(many) == len(one)
