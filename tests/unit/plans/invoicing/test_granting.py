"""Prepaid credit is granted and goes back: what is booked, what is refused, what stays right."""

from datetime import timedelta

import pytest

from controlplane.core.audit import SYSTEM
from controlplane.core.errors import Invalid, Missing
from controlplane.core.models import AuditEvent
from plans.invoicing import granting, invoice_verification
from plans.invoicing.granting import NotPrepaid, PayBack, ReferenceReused, TooMuch, Wish
from plans.ledger import grants, posting
from plans.models import CreditGrant, CreditUse
from plans.rating.credits import PREPAID, PROMOTIONAL
from tenants.models import Tenant
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
ENDS_AT = AFTER_GRACE + timedelta(days=9)
LATER = AFTER_GRACE + timedelta(days=1)


def granted(owner: Tenant, kind: str = PREPAID, amount: int = 3000) -> CreditGrant:
    wish = Wish(kind, amount, f"bank-{amount}", "agreed", ENDS_AT)
    return granting.grant(tenant=owner, wish=wish, by=STAFF, now=STARTS_AT)


def pay_back(
    row: CreditGrant, amount: int, reference: str = "back-1", days: int = 0
) -> CreditGrant:
    wish = PayBack(amount, reference, "they leave")
    now = LATER + timedelta(days=days)
    return granting.pay_back(tenant=row.tenant, grant_id=row.pk, wish=wish, by=STAFF, now=now)


def balance(owner: Tenant, account: str) -> int:
    return posting.balance(owner.pk, account, "EUR")


def test_what_is_paid_back_leaves_the_credit_and_the_bank_once() -> None:
    owner = rows.tenant()
    row = granted(owner)

    for _ in range(2):
        pay_back(row, 1000)
    pay_back(row, 500, "back-2")

    assert [use.amount_minor for use in CreditUse.objects.order_by("pk")] == [1000, 500]
    assert balance(owner, grants.account(PREPAID, "wp")) == -1500
    assert balance(owner, posting.CASH_CLEARING) == 3000 - 1500
    events = AuditEvent.objects.filter(action="credit.pay_back").order_by("pk")
    assert [(event.reason, event.after["amount_minor"]) for event in events] == [
        ("they leave", 1000), ("they leave", 500),
    ]  # fmt: skip
    notices = Event.objects.filter(kind="credit.paid_back")
    assert sorted((event.fields["reference"], event.fields["amount"]) for event in notices) == [
        ("back-1", "10.00 EUR"), ("back-2", "5.00 EUR"),
    ]  # fmt: skip


def test_an_invoice_and_the_end_take_only_what_is_left() -> None:
    owner = rows.tenant()
    row = granted(owner, amount=9000)
    pay_back(row, 1000)

    invoice = rows.issued(owner)
    granting.expire(by=SYSTEM, now=ENDS_AT)

    assert invoice.total_minor == 5831
    assert [use.amount_minor for use in CreditUse.objects.order_by("pk")] == [
        1000, 5831, 9000 - 1000 - 5831,
    ]  # fmt: skip
    assert balance(owner, grants.account(PREPAID, "wp")) == 0


def test_an_invoice_issued_before_is_verified_as_before() -> None:
    owner = rows.tenant()
    row = granted(owner, amount=9000)
    invoice = rows.issued(owner)

    pay_back(row, 9000 - 5831)

    assert invoice_verification.verify(invoice=invoice, cells=[]).differences == ()


@pytest.mark.parametrize(
    ("amount", "reference", "days", "error"),
    [
        (3001, "back-1", 0, TooMuch),
        (1, "back-1", 8, TooMuch),  # the credit has ended
        (0, "back-1", 0, Invalid),
        (1, " ", 0, Invalid),
    ],
)
def test_what_cannot_go_back_is_refused(
    amount: int, reference: str, days: int, error: type[Exception]
) -> None:
    row = granted(rows.tenant())

    with pytest.raises(error):
        pay_back(row, amount, reference, days)

    assert not CreditUse.objects.exists()


def test_a_refusal_says_what_is_left() -> None:
    row = granted(rows.tenant())
    pay_back(row, 1000)

    with pytest.raises(TooMuch, match=r"Only 20\.00 EUR of this credit"):
        pay_back(row, 2001, "back-2")
    with pytest.raises(ReferenceReused):
        pay_back(row, 999)


def test_a_gift_and_the_credit_of_another_tenant_are_refused() -> None:
    owner, other = rows.tenant(), rows.tenant()
    gift, theirs = granted(owner, PROMOTIONAL, 200), granted(other)

    with pytest.raises(NotPrepaid):
        pay_back(gift, 1)
    with pytest.raises(Missing):
        granting.pay_back(
            tenant=owner, grant_id=theirs.pk, wish=PayBack(1, "x", "y"), by=STAFF, now=LATER
        )
    assert not CreditUse.objects.exists()


def test_a_grant_that_was_paid_back_is_not_granted_again_in_silence() -> None:
    row = granted(rows.tenant())
    pay_back(row, 3000)

    with pytest.raises(ReferenceReused, match="paid back: use a new reference"):
        granted(row.tenant)
