"""The tax report by hand: countries, categories, rates, sellers, currencies, and the ledger.

``taxed_sales`` makes the documents. What a row of a figure is made of stands beside it.
"""

from collections import Counter
from datetime import UTC, date, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core.errors import Invalid
from plans.export_kinds import FileFormat
from plans.exports import tables, tax_report
from plans.exports.tax_report import TaxReport
from plans.invoicing import document, issuing
from plans.ledger import posting
from plans.models import CreditNote, Invoice, LedgerPosting
from tenants.models import Tenant
from tests.support import query_plans
from tests.support.plans import billing_rows as rows
from tests.support.plans import debts, taxed_sales, two_sellers
from tests.support.plans.billing_rows import STAFF
from tests.support.plans.taxed_sales import MAY_4, VAT_IDS, buyer, corrected, credit, with_usage

pytestmark = pytest.mark.django_db
MAY, JUNE = date(2026, 5, 1), date(2026, 6, 1)


def of_both() -> TaxReport:
    return tax_report.report(MAY, JUNE)


def sums(found: TaxReport, month: date) -> dict[str, tuple[int, int, int]]:
    """Return {seller, currency, country, category, rate: documents, taxable, tax} of a month."""
    return {
        " ".join(
            [one.legal_entity, one.currency, one.country, one.category, str(one.percent)]
            + ["oss"] * one.is_oss
        ): (one.n_documents, one.taxable_minor, one.tax_minor)
        for one in found.rates
        if one.month == month
    }


def customers(found: TaxReport) -> list[tuple[str, str, int, int]]:
    return [
        (one.vat_id, one.country, one.n_documents, one.taxable_minor) for one in found.customers
    ]


def alter_country(old: str, new: str, owner: Tenant) -> None:
    """Change the buyer's country in the documents of the tenant."""
    debts.alter(
        "UPDATE plans_invoice SET document = replace(document, %s, %s) WHERE tenant_id = %s",
        f'"country":"{old}"', f'"country":"{new}"', owner.pk,
    )  # fmt: skip


def test_documents_are_added_up_by_month_seller_currency_country_category_and_rate() -> None:
    taxed_sales.history()

    found = of_both()

    assert sums(found, MAY) == {
        "wp CHF DE S 19": (1, 14700, 2793),
        "wp EUR AT S 20 oss": (1, 4900, 980),
        "wp EUR DE E 0": (1, 4900, 0),
        "wp EUR DE S 19": (1, 4900, 931),
        "wp EUR FR AE 0": (1, 4900, 0),
        # Two fees, one of which is voided in June, and 7 messages.
        "wp EUR FR S 20 oss": (3, 2 * 4900 + 700, 2 * 980 + 140),
        "wp EUR GB G 0": (1, 4900, 0),
        "wp EUR IT S 22 oss": (1, 90000, 19800),
        "wp-inc USD DE  6.25": (1, 9800, 613),
    }
    assert sums(found, JUNE) == {
        "wp EUR AT S 20 oss": (1, -4900, -980),
        # The replacement, a credit note of 5.00, and the own tax of the invoice of two taxes.
        "wp EUR FR AE 0": (3, 4900 - 500 + 0, 0),
        # A credit note of 10.00, the voided invoice, and 5 late messages of April.
        "wp EUR FR S 20 oss": (3, -1000 - 4900 + 500, -200 - 980 + 100),
        # 1,100 messages of 0.50 cost less than 900 of 1.00: the invoice is below zero.
        "wp EUR IT S 22 oss": (1, -35000, -7700),
        "wp-inc USD DE  6.25": (1, -1001, -63),
    }
    assert tax_report.report(JUNE, JUNE).rates == tuple(
        one for one in found.rates if one.month == JUNE
    )


def test_the_tax_of_each_month_is_what_the_ledger_booked() -> None:
    taxed_sales.history()

    found = of_both()

    stated, booked = Counter[tuple[int, str, str]](), Counter[tuple[int, str, str]]()
    for one in found.rates:
        stated[one.month.month, one.legal_entity, one.currency] += one.tax_minor
    for row in LedgerPosting.objects.filter(account=posting.TAX).select_related("entry"):
        entry = row.entry
        booked[entry.booked_at.month, entry.legal_entity, entry.currency] -= row.amount_minor
    assert stated == booked
    assert len(booked) == 5
    assert found.disagreements == ()


def test_a_month_whose_tax_is_booked_otherwise_is_named() -> None:
    invoice = debts.issued(buyer(), MAY_4)
    debts.alter(
        "UPDATE plans_ledgerposting SET amount_minor = amount_minor - 1 WHERE account = 'tax'"
    )

    assert of_both().disagreements == (
        "2026-05 wp: the ledger says 9.32 EUR, the invoices and credit notes say 9.31 EUR",
    )
    debts.book_on(posting.invoice_reference(invoice.pk), date(2026, 6, 2))
    assert of_both().disagreements == (
        "2026-05 wp: the ledger says 0.00 EUR, the invoices and credit notes say 9.31 EUR",
        "2026-06 wp: the ledger says 9.32 EUR, the invoices and credit notes say 0.00 EUR",
    )


def test_an_altered_document_disagrees_with_the_ledger() -> None:
    debts.issued(buyer(), MAY_4)
    debts.alter("UPDATE plans_invoice SET document = replace(document, ':931', ':930')")

    assert [text[:10] for text in of_both().disagreements] == ["2026-05 wp"]


def test_reverse_charge_is_added_up_by_vat_id_over_all_months() -> None:
    taxed_sales.history()

    found = of_both()

    # 49.00, a credit note of 5.00, and an invoice of another tenant with this VAT id.
    assert customers(found) == [(VAT_IDS[0], "FR", 3, 4400), (VAT_IDS[1], "FR", 1, 4900)]
    assert customers(tax_report.report(MAY, MAY)) == [(VAT_IDS[0], "FR", 1, 4900)]
    reversed_ = [one for one in found.rates if one.category == "AE"]
    assert sum(one.taxable_minor for one in reversed_) == 4400 + 4900


def test_a_vat_id_is_one_customer_however_it_is_written() -> None:
    first = buyer(billing_country="GR", tax_id="EL 094259216", billing_name="Old SA")
    debts.issued(first, MAY_4)
    second = buyer(billing_country="GR", tax_id="gr-094.259.216", billing_name="New SA")
    debts.issued(second, date(2026, 6, 4))

    (one,) = of_both().customers

    assert (one.vat_id, one.name, one.taxable_minor) == ("EL094259216", "New SA", 9800)
    (earlier,) = tax_report.report(MAY, MAY).customers
    assert earlier.name == "Old SA"
    alter_country("GR", "CY", second)
    assert customers(of_both()) == [("EL094259216", "CY", 2, 9800)]


def test_only_sales_to_the_union_are_for_the_one_stop_shop() -> None:
    owner = buyer(billing_country="AT")
    debts.issued(owner, MAY_4)
    before = [one.is_oss for one in of_both().rates]
    # Such a document has another category today.
    alter_country("AT", "CH", owner)

    assert (before, [one.is_oss for one in of_both().rates]) == ([True], [False])


def test_the_tax_of_a_corrected_month_belongs_to_the_buyer_of_that_month() -> None:
    moved = with_usage(buyer(plan="bulk", billing_country="FR"))
    _, may = corrected(moved, 7, 12, billing_country="DE")

    assert sums(of_both(), JUNE) == {
        "wp EUR DE S 19": (1, 0, 0),
        "wp EUR FR S 20 oss": (1, 500, 100),
    }
    position = may.lines.get(amount_minor=500).position
    credit(may, 200, position=position)
    assert sums(of_both(), JUNE)["wp EUR FR S 20 oss"] == (2, 300, 60)
    assert of_both().disagreements == ()


def test_reverse_charge_of_a_corrected_month_belongs_to_the_vat_id_of_that_month() -> None:
    moved = with_usage(buyer(plan="bulk", billing_country="FR", tax_id=VAT_IDS[0]))
    corrected(moved, 7, 12, billing_country="DE", tax_id="")

    found = of_both()

    assert customers(found) == [(VAT_IDS[0], "FR", 2, 1200)]
    assert sums(found, JUNE)["wp EUR FR AE 0"] == (1, 500, 0)
    # The buyer of the correction is the one of 4 May, so this document has the newest name.
    named = buyer(billing_country="FR", tax_id=VAT_IDS[0], billing_name="New SA")
    debts.issued(named, date(2026, 5, 20))
    assert [one.name for one in of_both().customers] == ["New SA"]


def test_a_document_with_two_certificates_of_a_category_counts_once() -> None:
    owner = taxed_sales.exempt(with_usage(buyer(plan="bulk")))
    _, may = corrected(owner, 7, 12, exempt_by="Section 5")

    assert len(document.loaded(may.document)["taxes"]) == 2
    assert sums(of_both(), JUNE) == {"wp EUR DE E 0": (1, 500, 0)}


def test_months_are_those_of_utc() -> None:
    approved = issuing.approve(invoice=rows.drafted(buyer()), by=STAFF)
    last_second = datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC)
    issuing.issue(invoice=approved, by=STAFF, now=last_second)

    found = of_both()

    assert [one.month for one in found.rates] == [MAY]
    assert found.disagreements == ()


def test_an_invoice_counts_from_its_issue_on() -> None:
    rows.drafted(buyer())

    assert of_both() == TaxReport(MAY, JUNE, (), (), ())


def test_more_than_36_months_are_refused() -> None:
    for first, last in ((JUNE, MAY), (date(2023, 5, 1), MAY)):
        with pytest.raises(Invalid) as refused:
            tax_report.report(first, last)
        assert refused.value.error_code == "report.months"


def test_the_files_are_in_the_main_unit() -> None:
    debts.issued(buyer(billing_country="AT"), MAY_4)
    debts.issued(buyer(two_sellers.DOLLARS), MAY_4)
    business = buyer(billing_country="FR", tax_id=VAT_IDS[0], billing_name="=Quai, SA")
    credit(debts.issued(business, MAY_4), 500)
    found = of_both()

    with tables.write(
        tax_report.COLUMNS, (one.row() for one in found.rates), FileFormat.CSV
    ) as file:
        rates = file.read().decode().splitlines()
    with tables.write(tax_report.CUSTOMER_COLUMNS, found.customer_rows(), FileFormat.CSV) as file:
        listed = file.read().decode().splitlines()

    assert rates == [
        "month,legal_entity,currency,country,category,percent,oss,documents,taxable,tax",
        "2026-05,wp,EUR,AT,S,20,true,1,49.00,9.80",
        "2026-05,wp,EUR,FR,AE,0,false,1,49.00,0.00",
        "2026-05,wp-inc,USD,DE,,6.25,false,1,98.00,6.13",
        "2026-06,wp,EUR,FR,AE,0,false,1,-5.00,0.00",
    ]
    assert listed == [
        "first,last,legal_entity,currency,vat_id,country,name,documents,taxable",
        f'2026-05,2026-06,wp,EUR,{VAT_IDS[0]},FR,"\'=Quai, SA",2,44.00',
    ]


def test_the_cost_follows_the_documents_of_the_months() -> None:
    taxed_sales.history()
    n_invoices, n_notes = Invoice.objects.count(), CreditNote.objects.count()
    assert (n_invoices, n_notes) == (14, 5)

    with CaptureQueriesContext(connection) as found:
        both = of_both()
    with CaptureQueriesContext(connection) as one:
        tax_report.report(JUNE, JUNE)
    with CaptureQueriesContext(connection) as none:
        tax_report.report(date(2026, 7, 1), date(2026, 7, 1))

    assert sum(row.n_documents for row in both.rates) == n_invoices + n_notes + 1
    assert [len(queries) for queries in (found, one, none)] == [2, 2, 2]
    read = {"plans_invoice", "plans_creditnote", "plans_ledgerentry", "plans_ledgerposting"}
    of_none = query_plans.rows_read([query["sql"] for query in none], read)
    assert {table: rows for table, rows in of_none.items() if rows} == {}
    of_one = query_plans.rows_read([query["sql"] for query in one], read)
    # Three invoices of June, and those that the five credit notes and a correction name.
    assert of_one["plans_invoice"] <= 5
    assert of_one["plans_creditnote"] <= 6
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + one[0]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert {name for name in ("invoice_issued", "credit_note_newest_first") if name in plan} == {
        "invoice_issued",
        "credit_note_newest_first",
    }
