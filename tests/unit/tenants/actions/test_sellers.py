"""The seller of a tenant is chosen at sign-up, or by staff before the first invoice."""

from collections.abc import Callable
from decimal import Decimal

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent
from plans.catalog import publishing, selling
from plans.catalog.definitions import NotPriced
from plans.invoicing import discounting, granting
from plans.invoicing.billing_inputs import KnownLifetimes
from plans.invoicing.discounting import Reduction
from plans.invoicing.granting import Wish
from plans.models import PlanSubscription, SellerAssignment, SpendCap
from plans.rating.periods import Period
from tenants.actions import notification_preferences, sellers, space_plans, spend_caps, tenants
from tenants.actions.sellers import SellerFixed
from tenants.models import Tenant
from tenants.notifications.models import SpendBudget
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT
from tests.support.plans.two_sellers import DOLLARS, FRANCS

pytestmark = pytest.mark.django_db


def changed(owner: Tenant, offer: tuple[str, str]) -> str:
    found = sellers.change(tenant=owner, wanted=selling.offer(*offer), reason="x", by=STAFF)
    return found.value


def test_sign_up_stores_the_choice_only_where_there_is_one() -> None:
    two_sellers.publish()

    chosen = tenants.sign_up(
        email="a@a.test", password=None, organization="A", offer=selling.offer(*DOLLARS), by=SYSTEM
    )
    plain = tenants.sign_up(email="b@b.test", password=None, organization="B", by=SYSTEM)

    assert selling.of_tenant(chosen.tenant.pk).value == "wp-inc:USD"
    assert selling.of_tenant(plain.tenant.pk).value == "wp:EUR"
    assert SellerAssignment.objects.count() == 2


def test_with_one_seller_nothing_is_stored() -> None:
    rows.plan()

    tenants.sign_up(email="b@b.test", password=None, organization="B", by=SYSTEM)

    assert not SellerAssignment.objects.exists()


def test_staff_change_the_seller_before_the_first_invoice() -> None:
    owner = two_sellers.tenant()
    rows.space(owner)

    assert changed(owner, DOLLARS) == "wp-inc:USD"
    assert changed(owner, DOLLARS) == "wp-inc:USD"
    assert changed(owner, FRANCS) == "wp:CHF"

    events = AuditEvent.objects.filter(action="tenant.change_seller").order_by("pk")
    assert [(event.before, event.after) for event in events] == [
        ({"seller": "wp:EUR"}, {"seller": "wp-inc:USD"}),
        ({"seller": "wp-inc:USD"}, {"seller": "wp:CHF"}),
    ]


def test_another_currency_deletes_amounts_of_the_former_one() -> None:
    owner = two_sellers.tenant()
    spend_caps.set_cap(tenant=owner, amount_minor=10_000, action="notify", by=STAFF)
    notification_preferences.set_budget(tenant=owner, amount_minor=9_000, by=STAFF)

    changed(owner, DOLLARS)

    assert not SpendCap.objects.exists()
    assert not SpendBudget.objects.exists()
    cap = spend_caps.set_cap(tenant=owner, amount_minor=10_000, action="notify", by=STAFF)
    assert cap.currency == "USD"


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (rows.drafted, "an invoice is priced"),
        (
            lambda owner: granting.grant(
                tenant=owner, wish=Wish("prepaid", 1, "r", "paid"), by=STAFF
            ),
            "entries in the ledger",
        ),
        (
            lambda owner: discounting.commit(
                tenant=owner, title="Deal", minimum_minor=1, span=None, by=STAFF
            ),
            "has a commitment",
        ),
        (
            lambda owner: discounting.give(
                tenant=owner, reduction=Reduction("Off", amount_minor=1), by=STAFF
            ),
            "discount of an amount",
        ),
    ],
)
def test_what_is_in_the_present_currency_fixes_the_seller(
    act: Callable[[Tenant], object], reason: str
) -> None:
    owner = two_sellers.tenant()
    act(owner)

    with pytest.raises(SellerFixed, match=reason):
        changed(owner, DOLLARS)


def test_a_percentage_fixes_nothing() -> None:
    owner = two_sellers.tenant()
    half = Reduction("Half", percent=Decimal(50))
    discounting.give(tenant=owner, reduction=half, by=STAFF)

    assert changed(owner, DOLLARS) == "wp-inc:USD"


def test_plans_and_sizes_of_before_the_currency_are_refused() -> None:
    with_plan, with_space = rows.tenant(), rows.tenant()
    rows.space(with_space)
    two_sellers.publish()
    with pytest.raises(NotPriced, match="Team has no prices in USD"):
        changed(with_plan, DOLLARS)

    plan = publishing.plan("team")
    PlanSubscription.objects.filter(tenant=with_space).update(plan=plan)
    with pytest.raises(NotPriced, match="small has no prices in USD"):
        changed(with_space, DOLLARS)


def test_hours_on_a_former_size_are_never_billed_in_a_currency_that_it_lacks() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    two_sellers.publish()
    PlanSubscription.objects.filter(tenant=owner).update(plan=publishing.plan("team"))
    space_plans.change(space=space, space_plan="standard-small", by=STAFF)

    with pytest.raises(NotPriced, match="An earlier plan of a space, small, has no price in USD"):
        changed(owner, DOLLARS)

    month = Period(STARTS_AT, ENDS_AT)
    offer = selling.of_tenant(owner.pk)
    known = KnownLifetimes.read(owner, month)
    (billed,) = known.lifetimes(offer.currency)
    assert offer.value == "wp:EUR"
    assert (billed.plan_version, billed.hour_price) == (1, Decimal("0.02"))


def test_a_former_size_without_a_billed_hour_is_no_obstacle() -> None:
    owner = rows.tenant()
    space = rows.space(owner, active_since=None)
    two_sellers.publish()
    PlanSubscription.objects.filter(tenant=owner).update(plan=publishing.plan("team"))
    space_plans.change(space=space, space_plan="standard-small", by=STAFF)

    assert changed(owner, DOLLARS) == "wp-inc:USD"
