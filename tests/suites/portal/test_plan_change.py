"""A change of plan says what it costs before it is made, and is made only when confirmed."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from controlplane.console import plan_descriptions
from controlplane.console.plan_reads import Offer
from plans.catalog import parsing, publishing
from plans.invoicing import discounting, plan_change_preview, previewing
from plans.invoicing.discounting import Reduction
from plans.models import PlanSubscription
from plans.rating import money as currencies
from plans.rating import periods
from tenants.actions import plan_subscriptions
from tests.suites.portal.conftest import As
from tests.support.portal import rows
from tests.support.portal.rows import STAFF, World

pytestmark = pytest.mark.django_db
URL = "/t/acme-shipping/settings/plan"


def plan_key(world: World) -> str:
    return PlanSubscription.objects.get(tenant=world.tenant, ends_at__isnull=True).plan.key


def test_looking_at_a_plan_and_its_price_changes_nothing(world: World, as_: As) -> None:
    client = as_(world.billing)

    plans = client.get(URL).content.decode()
    price = client.get(URL, {"plan": "business"}).content.decode()
    client.post(URL, {"plan": "business"})

    assert "See what it costs" in plans
    assert 'value="team" required checked>' in plans
    for words in ("Due now", "Next month", "What last month would have cost",
                  "Change to Business"):  # fmt: skip
        assert words in price
    assert plan_key(world) == "team"


def test_the_confirmed_plan_is_in_force(world: World, as_: As) -> None:
    client = as_(world.billing)
    page = client.get(URL, {"plan": "business"}).content.decode()
    (version,) = re.findall(r'name="version" value="(\d+)"', page)

    client.post(URL, {"plan": "business", "version": version})

    assert plan_key(world) == "business"


def test_a_plan_whose_prices_changed_since_is_priced_again(world: World, as_: As) -> None:
    answer = as_(world.billing).post(URL, {"plan": "business", "version": 7})

    page = answer.content.decode()
    assert answer.status_code == 400
    assert page.count("have changed since you opened the page") == 1
    assert 'name="version" value="1"' in page
    assert plan_key(world) == "team"


def test_a_plan_that_does_not_fit_says_why_and_has_no_button(world: World, as_: As) -> None:
    for number in range(3):
        rows.space(world.tenant, f"space-{number}")

    page = as_(world.billing).get(URL, {"plan": "free"}).content.decode()

    assert "Delete 1 of them first" in page
    assert '<button class="button primary">Change to Free' not in page


def test_the_price_said_before_is_the_price_afterwards(world: World) -> None:
    """The preview of the change equals the preview of the invoice once the change is made."""
    month = rows.this_month()
    rows.subscribed_since(world.tenant, month)
    space = rows.active_space(world.tenant)
    rows.used(rows.cell(space, "messages_in", 9_000_000, month))
    now = timezone.now()

    said = plan_change_preview.price(world.tenant, publishing.plan("business"), now)
    before = previewing.preview(world.tenant, now).total_minor
    plan_subscriptions.change(tenant=world.tenant, plan_key="business", by=STAFF)
    PlanSubscription.objects.filter(tenant=world.tenant, ends_at__isnull=False).update(ends_at=now)
    PlanSubscription.objects.filter(tenant=world.tenant, ends_at__isnull=True).update(starts_at=now)

    assert said.running.present_minor == before
    assert said.running.chosen_minor == previewing.preview(world.tenant, now).total_minor
    assert said.running.difference_minor != 0


def test_last_month_is_priced_whole_on_both_plans(world: World) -> None:
    month = rows.last_month()
    space = rows.active_space(world.tenant)
    rows.used(rows.cell(space, "messages_in", 9_000_000, month.starts_at))

    said = plan_change_preview.price(world.tenant, publishing.plan("business"), timezone.now())

    assert said.last is not None
    assert said.last.period == month
    team, business = (publishing.plan_definition(publishing.plan(k)) for k in ("team", "business"))
    # The whole fee with 19 % tax is in it, although the tenant came only this month.
    assert said.last.present_minor >= team.monthly_fee_minor * 119 // 100
    assert said.last.chosen_minor >= business.monthly_fee_minor * 119 // 100
    assert said.fees.chosen_minor == business.monthly_fee_minor * 119 // 100


def test_the_next_month_has_the_discounts_that_last_until_then(world: World, as_: As) -> None:
    for title, percent, months in (("Loyal", 10, None), ("Launch", 50, 1)):
        reduction = Reduction(title, percent=Decimal(percent), months=months)
        discounting.give(tenant=world.tenant, reduction=reduction, by=STAFF)
    of_usage = Reduction("Bytes", percent=Decimal(100), meters=["messages_in"])
    discounting.give(tenant=world.tenant, reduction=of_usage, by=STAFF)

    said = plan_change_preview.price(world.tenant, publishing.plan("business"), timezone.now())
    page = as_(world.billing).get(URL, {"plan": "business"}).content.decode()

    fees = [publishing.plan_definition(publishing.plan(key)).monthly_fee_minor
            for key in ("team", "business")]  # fmt: skip
    # 10 % off, then 19 % tax.
    assert [said.fees.present_minor, said.fees.chosen_minor] == [
        round(fee * 0.9 * 1.19) for fee in fees
    ]
    assert (said.fees.is_discounted, said.fees.minimum_minor) == (True, 0)
    assert "less your discounts" in page
    assert "at least your minimum" not in page
    assert currencies.display(said.fees.chosen_minor, said.currency) in page


def test_the_next_month_costs_at_least_the_minimum_agreed_for_it(world: World, as_: As) -> None:
    now = timezone.now()
    month = periods.month_of(periods.month_of(now, "UTC").ends_at, "UTC")
    deal: dict[str, Any] = {"title": "Deal", "minimum_minor": 1_000_000, "by": STAFF}
    discounting.commit(tenant=world.tenant, span=month, **deal)
    later = periods.month_of(month.ends_at, "UTC")
    discounting.commit(tenant=world.tenant, span=later, **deal)

    said = plan_change_preview.price(world.tenant, publishing.plan("business"), now)
    page = as_(world.billing).get(URL, {"plan": "business"}).content.decode()

    assert (said.fees.present_minor, said.fees.chosen_minor) == (1_190_000, 1_190_000)
    assert (said.fees.is_discounted, said.fees.minimum_minor) == (False, 1_000_000)
    minimum = currencies.display(1_000_000, said.currency)
    assert f"at least your minimum of {minimum} before tax" in page
    assert "counts toward the minimum" in page
    assert "less your discounts" not in page


def test_last_month_has_the_terms_that_it_had(world: World) -> None:
    month = rows.last_month()
    space = rows.active_space(world.tenant)
    rows.used(rows.cell(space, "messages_in", 5, month.starts_at))
    discounting.commit(
        tenant=world.tenant, title="Deal", minimum_minor=1_000_000, span=month, by=STAFF
    )
    free = Reduction("From now on", percent=Decimal(100))
    discounting.give(tenant=world.tenant, reduction=free, by=STAFF)

    said = plan_change_preview.price(world.tenant, publishing.plan("business"), timezone.now())

    assert said.last is not None
    assert (said.last.present_minor, said.last.chosen_minor) == (1_190_000, 1_190_000)


def test_without_terms_the_next_month_costs_the_fee_alone(world: World, as_: As) -> None:
    page = as_(world.billing).get(URL, {"plan": "business"}).content.decode()

    assert "less your discounts" not in page
    assert "minimum of" not in page
    assert "Use beyond what the plan includes is added." in page


def test_without_use_last_month_there_is_nothing_to_compare(world: World, as_: As) -> None:
    page = as_(world.billing).get(URL, {"plan": "business"}).content.decode()

    assert "You used nothing last month" in page


def test_the_price_takes_as_many_queries_for_one_space_as_for_many(world: World, as_: As) -> None:
    client = as_(world.billing)
    rows.active_space(world.tenant, "first")
    client.get(URL, {"plan": "business"})
    with CaptureQueriesContext(connection) as one:
        client.get(URL, {"plan": "business"})

    for number in range(4):
        rows.active_space(world.tenant, f"more-{number}")
    with CaptureQueriesContext(connection) as many:
        client.get(URL, {"plan": "business"})

    assert len(many) == len(one)


@pytest.fixture
def dearer(world: World) -> None:
    """Publish a version of Team with other prices; the tenant stays on the older one."""
    document = publishing.default_yaml().replace('["100", "0.90"]', '["100", "1.10"]')
    publishing.publish(parsing.parse(document), by=STAFF)


def row_of(page: str, title: str) -> list[str]:
    """Return the texts of the row ``title`` of the table that compares plans."""
    found = re.search(rf'<tr><th scope="row">{title}</th>(.*?)</tr>', page)
    assert found, page
    return re.findall(r"<td>(.*?)</td>", found[1])


@pytest.mark.usefixtures("dearer")
def test_one_that_stays_sees_its_own_version_beside_the_new_one(world: World, as_: As) -> None:
    page = as_(world.billing).get(URL).content.decode()

    assert '<th scope="col">Team (now)</th><th' in page
    now, *others = row_of(page, "Price: messages")
    assert now == "0.90 EUR per million messages, 0.60 beyond 100 million"
    assert "1.10 EUR per million messages, 0.60 beyond 100 million" in others
    assert page.count("<strong>Team (new version)</strong>") == 1
    assert "<strong>Team (now)</strong>" not in page
    assert " checked>" not in page


@pytest.mark.usefixtures("dearer")
@pytest.mark.parametrize("key", ["team", "business", "free"])
def test_the_present_version_has_the_prices_of_new_spaces(world: World, as_: As, key: str) -> None:
    page = as_(world.billing).get(URL, {"plan": key}).content.decode()

    assert row_of(page, "A space")[0] == "from 0.04 EUR an hour"
    assert row_of(page, "An address")[0] == "from 0.0005 EUR an hour"


@pytest.mark.usefixtures("dearer")
def test_a_change_without_a_way_back_says_so(world: World, as_: As) -> None:
    client = as_(world.billing)

    same, other = (client.get(URL, {"plan": key}).content.decode() for key in ("team", "business"))

    assert "Change from Team to its new version?" in same
    for page in (same, other):
        assert "You can change back" not in page
        assert "<strong>You cannot change back</strong> to your version of Team" in page


def test_a_change_from_a_plan_on_offer_says_that_there_is_a_way_back(world: World, as_: As) -> None:
    page = as_(world.billing).get(URL, {"plan": "business"}).content.decode()

    assert "You can change back at any time" in page
    assert "Team (now)" in page
    assert "new version" not in page


@pytest.mark.usefixtures("dearer")
def test_one_that_follows_and_does_not_fit_reads_that_no_move_is_planned(
    world: World, as_: As
) -> None:
    PlanSubscription.objects.filter(tenant=world.tenant).update(follows=True, moves_at=None)

    page = as_(world.billing).get("/t/acme-shipping/settings/").content.decode()

    assert "No move to it is planned. What it changes for you" in page


@pytest.mark.usefixtures("world")
def test_a_version_whose_spaces_are_not_sold_any_more_is_not_called_free_of_charge() -> None:
    team = publishing.plan_definition(publishing.plan("team"))

    compared = plan_descriptions.comparison([Offer(team)])

    assert [row.texts for row in compared if row.title in ("A space", "An address")] == [
        ["not on offer"],
        ["not on offer"],
    ]
