"""Invoices that earlier engines made can be replaced, and their replacements verify."""

from pathlib import Path

import pytest
from django.core.management.color import no_style
from django.db import connection

from plans.invoicing import invoice_verification, replacing
from plans.models import (
    CreditNote,
    Invoice,
    InvoiceEvent,
    InvoiceLine,
    InvoiceNumberSeries,
    LedgerEntry,
    LedgerPosting,
)
from tests.support.plans import golden_invoices
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db


def _count_on(legal_entity: str) -> None:
    """Have ids and numbers continue after those that the file brought."""
    models = [CreditNote, Invoice, InvoiceEvent, InvoiceLine, LedgerEntry, LedgerPosting]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    InvoiceNumberSeries.objects.get_or_create(
        legal_entity=legal_entity, defaults={"last_number": 900}
    )


@pytest.mark.parametrize(
    "path", golden_invoices.paths(), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_replacement_of_an_invoice_of_any_engine_verifies(path: Path) -> None:
    n_replaced = 0
    for loaded, cells in golden_invoices.load(path):
        _count_on(loaded.legal_entity)
        invoice = Invoice.objects.get(pk=loaded.pk)
        if not replacing.is_possible(invoice):
            continue
        new = replacing.replace(invoice=invoice, reason="wrong buyer", by=STAFF)
        again = Invoice.objects.get(pk=new.pk)
        assert invoice_verification.verify(invoice=again, cells=cells).differences == ()
        n_replaced += 1
    assert n_replaced
