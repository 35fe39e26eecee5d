"""Back-tests: an unchanged catalog gives the issued invoices, a draft the difference in money."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from plans.catalog.definitions import not_priced
from plans.invoicing import back_testing, facts, invoice_closing, issuing, rated_period
from plans.invoicing.back_testing import PlanSum
from plans.invoicing.month_replay import MonthReplay
from plans.models import BackTest, BackTestRow, CatalogDraft, Discount, Invoice, PlanSubscription
from plans.rating.periods import Period
from plans.usage.meters import CONNECTION_MS, MESSAGES_IN, PEAK_CONNECTIONS
from tenants.actions import catalog_drafts
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 5, 5, tzinfo=UTC)
Change = Callable[[dict[str, Any]], None]


def draft(change: Change = lambda content: None) -> CatalogDraft:
    content = json.loads(rows.CATALOG)
    change(content)
    return catalog_drafts.prepare(yaml=json.dumps(content), by=rows.STAFF)


def dearer(content: dict[str, Any]) -> None:
    content["plans"]["team"]["monthly_fee_minor"] = 5900


def rated(of: CatalogDraft, months: int = 1) -> list[BackTestRow]:
    prices = back_testing.prices_of(of.document)
    return [
        row
        for batch in back_testing.batches(NOW, months)
        for row in back_testing.rate(batch, prices, rated_period.from_copy).rows
    ]


def busy(**fields: Any) -> tuple[Tenant, Invoice]:
    """Return a tenant with usage above what its plan includes, and its issued invoice of April."""
    owner = rows.tenant(**fields)
    space = rows.space(owner)
    rows.address(space)
    cells = rows.used(
        rows.cell(space, MESSAGES_IN, 12_345_678, address="orders"),
        rows.cell(space, CONNECTION_MS, 7_200_000),
        rows.cell(space, PEAK_CONNECTIONS, 9),
    )
    return owner, rows.issued(owner, cells)


def test_an_unchanged_catalog_gives_the_issued_invoices_to_the_cent() -> None:
    _, invoice = busy()

    (row,) = rated(draft())

    assert row.present_net_minor == row.draft_net_minor == invoice.net_minor
    assert row.present_total_minor == row.draft_total_minor == invoice.total_minor
    assert row.invoiced_net_minor == invoice.net_minor
    assert (row.plan, row.currency) == ("team", "EUR")


def test_a_month_in_several_invoices_adds_up_under_the_draft_too() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    half = datetime(2026, 4, 16, tzinfo=UTC)
    cells = rows.used(
        rows.cell(space, MESSAGES_IN, 900_000, address="orders"),
        rows.cell(space, MESSAGES_IN, 900_000, at=half, address="orders"),
    )
    parts = [(rows.STARTS_AT, half, cells[:1]), (half, rows.ENDS_AT, cells[1:])]
    billed = []
    for starts_at, ends_at, used in parts:
        asked, _ = invoice_closing.request_close(
            tenant=owner,
            starts_at=starts_at,
            ends_at=ends_at,
            by=rows.STAFF,
            now_forced=True,
            now=rows.AFTER_GRACE,
        )
        made = invoice_closing.close(invoice=asked, evidence=rows.evidence(used), by=rows.STAFF)
        assert made.state == Invoice.State.DRAFT, made.held_reasons
        billed.append(issuing.issue(
            invoice=issuing.approve(invoice=made, by=rows.STAFF), by=rows.STAFF, now=NOW
        ))  # fmt: skip

    (same,), (more,) = rated(draft()), rated(draft(dearer))

    assert same.present_net_minor == same.draft_net_minor == sum(i.net_minor for i in billed)
    assert same.present_total_minor == sum(i.total_minor for i in billed)
    assert more.present_net_minor == same.present_net_minor
    assert more.draft_net_minor - more.present_net_minor == 1000


def test_a_draft_changes_fee_included_prices_and_hours() -> None:
    _, invoice = busy()

    def change(content: dict[str, Any]) -> None:
        dearer(content)
        content["plans"]["team"]["included"]["messages"] = 0
        content["space_plans"]["standard-small"]["hour_price"] = "0.03"

    (row,) = rated(draft(change))

    # 1 M messages more at 0.80 and 0.50: 10 M + 2.345678 M against 10 M + 1.345678 M: 0.50 EUR.
    # 720 hours at 0.01 more: 7.20 EUR. The fee: 10 EUR.
    assert row.present_net_minor == invoice.net_minor
    assert row.draft_net_minor - row.present_net_minor == 1000 + 50 + 720


def test_terms_of_then_apply_under_the_draft() -> None:
    owner = rows.tenant()
    Discount.objects.create(
        tenant=owner, title="Half", percent=Decimal(50), starts_at=rows.STARTS_AT
    )
    invoice = rows.issued(owner)
    Discount.objects.all().update(percent=Decimal(10))

    (row,) = rated(draft(dearer))

    assert (row.present_net_minor, row.draft_net_minor) == (invoice.net_minor, 2950)


def test_a_month_without_an_invoice_is_rated_with_the_rows_of_now() -> None:
    rows.tenant(subscribed_at=datetime(2026, 3, 1, tzinfo=UTC))

    march, april = rated(draft(dearer), months=2)

    assert march.month_starts_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert april.month_starts_at == rows.STARTS_AT
    assert {(r.present_net_minor, r.draft_net_minor) for r in (march, april)} == {(4900, 5900)}
    assert april.invoiced_net_minor is None


def test_a_tenant_without_a_plan_then_has_no_row() -> None:
    rows.tenant(subscribed_at=rows.ENDS_AT)

    assert rated(draft(dearer)) == []


def test_an_older_version_of_a_changed_plan_is_priced_by_the_draft() -> None:
    owner, invoice = busy()
    published = catalog_drafts.publish(draft=draft(dearer), by=rows.STAFF, now=NOW)
    assert published.version is not None

    (same,) = rated(draft(dearer))
    (back,) = rated(draft())

    # The catalog in force changes nothing: who stayed keeps the prices of then.
    assert same.draft_net_minor == invoice.net_minor
    assert PlanSubscription.objects.get(tenant=owner).plan.version == 1
    assert back.draft_net_minor == back.present_net_minor == invoice.net_minor


def test_a_stopped_back_test_goes_on_and_repeats_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(back_testing, "BATCH", 1)
    for _ in range(3):
        rows.tenant()
    test = back_testing.request(
        draft=draft(dearer), months=1, source=BackTest.Source.COPY, by=rows.STAFF, now=NOW
    )
    prices = back_testing.prices_of(test.draft.document)
    batches = back_testing.batches(NOW, 1)
    first = next(batches)
    back_testing.store(test, first, back_testing.rate(first, prices, rated_period.from_copy))

    other = BackTest.objects.get()
    stale = BackTest.objects.get()
    for batch in back_testing.batches(NOW, 1, other.rated_up_to):
        done = back_testing.rate(batch, prices, rated_period.from_copy)
        back_testing.store(other, batch, done)
    second = next(back_testing.batches(NOW, 1, first[-1].tenant.pk))
    back_testing.store(stale, second, back_testing.rate(second, prices, rated_period.from_copy))

    other.refresh_from_db()
    assert (other.n_rated, other.n_tenants) == (3, 3)
    assert BackTestRow.objects.count() == 3
    assert back_testing.summary(other) == [
        PlanSum("", "EUR", 3, 3, 0, 3, 14_700, 17_700, followers_minor=0)
    ]


def test_sums_by_plan_count_winners_losers_and_followers() -> None:
    for key, fee in (("team", 1), ("business", -1)):
        owner = rows.tenant(to=rows.plan(key), subscribed_at=NOW - timedelta(days=90))
        PlanSubscription.objects.filter(tenant=owner).update(follows=fee > 0)

    def change(content: dict[str, Any]) -> None:
        dearer(content)
        content["plans"]["business"]["monthly_fee_minor"] = 8000

    test = back_testing.request(
        draft=draft(change), months=1, source=BackTest.Source.COPY, by=rows.STAFF, now=NOW
    )
    (batch,) = back_testing.batches(NOW, 1)
    done = back_testing.rate(
        batch, back_testing.prices_of(test.draft.document), rated_period.from_copy
    )
    back_testing.store(test, batch, done)

    assert back_testing.by_plan(test) == [
        PlanSum("business", "EUR", 1, 1, 1, 0, 9800, 8000, followers_minor=0),
        PlanSum("team", "EUR", 1, 1, 0, 1, 4900, 5900, followers_minor=1000),
    ]
    ranked = back_testing.ranked(test)
    assert [row.draft_net_minor - row.present_net_minor for row in ranked] == [1000, -1800]
    found = {label: n for label, n in back_testing.distribution(test) if n}
    assert found == {"-25 to -10": 1, "10 to 25": 1}


def test_queries_of_a_batch_grow_by_a_few_for_each_tenant(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(4):
        busy()
    prices = back_testing.prices_of(draft(dearer).document)

    with django_assert_max_num_queries(4 + 4 * 12):
        for batch in back_testing.batches(NOW, 1):
            back_testing.rate(batch, prices, rated_period.from_copy)


def test_a_second_request_returns_the_running_back_test() -> None:
    rows.tenant()
    wanted = draft(dearer)
    first, second = (
        back_testing.request(
            draft=wanted, months=3, source=BackTest.Source.LAKEHOUSE, by=rows.STAFF, now=NOW
        )
        for _ in range(2)
    )

    assert first == second
    assert back_testing.waiting() == [first.pk]
    back_testing.finish(first, error="no gold")
    assert back_testing.waiting() == []
    assert back_testing.get(first.pk).error == "no gold"


@pytest.mark.parametrize("lacking", ["its plan of then", "the draft"])
def test_a_tenant_without_a_price_is_held_alone_and_named(
    lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty, _ = rows.tenant(), rows.tenant()
    test = back_testing.request(
        draft=draft(dearer), months=1, source=BackTest.Source.COPY, by=rows.STAFF, now=NOW
    )
    gather, rate = facts.gather, MonthReplay.rate

    def gathered(tenant: Tenant, period: Period) -> facts.Facts:
        if tenant == faulty and lacking == "its plan of then":
            raise not_priced("Team", "USD")
        return gather(tenant, period)

    def replayed(self: MonthReplay, read: Any, prices: Any = None) -> Any:
        if prices and self.parts[0].facts.tenant_id == faulty.pk and lacking == "the draft":
            raise not_priced("Team", "USD")
        return rate(self, read, prices)

    monkeypatch.setattr(facts, "gather", gathered)
    monkeypatch.setattr(MonthReplay, "rate", replayed)
    (batch,) = back_testing.batches(NOW, 1)
    prices = back_testing.prices_of(test.draft.document)
    done = back_testing.rate(batch, prices, rated_period.from_copy)
    back_testing.store(test, batch, done)

    test = back_testing.get(test.pk)
    reason = not_priced("Team", "USD").message
    assert test.held == [{"tenant": faulty.slug, "reason": reason}]
    assert (test.n_rated, BackTestRow.objects.count()) == (2, 1)
