"""What things cost stands where they are chosen, and the words about money are true."""

from dataclasses import replace
from decimal import Decimal

import pytest
from django.test import Client

from controlplane.console import plan_descriptions
from controlplane.core.audit import SYSTEM
from plans.catalog import definitions, parsing, publishing
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


@pytest.mark.parametrize(
    "path", ["/", "/signup", HOME + "settings/plan", HOME + "settings/plan?plan=business"]
)
def test_a_price_with_tiers_begins_with_what_the_next_unit_costs(
    world: World, as_: As, path: str
) -> None:
    client = as_(world.owner) if path.startswith(HOME) else Client()

    page = client.get(path).content.decode()

    assert "0.70 EUR per million messages, 0.45 beyond 100 million" in page
    assert "The next 900 million messages" in page
    assert "0.30 EUR per million messages" in page


def test_a_new_first_tier_is_on_the_public_pages(world: World) -> None:
    document = publishing.default_yaml().replace('["100", "0.90"]', '["100", "1.10"]')
    publishing.publish(parsing.parse(document), by=SYSTEM)

    for path in ("/", "/signup"):
        page = Client().get(path).content.decode()
        assert "1.10 EUR per million messages, 0.60 beyond 100 million" in page
        assert "0.90 EUR" not in page


def test_the_settings_show_the_tiers_of_the_version_that_the_tenant_has(
    world: World, as_: As
) -> None:
    before = as_(world.owner).get(HOME + "settings/").content.decode()
    document = publishing.default_yaml().replace('["100", "0.90"]', '["100", "1.10"]')
    publishing.publish(parsing.parse(document), by=SYSTEM)

    page = as_(world.owner).get(HOME + "settings/").content.decode()

    for shown in (before, page):
        assert "The first 5 million messages" in shown
        assert "0.90 EUR per million messages" in shown
    assert "1.10 EUR per million messages" not in page
    assert "What it changes for you" not in before
    news = page.partition("What it changes for you")[2].partition("</ul>")[0]
    assert "1.10 EUR per million" in news


def test_a_plan_without_prices_of_usage_has_no_table_of_them(
    world: World, as_: As, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = _plan("free")
    monkeypatch.setattr(admission, "open_plan", lambda tenant: free)

    assert "tier by tier" not in as_(world.owner).get(HOME + "settings/").content.decode()
