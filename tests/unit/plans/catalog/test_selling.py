"""Who sells to a tenant, and what a new catalog means for the sellers of tenants."""

import json
from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction

from controlplane.core.errors import Invalid, Missing
from plans.catalog import parsing, publishing, selling
from plans.catalog.kept_sellers import SellerInUse
from plans.invoicing import granting
from plans.invoicing.granting import Wish
from plans.models import PlanSubscription, SellerAssignment
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import STAFF
from tests.support.plans.two_sellers import DOLLARS, FRANCS

pytestmark = pytest.mark.django_db


def swapped() -> str:
    """Return a catalog in which another seller takes the place of the main one, which goes on."""
    made = two_sellers.document()
    made["sellers"]["wp-ag"] = {**two_sellers.OTHER_SELLER, "currency": "EUR"}
    return json.dumps(made).replace('"wp"', '"swap"').replace('"wp-ag"', '"wp"')


def test_each_seller_is_offered_in_each_of_its_currencies() -> None:
    two_sellers.publish()

    assert [one.value for one in selling.offers()] == ["wp:EUR", "wp:CHF", "wp-inc:USD"]
    assert selling.offer("", "").value == "wp:EUR"
    assert selling.offer("wp-inc", "").value == "wp-inc:USD"
    assert selling.offer("wp", "CHF").title == "Waypost Test GmbH, in CHF"
    for wrong in (("wp", "USD"), ("nobody", ""), ("wp-inc", "EUR")):
        with pytest.raises(Invalid, match="Choose one of: wp:EUR, wp:CHF, wp-inc:USD"):
            selling.offer(*wrong)


def test_a_tenant_without_an_assignment_buys_from_the_main_seller() -> None:
    plain, american = two_sellers.tenant(), two_sellers.tenant(DOLLARS)

    assert selling.of_tenant(plain.pk).value == "wp:EUR"
    assert selling.currency_of(plain.pk) == "EUR"
    assert selling.of_tenant(american.pk).value == "wp-inc:USD"
    assert selling.currency_of(american.pk) == "USD"


def test_without_a_catalog_nobody_sells() -> None:
    with pytest.raises(Missing, match="waypost catalog publish"):
        selling.offers()


def test_a_catalog_must_keep_the_sellers_and_currencies_of_tenants() -> None:
    two_sellers.tenant(DOLLARS)
    two_sellers.tenant(FRANCS)

    with pytest.raises(SellerInUse, match="wp in CHF"):
        publishing.publish(parsing.parse(rows.CATALOG), by=STAFF)

    SellerAssignment.objects.filter(currency="CHF").delete()
    with pytest.raises(SellerInUse, match="wp-inc in USD"):
        publishing.publish(parsing.parse(rows.CATALOG), by=STAFF)
    SellerAssignment.objects.all().delete()
    publishing.publish(parsing.parse(rows.CATALOG), by=STAFF)


def test_tenants_stay_with_a_former_main_seller_that_still_sells() -> None:
    owner, invoiced, leaving, erased = (two_sellers.tenant() for _ in range(4))
    rows.issued(invoiced)
    # The last invoice of a tenant that is being erased comes after its subscription.
    PlanSubscription.objects.filter(tenant__in=[leaving, erased]).update(ends_at=rows.ENDS_AT)
    Tenant.objects.filter(pk=erased.pk).update(erased_at=rows.ENDS_AT)

    publishing.publish(parsing.parse(swapped()), by=STAFF)

    assert publishing.current().seller.key == "swap"
    for one in (owner, invoiced, leaving):
        assert selling.of_tenant(one.pk).value == "wp:EUR"
    assert not SellerAssignment.objects.filter(tenant=erased).exists()


def test_a_successor_in_the_same_currency_takes_over_and_in_another_one_is_refused() -> None:
    owner = rows.tenant()

    publishing.publish(parsing.parse(rows.CATALOG.replace('"wp"', '"heir"')), by=STAFF)
    assert selling.of_tenant(owner.pk).value == "heir:EUR"

    with pytest.raises(SellerInUse, match="keep a seller in this currency"):
        publishing.publish(parsing.parse(rows.CATALOG.replace('"EUR"', '"USD"')), by=STAFF)


@pytest.mark.parametrize(
    "act",
    [
        rows.issued,
        lambda owner: granting.grant(tenant=owner, wish=Wish("prepaid", 1, "r", "paid"), by=STAFF),
    ],
)
def test_nobody_succeeds_a_seller_with_which_something_is_booked(
    act: Callable[[Tenant], object],
) -> None:
    owner = rows.tenant()
    act(owner)
    PlanSubscription.objects.filter(tenant=owner).update(ends_at=rows.AFTER_GRACE)
    heir = parsing.parse(rows.CATALOG.replace('"wp"', '"heir"'))

    with pytest.raises(SellerInUse, match="invoices or ledger entries with wp: keep it"):
        publishing.publish(heir, by=STAFF)

    assert selling.of_tenant(owner.pk).value == "wp:EUR"
    Tenant.objects.filter(pk=owner.pk).update(erased_at=rows.ENDS_AT)
    publishing.publish(heir, by=STAFF)


def test_no_tenant_gets_a_seller_that_was_removed_meanwhile() -> None:
    owner = two_sellers.tenant()
    chosen = selling.offer(*DOLLARS)
    publishing.publish(parsing.parse(rows.CATALOG), by=STAFF)

    with pytest.raises(Invalid, match="No seller of the catalog is wp-inc"):
        selling.assign(owner.pk, chosen, "x")

    with connection.cursor() as cursor:
        cursor.execute("SELECT mode FROM pg_locks WHERE locktype = 'advisory' ORDER BY mode")
        assert ("ShareLock",) in cursor.fetchall()


def test_the_database_fixes_the_seller_of_a_tenant_with_an_issued_invoice() -> None:
    owner = two_sellers.tenant(DOLLARS)
    selling.assign(owner.pk, selling.offer(*FRANCS), "x")
    rows.issued(owner)

    for change in (
        lambda: selling.assign(owner.pk, selling.offer(*DOLLARS), "x"),
        lambda: SellerAssignment.objects.all().delete(),
    ):
        with pytest.raises(IntegrityError, match="never changes"), transaction.atomic():
            change()
    selling.assign(owner.pk, selling.offer(*FRANCS), "again")
