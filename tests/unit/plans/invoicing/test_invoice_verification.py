"""Asking for the proof of an invoice."""

import pytest

from controlplane.core import operations
from plans.invoicing import invoice_verification
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import STAFF

pytestmark = pytest.mark.django_db


def test_asking_twice_gives_the_running_operation() -> None:
    invoice = rows.issued(rows.tenant())

    first = invoice_verification.request_verify(invoice=invoice, by=STAFF)
    second = invoice_verification.request_verify(invoice=invoice, by=STAFF)

    assert first == second
    assert invoice_verification.waiting() == [invoice.id]


def test_a_finished_verification_can_be_asked_for_again() -> None:
    invoice = rows.issued(rows.tenant())
    first = invoice_verification.request_verify(invoice=invoice, by=STAFF)
    operations.succeed(invoice_verification.SUBJECT_TYPE, invoice.id, up_to_generation=1)

    assert invoice_verification.waiting() == []
    assert invoice_verification.request_verify(invoice=invoice, by=STAFF) != first


def test_an_invoice_without_a_document_cannot_be_proved() -> None:
    with pytest.raises(invoice_verification.NothingToVerify):
        invoice_verification.request_verify(invoice=rows.asked(rows.tenant()), by=STAFF)
