"""The page that moves a space to another plan: what it says, who may, and what is refused."""

import pytest

from controlplane.core.models import AuditEvent
from plans.models import SpacePlan
from tenants.models import AddressSpace
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
PAGE = "/t/acme-shipping/spaces/orders/plan"
ASKED = {"space_plan": "standard-medium", "agreed": "on"}


@pytest.fixture
def space(world: World) -> AddressSpace:
    made = rows.active_space(world.tenant)
    rows.address(made)
    return made


def plan_of(space: AddressSpace) -> str:
    space.refresh_from_db()
    return str(space.space_plan.key)


def test_the_page_says_what_restarts_and_what_each_plan_costs(
    world: World, as_: As, space: AddressSpace
) -> None:
    page = as_(world.owner).get(PAGE).content.decode()

    assert "broker-0 and router-0 restart, one broker and one router at a time." in page
    assert "Standard small (now)" in page
    assert "0.06 EUR an hour" in page
    assert "0.18 EUR an hour" in page
    assert "brokered-small" not in page
    settings = as_(world.owner).get("/t/acme-shipping/spaces/orders/settings").content.decode()
    assert f'href="{PAGE}"' in settings


def test_the_page_of_a_brokered_space_speaks_of_its_broker(world: World, as_: As) -> None:
    rows.active_space(world.tenant, "small", "brokered-small")

    page = as_(world.owner).get("/t/acme-shipping/spaces/small/plan").content.decode()

    assert "broker-0 restarts. Its clients reconnect" in page
    assert "brokered-medium" in page


def test_an_owner_and_a_member_move_the_space(world: World, as_: As, space: AddressSpace) -> None:
    answer = as_(world.owner).post(PAGE, ASKED)

    assert answer["Location"] == "/t/acme-shipping/spaces/orders/"
    shown = as_(world.owner).get(answer["Location"]).content.decode()
    assert "broker-0 and router-0 restart, one broker and one router at a time." in shown
    assert plan_of(space) == "standard-medium"
    as_(world.member).post(PAGE, {**ASKED, "space_plan": "standard-small"})
    assert plan_of(space) == "standard-small"
    events = AuditEvent.objects.filter(action="address_space.change_plan").order_by("id")
    assert [event.actor for event in events] == ["user:olga@acme.example", "user:dev@acme.example"]
    activity = as_(world.owner).get("/t/acme-shipping/spaces/orders/activity").content.decode()
    assert "Change the plan of" in activity
    # Both operations, in the table and among those that run.
    assert activity.count("broker-0 and router-0 restart") == 4


def test_without_the_word_nothing_moves(world: World, as_: As, space: AddressSpace) -> None:
    answer = as_(world.owner).post(PAGE, {"space_plan": "standard-medium"})

    assert answer.status_code == 400
    assert plan_of(space) == "standard-small"


def test_outsiders_and_those_who_only_pay_move_nothing(
    world: World, as_: As, space: AddressSpace
) -> None:
    answers = [as_(who).post(PAGE, ASKED) for who in (world.outsider, world.billing)]

    assert [answer.status_code for answer in answers] == [404, 403]
    assert plan_of(space) == "standard-small"


def test_a_plan_too_small_is_refused_on_the_page(
    world: World, as_: As, space: AddressSpace
) -> None:
    row = SpacePlan.objects.get(key="standard-medium")
    SpacePlan.objects.filter(pk=row.pk).update(definition={**row.definition, "max_addresses": 0})

    answer = as_(world.owner).post(PAGE, ASKED)

    assert answer.status_code == 409
    assert "space_plan.too_small" in answer.content.decode()
    assert plan_of(space) == "standard-small"
