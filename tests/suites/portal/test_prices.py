"""What things cost stands where they are chosen, and the words about money are true."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client

from controlplane.console import plan_descriptions
from plans.catalog import definitions, publishing
from plans.rating.price_rules import Tier
from tenants import admission
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import World

pytestmark = pytest.mark.django_db
HOME = "/t/acme-shipping/"


def test_a_new_space_shows_what_each_plan_costs(world: World, as_: As) -> None:
    page = as_(world.owner).get(HOME + "spaces/-/new").content.decode()

    assert "0.06 EUR an hour, about 43.80 EUR a month" in page
    assert "0.04 EUR an hour" in page


def test_a_new_address_shows_what_each_plan_costs(world: World, as_: As) -> None:
    rows.active_space(world.tenant, "orders", "standard-small")

    page = as_(world.owner).get(HOME + "spaces/orders/addresses/new").content.decode()

    assert "0.0005 EUR an hour, about" in page


def test_signing_up_says_that_spaces_and_addresses_cost_by_the_hour(world: World) -> None:
    page = Client().get("/signup").content.decode()

    assert "spaces from 0.04 EUR an hour" in page
    assert "addresses from 0.0005 EUR an hour" in page


def test_a_plan_whose_spaces_cost_nothing_says_nothing_of_hours(world: World) -> None:
    sold = publishing.current()
    free = [replace(space_plan, hour_price=Decimal(0)) for space_plan in sold.space_plans]

    assert plan_descriptions.hours(_plan("team"), free, []) == []
    assert plan_descriptions.hours(_plan("team"), sold.space_plans, []) == [
        "spaces from 0.04 EUR an hour"
    ]


def test_what_a_quota_keeps_within_the_included_hours_has_no_price(world: World) -> None:
    sold = publishing.current()

    assert plan_descriptions.hours(_plan("free"), sold.space_plans, sold.address_plans) == []


def test_what_a_quota_lets_pass_the_included_hours_has_a_price(world: World) -> None:
    sold, free = publishing.current(), _plan("free")
    more = replace(free, quotas={**free.quotas, "spaces": 3})
    unlimited = replace(free, quotas={})
    # Two spaces use 1,490 hours in the longest month, in whose night summer time ends.
    short = replace(free, included={**free.included, "space_hours": 1489})

    assert plan_descriptions.hours(more, sold.space_plans, sold.address_plans) == [
        "spaces from 0.04 EUR an hour beyond those included"
    ]
    assert plan_descriptions.hours(short, sold.space_plans, [])
    assert len(plan_descriptions.hours(unlimited, sold.space_plans, sold.address_plans)) == 2


def test_a_plan_without_a_fee_that_charges_for_use_is_not_called_free(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = admission.plan_of(world.tenant)
    monkeypatch.setattr(admission, "open_plan", lambda tenant: replace(team, monthly_fee_minor=0))

    page = as_(world.owner).get(HOME + "settings/").content.decode()

    assert "<strong>Team</strong>: no monthly fee" in page


def test_the_spend_so_far_says_that_it_holds_the_fees_to_the_month_s_end(
    world: World, as_: As
) -> None:
    rows.active_space(world.tenant, "orders", "standard-small")

    overview = as_(world.owner).get(HOME).content.decode()
    preview = as_(world.owner).get(HOME + "invoices/preview").content.decode()

    assert "Fees until the end of the month, usage until now" in overview
    assert "the fees until the end of the month and the usage until now" in preview
    assert "if it ended now" not in preview


def _plan(key: str) -> definitions.PlanDefinition:
    return next(plan for plan in publishing.current().plans if plan.key == key)


def test_a_card_names_the_lowest_price_that_a_tenant_can_pay(world: World) -> None:
    rising = replace(
        _plan("team"),
        prices={
            "messages": definitions.MeterPrice(
                "graduated",
                "million messages",
                1_000_000,
                (
                    Tier(Decimal(10), Decimal("0.50")),
                    Tier(Decimal(20), Decimal("0.20")),
                    Tier(None, Decimal("0.90")),
                ),
            )
        },
    )

    lines = plan_descriptions.lines(rising)

    assert "from 0.2 EUR per million messages" in lines
