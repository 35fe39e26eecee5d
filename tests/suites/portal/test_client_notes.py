"""What clients must know of a space's routers stands on its page and where they connect."""

import pytest
from django.utils import timezone

from tenants.models import AddressSpace, Endpoint
from tenants.router_patches import Patch
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
PAGES = ("", "connect")


def show(world: World, as_: As, **fields: object) -> list[str]:
    """Return the pages of a standard space that routers with these patches serve."""
    AddressSpace.objects.update(active_since=timezone.now(), **fields)
    client = as_(world.owner)
    return [client.get(f"/t/acme-shipping/spaces/orders/{page}").content.decode() for page in PAGES]


def test_that_browsing_is_refused_stands_on_both_pages(world: World, as_: As) -> None:
    rows.active_space(world.tenant)

    for page in show(world, as_, router_patches=list(Patch)):
        assert "refused with amqp:not-implemented" in page
        assert "takes the messages away" not in page


def test_that_browsing_takes_messages_stands_on_both_pages(world: World, as_: As) -> None:
    rows.active_space(world.tenant)

    for page in show(world, as_, router_patches=[]):
        assert "a browser takes the messages away" in page


def test_that_durable_subscriptions_may_be_lost_is_said_of_several_unpatched_routers(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant, plan="standard-large")

    for patches, is_said in (([], True), ([Patch.CONTAINER_ID], False)):
        for page in show(world, as_, router_patches=patches):
            assert ("use an address of type subscription" in page) is is_said


def test_a_brokered_space_has_no_such_notes(world: World, as_: As) -> None:
    rows.active_space(world.tenant, plan="brokered-small")

    for page in show(world, as_):
        assert "browse" not in page


@pytest.mark.parametrize(("plan", "is_said"), [("brokered-small", True), ("standard-small", False)])
def test_filters_are_explained_where_they_are_offered(
    world: World, as_: As, plan: str, is_said: bool
) -> None:
    rows.active_space(world.tenant, plan=plan)

    _, connect = show(world, as_)

    assert ("may name a filter" in connect) is is_said


def test_the_other_routers_endpoints_are_where_clients_connect(world: World, as_: As) -> None:
    space = rows.active_space(world.tenant, plan="standard-large")
    Endpoint.objects.create(
        space=space, name="amqps-1", protocol="amqps", host="127.0.0.1", port=5672
    )

    _, connect = show(world, as_)

    assert "127.0.0.1:5672" in connect
