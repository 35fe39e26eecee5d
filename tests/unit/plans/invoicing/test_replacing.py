"""Replacing an issued invoice whose buyer or tax is wrong.

The seller is in Germany and taxes by the VAT directive. The invoice of April is the fee of 49.00
alone: with 20 % of France 58.80, and 49.00 under reverse charge.
"""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.catalog import parsing, publishing
from plans.einvoices import en16931
from plans.exports import deferred_revenue, focus
from plans.invoicing import (
    close_runs,
    corrections,
    credit_notes,
    document,
    facts,
    invoice_closing,
    invoice_verification,
    issuing,
    month_costs,
    open_periods,
    rendering,
    replacing,
    states,
)
from plans.invoicing.facts import Facts
from plans.invoicing.replacing import Changed, DetailsMissing
from plans.ledger import credit, posting
from plans.models import Invoice, InvoiceNumberSeries, LedgerPosting
from plans.quotas import standings
from plans.rating.periods import Period
from plans.rating.taxes import REVERSE_CHARGE
from tenants.models import Tenant
from tenants.notifications.models import Event
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
State = Invoice.State
APRIL = Period(STARTS_AT, ENDS_AT)


@pytest.fixture
def owner() -> Tenant:
    """A tenant in France without a VAT id, so its invoice has French VAT."""
    content = json.loads(rows.CATALOG)
    content["seller"]["tax_regime"] = "vat"
    publishing.publish(parsing.parse(json.dumps(content)), by=STAFF)
    return rows.tenant(to=publishing.plan("team"), billing_country="FR")


@pytest.fixture
def invoice(owner: Tenant) -> Invoice:
    return rows.issued(owner)


def corrected(owner: Tenant) -> None:
    """Store the VAT id and the address that the invoice should have had."""
    owner.tax_id, owner.billing_address = "FR83404833048", "2 rue du Port\nLille"
    owner.save(update_fields=["tax_id", "billing_address"])


def facts_of_may(owner: Tenant) -> Facts:
    return facts.gather(owner, Period(ENDS_AT, datetime(2026, 6, 1, tzinfo=UTC)))


replace = partial(replacing.replace, reason="wrong VAT id", by=STAFF, now=AFTER_GRACE)


def test_the_replacement_has_the_lines_of_the_old_one_and_the_details_of_now(
    owner: Tenant, invoice: Invoice
) -> None:
    corrected(owner)
    shown = replacing.preview(Invoice.objects.get(pk=invoice.pk))

    made = replace(invoice=invoice)

    invoice.refresh_from_db()
    old, new = (document.loaded(row.document) for row in (invoice, made))
    assert (invoice.total_minor, made.total_minor) == (5880, 4900)
    assert (invoice.state, made.state, made.number) == (State.VOIDED, State.ISSUED, "WP-000002")
    assert (made.replaces, replacing.replacement_of(invoice)) == (invoice, made)
    assert new["replaces"] == {"number": "WP-000001", "issued_at": old["issued_at"]}
    assert (new["buyer"]["tax_id"], new["buyer"]["address"]) == (
        "FR83404833048", "2 rue du Port\nLille",
    )  # fmt: skip
    assert new["taxes"] == [
        {"percent": "0", "taxable_minor": 4900, "tax_minor": 0, "category": "AE",
         "note": REVERSE_CHARGE}
    ]  # fmt: skip
    for name in ("lines", "usage", "period", "seller", "month_so_far", "quality"):
        assert new[name] == old[name]
    assert shown == {**new, **dict.fromkeys(document.NUMBERED)}
    assert sum(line.amount_minor for line in made.lines.all()) == made.net_minor == 4900


def test_the_replacement_verifies_and_so_does_the_old_invoice(
    owner: Tenant, invoice: Invoice
) -> None:
    corrected(owner)
    made = replace(invoice=invoice)

    for row in (invoice, made):
        found = invoice_verification.verify(invoice=Invoice.objects.get(pk=row.pk), cells=[])
        assert found.differences == ()
    assert credit_notes.verify(invoice.credit_notes.get()).same


def test_a_replacement_that_names_another_invoice_differs(owner: Tenant, invoice: Invoice) -> None:
    made = replace(invoice=invoice)
    text = made.document.replace('"number":"WP-000001"', '"number":"WP-000007"')

    found = invoice_verification.recomputed(made, document.loaded(text), [])[1]

    assert document.canonical(found) == made.document != text


def test_replacing_twice_gives_the_same_invoice(invoice: Invoice) -> None:
    first, second = replace(invoice=invoice), replace(invoice=invoice)

    assert first == second
    assert InvoiceNumberSeries.objects.get(pk="wp").last_number == 2
    assert invoice.credit_notes.count() == 1


def test_a_voided_invoice_and_a_replacement_can_be_replaced(
    owner: Tenant, invoice: Invoice
) -> None:
    credit_notes.void(invoice=invoice, reason="wrong VAT id", by=STAFF)
    second = replace(invoice=invoice)
    corrected(owner)

    third = replace(invoice=second)

    assert (second.total_minor, third.total_minor) == (5880, 4900)
    assert document.loaded(third.document)["replaces"]["number"] == second.number
    with pytest.raises(states.WrongState, match=f"{second.number} replaces"):
        replacing.preview(Invoice.objects.get(pk=invoice.pk))


def test_what_was_paid_pays_the_replacement(owner: Tenant, invoice: Invoice) -> None:
    issuing.record_payment(
        invoice=invoice, amount_minor=5880, source="manual", reference="bank-1",
        received_on=date(2026, 5, 20), by=STAFF,
    )  # fmt: skip
    corrected(owner)

    made = replace(invoice=invoice)

    assert (made.state, made.credit_minor) == (State.PAID, 4900)
    assert credit.before(owner.pk, "wp", "EUR") == 980  # the tax that was too much


def test_the_books_have_the_new_invoice_alone(owner: Tenant, invoice: Invoice) -> None:
    corrected(owner)
    made = replace(invoice=invoice)

    sums: dict[str, int] = {}
    for account, amount in LedgerPosting.objects.values_list("account", "amount_minor"):
        sums[account] = sums.get(account, 0) + amount
    assert {account: amount for account, amount in sums.items() if amount} == (
        posting.booked(posting.invoice_reference(made.pk))
    ) == {"receivable": 4900, "revenue:plan_fee": -4900}  # fmt: skip


def test_a_killed_replacement_leaves_nothing(
    invoice: Invoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuing, "issue", lambda **_: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        replace(invoice=invoice)

    invoice.refresh_from_db()
    assert (invoice.state, Invoice.objects.count()) == (State.ISSUED, 1)
    assert not invoice.credit_notes.exists()


@pytest.mark.parametrize("state", [State.DRAFT, State.UNCOLLECTIBLE])
def test_only_an_issued_invoice_is_replaced(owner: Tenant, state: str) -> None:
    if state == State.DRAFT:
        invoice = rows.drafted(owner)
    else:
        invoice = rows.issued(owner)
        issuing.mark_overdue(by=STAFF)
        issuing.write_off(invoice=invoice, by=STAFF, reason="bankrupt")

    with pytest.raises(states.WrongState):
        replace(invoice=invoice)


def test_a_replacement_needs_billing_details(owner: Tenant, invoice: Invoice) -> None:
    owner.billing_address = ""
    owner.save(update_fields=["billing_address"])

    with pytest.raises(DetailsMissing, match="Fill in the billing address of Example"):
        replace(invoice=invoice)

    assert Invoice.objects.get().state == State.ISSUED


def test_only_the_confirmed_preview_is_issued(owner: Tenant, invoice: Invoice) -> None:
    shown = replacing.digest(replacing.preview(invoice))
    corrected(owner)

    with pytest.raises(Changed):
        replace(invoice=invoice, confirmed=shown)
    shown = replacing.digest(replacing.preview(Invoice.objects.get()))

    assert replace(invoice=invoice, confirmed=shown).total_minor == 4900


def test_a_replacement_needs_a_reason(invoice: Invoice) -> None:
    with pytest.raises(Invalid):
        replace(invoice=invoice, reason=" ")


def test_the_period_counts_once(owner: Tenant, invoice: Invoice) -> None:
    corrected(owner)
    before = list(open_periods.due(AFTER_GRACE, invoice_closing.grace(), [owner.pk]))
    spent = standings.spend(owner, APRIL, AFTER_GRACE).landed
    made = replace(invoice=invoice)

    assert list(open_periods.due(AFTER_GRACE, invoice_closing.grace(), [owner.pk])) == before
    assert [row for row, _ in corrections.agreed(owner.pk)] == [made]
    assert corrections.previous_invoice(owner.pk, Period(ENDS_AT, AFTER_GRACE), APRIL) == made
    costs = month_costs.of_month(owner, APRIL, "", AFTER_GRACE)
    assert costs is not None
    assert costs.net_minor == 4900
    assert spent - standings.spend(owner, APRIL, AFTER_GRACE).landed == 5880 - 4900
    with pytest.raises(states.WrongState):
        rows.asked(owner)
    assert close_runs.start_due(by=STAFF, now=AFTER_GRACE) is None


def test_exports_of_the_month_stay_and_the_month_of_issue_has_the_difference(
    owner: Tenant, invoice: Invoice
) -> None:
    corrected(owner)
    replace(invoice=invoice)
    may = Period(ENDS_AT, datetime(2026, 6, 1, tzinfo=UTC))

    costs = [
        [row["BilledCost"] for row in focus.rows(month, id)]
        for month in (APRIL, may)
        for id in (owner.pk, None)
    ]
    report = deferred_revenue.report(date(2026, 4, 1), date(2026, 5, 1))

    used = [row["ConsumedQuantity"] for row in focus.rows(may)]
    classes = {row["ChargeClass"] for row in focus.rows(may)}

    assert (set(used), classes) == ({None}, {"Correction"})
    assert [sum(map(Decimal, map(str, found))) for found in costs] == [
        Decimal("58.80"), Decimal("58.80"), Decimal("-9.80"), Decimal("-9.80"),
    ]  # fmt: skip
    assert [(row.billed, row.earned) for row in report] == [(0, 4900), (4900, 0)]
    assert deferred_revenue.disagreements(report) == []


def test_late_usage_corrects_the_replacement() -> None:
    owner = rows.tenant(to=rows.plan("bulk"))
    space = rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    first = rows.used(rows.cell(space, "messages_in", 7))
    made = replace(invoice=rows.issued(owner, first))
    rows.used(rows.cell(space, "messages_in", 12))

    facts = facts_of_may(owner)
    found = corrections.candidates(facts, corrections.agreed(owner.pk), None)

    assert [row.number for row in found] == [made.number]


def closed(owner: Tenant, until: datetime) -> Invoice:
    """Return the draft of May, with the usage that is known now."""
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=ENDS_AT, ends_at=until, by=STAFF, now_forced=True, now=until
    )
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    evidence = rows.evidence(
        as_of=until, sampled_spaces=sampled, earlier=rows.earlier(invoice), tables={}
    )
    return invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)


def test_corrections_keep_the_tax_of_their_month(owner: Tenant) -> None:
    owner.plan_subscriptions.update(plan=publishing.plan("bulk"))
    space = rows.space(owner, space_plan=publishing.space_plan("free-of-charge"))
    april = rows.issued(owner, rows.used(rows.cell(space, "messages_in", 10)))
    cells = rows.used(rows.cell(space, "messages_in", 30))
    june = datetime(2026, 6, 1, tzinfo=UTC)
    may = issuing.approve(invoice=closed(owner, june), by=STAFF)
    may = issuing.issue(invoice=may, by=STAFF, now=june)

    corrected(owner)
    business = replace(invoice=may, now=june)
    owner.tax_id = ""
    owner.save(update_fields=["tax_id"])
    consumer = replace(invoice=business, now=june)

    found = [document.loaded(row.document) for row in (may, business, consumer)]
    taxes = [[(tax["percent"], tax["taxable_minor"]) for tax in made["taxes"]] for made in found]
    assert taxes == [[("20", 2000)], [("0", 0), ("20", 2000)], [("20", 2000)]]
    assert found[0]["lines"] == found[2]["lines"]
    assert found[0]["corrections"] == found[2]["corrections"]
    assert [row["number"] for row in found[2]["corrections"]] == [april.number]
    for row in (may, business, consumer):
        kept = invoice_verification.verify(invoice=Invoice.objects.get(pk=row.pk), cells=cells)
        assert kept.differences == ()


def test_the_documents_name_the_replaced_invoice(owner: Tenant, invoice: Invoice) -> None:
    corrected(owner)
    made = document.loaded(replace(invoice=invoice).document)

    assert en16931.of_invoice(made).preceding == ("WP-000001", date(2026, 5, 4))
    assert "Replaces invoice WP-000001 of 4 May 2026, which is void." in rendering.html(made)
    assert b"<cbc:ID>WP-000001</cbc:ID>" in rendering.ubl_of(made)
    assert b"WP-000001" in rendering.cii_of(made)


def test_the_customer_is_notified_and_the_audit_log_has_it(invoice: Invoice) -> None:
    made = replace(invoice=invoice)

    notice = Event.objects.get(kind="invoice.issued", fields__invoice=made.pk)
    assert notice.fields["to_pay"].startswith("It replaces WP-000001, which is void.")
    event = AuditEvent.objects.get(action="invoice.replace")
    assert (event.reason, event.after["replacement"]) == ("wrong VAT id", "WP-000002")


def test_the_database_lets_only_a_voided_invoice_of_the_period_be_replaced(
    owner: Tenant, invoice: Invoice
) -> None:
    other = Invoice(tenant=owner, starts_at=STARTS_AT, ends_at=ENDS_AT, replaces=invoice)
    with pytest.raises(DatabaseError, match="only a voided one"), transaction.atomic():
        other.save(force_insert=True)
    made = replace(invoice=invoice)
    with (
        pytest.raises(DatabaseError, match="is issued"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("UPDATE plans_invoice SET replaces_id = NULL WHERE id = %s", [made.pk])
    assert json.loads(made.document)["replaces"]["number"] == "WP-000001"
