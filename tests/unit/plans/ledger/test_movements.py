"""The movements of a tenant's credit add up to its balance, of each owner and currency apart."""

from datetime import timedelta

import pytest

from plans.invoicing import granting
from plans.invoicing.granting import Wish
from plans.ledger import movements
from tests.support.plans import billing_rows as rows
from tests.support.plans import two_sellers
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT
from tests.support.plans.two_sellers import DOLLARS

pytestmark = pytest.mark.django_db


def test_grants_uses_and_ends_are_movements_with_the_credit_afterwards() -> None:
    owner = rows.tenant()
    ends_at = AFTER_GRACE + timedelta(days=1)
    for wish in (
        Wish("promotional", 2000, "gift", "launch", ends_at),
        Wish("prepaid", 4000, "bank-1", "paid"),
        Wish("promotional", 500, "gift-2", "launch", ends_at),
    ):
        granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    rows.issued(owner)  # 49.00 and 19 %: 58.31
    granting.grant(
        tenant=owner, wish=Wish("promotional", 9, "late", "x", ends_at), by=STAFF, now=AFTER_GRACE
    )
    granting.expire(by=STAFF, now=ends_at)

    found = movements.of_tenant(owner.pk).order_by("pk")

    names = ("kind", "change_minor", "after_minor")  # annotations
    assert [tuple(getattr(row, name) for name in names) for row in found] == [
        ("promotional", 2000, 2000),
        ("prepaid", 4000, 6000),
        ("promotional", 500, 6500),
        ("prepaid", -3331, 3169),
        ("promotional", -2500, 669),
        ("promotional", 9, 678),
        ("promotional", -9, 669),
    ]
    (balance,) = movements.balances(owner.pk, ends_at, [("wp", "EUR")])
    assert (balance.prepaid_minor, balance.promotional_minor, balance.available_minor) == (
        669, 0, 669)  # fmt: skip


def test_credit_that_is_over_but_not_booked_yet_is_not_available() -> None:
    owner = rows.tenant()
    ends_at = STARTS_AT + timedelta(days=1)
    wish = Wish("promotional", 2000, "gift", "launch", ends_at)
    granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)

    before, after = (
        movements.balances(owner.pk, now, [("wp", "EUR")])[0].available_minor
        for now in (ends_at - timedelta(seconds=1), ends_at)
    )

    assert (before, after) == (2000, 0)


def test_owners_and_currencies_are_never_added_up() -> None:
    owner = two_sellers.tenant(DOLLARS)
    wish = Wish("prepaid", 700, "bank", "paid")
    granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)
    two_sellers_other = two_sellers.tenant()
    granting.grant(tenant=two_sellers_other, wish=wish, by=STAFF, now=STARTS_AT)

    found = movements.balances(owner.pk, STARTS_AT, [("wp", "EUR")])

    assert [(row.legal_entity, row.currency, row.available_minor) for row in found] == [
        ("wp", "EUR", 0), ("wp-inc", "USD", 700)]  # fmt: skip
    assert movements.of_tenant(owner.pk).count() == 1
