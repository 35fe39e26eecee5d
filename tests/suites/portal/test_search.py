"""One search over everything that a member may see."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
URL = "/t/acme-shipping/search"


def test_everything_is_found_by_a_part_of_its_name(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant, "shop")
    rows.address(space, "shop/orders")
    rows.messaging_user(space, "shopper")

    page = as_(world.owner).get(URL, {"q": "SHOP"}).content.decode()

    for words in (">shop<", "shop/orders", "shopper", "queue in shop"):
        assert words in page


def test_what_a_role_may_not_see_is_not_found(world: World, as_: As) -> None:
    invoice = rows.issued(world.tenant)
    number = str(invoice.number)

    assert number in as_(world.owner).get(URL, {"q": number}).content.decode()
    assert "Nothing found" in as_(world.member).get(URL, {"q": number}).content.decode()


def test_nothing_of_another_tenant_is_found(world: World, as_: As) -> None:
    theirs = rows.active_space(world.other, "secret-project")
    rows.address(theirs, "secret-queue")
    rows.messaging_user(theirs, "secret-user")

    page = as_(world.owner).get(URL, {"q": "secret"}).content.decode()

    assert "Nothing found" in page
    assert "secret-" not in page


def test_without_a_text_the_page_says_what_to_write(world: World, as_: As) -> None:
    assert "What do you look for?" in as_(world.member).get(URL).content.decode()


def test_search_takes_as_many_queries_for_many_results(world: World, as_: As) -> None:
    client = as_(world.owner)
    space = rows.active_space(world.tenant, "shop")
    rows.address(space, "shop")
    client.get(URL, {"q": "shop"})
    with CaptureQueriesContext(connection) as one:
        client.get(URL, {"q": "shop"})
    for number in range(12):
        rows.address(space, f"shop-{number}")
    with CaptureQueriesContext(connection) as many:
        page = client.get(URL, {"q": "shop"}).content.decode()

    assert len(many) == len(one)
    assert "There are more." in page
