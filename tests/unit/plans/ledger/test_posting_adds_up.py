"""Random quarters of a tenant: plans change, periods are closed early, usage lands late.

The measure is a twin with the same plans and the same usage in the end, all of it in time, and one
invoice a month.
"""

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db.models import Sum

from plans.catalog import publishing
from plans.invoicing import invoice_closing, invoice_verification, issuing
from plans.ledger import credit, posting
from plans.models import Invoice, LedgerPosting, Plan, PlanSubscription
from plans.usage.reading import UsageCell, cells
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db
MONTHS = [datetime(2026, month, 1, tzinfo=UTC) for month in (4, 5, 6, 7)]
LATER = datetime(2026, 9, 1, tzinfo=UTC)
LAST = MONTHS[-1] + timedelta(days=31)  # an empty month that takes the last corrections
HOUR = timedelta(hours=1)
Use = dict[datetime, int]


@pytest.mark.parametrize("seed", range(4))
def test_closes_changes_and_late_usage_never_change_the_price(seed: int) -> None:
    dice = random.Random(seed)
    subscribed = _plans(dice)
    use = {_instant(dice): dice.choice((3, 700, 900_000, 8_000_000)) for _ in range(12)}
    subject, twin = _tenant(subscribed), _tenant(subscribed)

    _copy(twin, use)
    _bill(twin, [*MONTHS, LAST])
    made = _disturbed(dice, subject, use)

    assert len(made) > len(MONTHS)
    assert _net(subject) == _net(twin)
    _check_books(subject)
    last = made[-1]
    assert invoice_verification.verify(invoice=last, cells=_cells(subject)).differences == ()


def _disturbed(dice: random.Random, owner: Tenant, use: Use) -> list[Invoice]:
    """Bill with early closes; each time a part of the usage is known, in the end all of it."""
    edges = sorted({*MONTHS, LAST, *(_instant(dice) for _ in range(4))})
    made = []
    for starts_at, ends_at in pairwise(edges):
        known = {at: n for at, n in use.items() if dice.random() < 0.7}
        _copy(owner, use if ends_at == LAST else {**dict.fromkeys(use, 0), **known})
        made.append(_issued(owner, starts_at, ends_at))
    return made


def _bill(owner: Tenant, edges: list[datetime]) -> None:
    for starts_at, ends_at in pairwise(edges):
        _issued(owner, starts_at, ends_at)


def _plans(dice: random.Random) -> list[tuple[datetime, Plan]]:
    keys = ("team", "bulk", "business", "unlimited")
    changes = sorted({_instant(dice) for _ in range(4)})
    return [(at, rows.plan(dice.choice(keys))) for at in (MONTHS[0], *changes)]


def _tenant(subscribed: list[tuple[datetime, Plan]]) -> Tenant:
    owner = rows.tenant(to=subscribed[0][1])
    for starts_at, plan in subscribed[1:]:
        PlanSubscription.objects.filter(tenant=owner, ends_at=None).update(ends_at=starts_at)
        PlanSubscription.objects.create(tenant=owner, plan=plan, starts_at=starts_at)
    rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    return owner


def _instant(dice: random.Random) -> datetime:
    hours = int((MONTHS[-1] - MONTHS[0]) / HOUR)
    return MONTHS[0] + dice.randrange(1, hours) * HOUR


def _copy(owner: Tenant, use: Use) -> None:
    space = owner.spaces.get()
    kept = (cell for cell in _cells_of_others(owner))
    mine = (rows.cell(space, "messages_in", n, at=at) for at, n in use.items())
    rows.used(*kept, *mine)


def _cells_of_others(owner: Tenant) -> Iterable[UsageCell]:
    """Return what a copy must hold of other tenants: it replaces whole days."""
    for other in Tenant.objects.exclude(pk=owner.pk):
        yield from _cells(other)


def _cells(owner: Tenant) -> list[UsageCell]:
    return list(cells(owner.id, MONTHS[0], LAST))


def _issued(owner: Tenant, starts_at: datetime, ends_at: datetime) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=starts_at, ends_at=ends_at, by=STAFF, now_forced=True, now=LATER
    )
    mine = cells(owner.id, starts_at, ends_at)
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    evidence = rows.evidence(
        mine, as_of=ends_at, sampled_spaces=sampled, earlier=rows.earlier(invoice)
    )
    drafted = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    approved = issuing.approve(invoice=drafted, by=STAFF)
    return issuing.issue(invoice=approved, by=STAFF, now=LATER)


def _net(owner: Tenant) -> int:
    net: int = owner.invoices.aggregate(net=Sum("net_minor"))["net"]
    return net


def _check_books(owner: Tenant) -> None:
    """Assert that the ledger says what the invoices say, and sums to zero."""
    made = list(owner.invoices.all())
    receivable = posting.balance(owner.id, posting.RECEIVABLE, "EUR")
    kept = credit.before(owner.id, "wp", "EUR")
    postings = LedgerPosting.objects.filter(entry__tenant=owner)

    assert receivable == sum(invoice.payable_minor for invoice in made)
    assert receivable - kept == sum(invoice.total_minor for invoice in made)
    assert min(kept, *(invoice.payable_minor for invoice in made)) >= 0
    assert postings.aggregate(total=Sum("amount_minor"))["total"] == 0
