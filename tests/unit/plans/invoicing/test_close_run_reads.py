"""The totals of a close run count each invoice once, and only what this run has closed."""

import pytest

from plans.invoicing import close_run_reads
from plans.models import CloseRun, CloseRunInvoice, Invoice
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE

pytestmark = pytest.mark.django_db


def _run(invoice: Invoice, *, is_done: bool = True) -> CloseRun:
    run = CloseRun.objects.create(requested_by="staff")
    done_at = AFTER_GRACE if is_done else None
    CloseRunInvoice.objects.create(run=run, invoice=invoice, done_at=done_at)
    return run


def test_an_invoice_of_two_runs_counts_once_in_the_totals_of_each() -> None:
    draft = rows.drafted(rows.tenant())
    runs = [_run(draft), _run(draft)]

    for run in runs:
        (total,) = close_run_reads.read(run).totals
        assert (total.n_invoices, total.total_minor) == (1, draft.total_minor)


def test_what_an_earlier_run_closed_is_no_total_of_a_run_that_has_it_left() -> None:
    draft = rows.drafted(rows.tenant())
    _run(draft)

    assert close_run_reads.read(_run(draft, is_done=False)).totals == ()
