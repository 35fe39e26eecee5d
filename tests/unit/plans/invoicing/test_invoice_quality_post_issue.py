"""Usage that lands after its invoice was issued: found at the next close, and said there."""

from datetime import UTC, datetime, timedelta

import pytest

from plans.invoicing import document, invoice_closing, invoice_verification, rendering
from plans.models import Invoice
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def close_may(owner: Tenant) -> Invoice:
    invoice, _ = invoice_closing.request_close(
        tenant=owner, starts_at=ENDS_AT, ends_at=JUNE, by=STAFF, now=JUNE + timedelta(hours=72)
    )
    sampled = frozenset(owner.spaces.values_list("id", flat=True))
    evidence = rows.evidence(as_of=JUNE, sampled_spaces=sampled, earlier=rows.earlier(invoice))
    return invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)


@pytest.fixture
def april() -> Invoice:
    """April as issued: 7 messages in of the space ``shop``."""
    owner = rows.tenant()
    space = rows.space(owner)
    return rows.issued(owner, rows.used(rows.cell(space, "messages_in", 7)))


def test_usage_that_lands_after_issue_is_flagged_on_the_next_invoice(april: Invoice) -> None:
    space = april.tenant.spaces.get()
    late = rows.cell(space, "messages_in", 5, at=STARTS_AT + timedelta(days=3))
    cells = rows.used(late, rows.cell(space, "messages_out", 2, at=late.bucket_at))
    cells.append(rows.cell(space, "messages_in", 7))

    may = close_may(april.tenant)

    assert may.state == Invoice.State.DRAFT
    assert may.quality["flagged"] is True
    assert [(late["meter"], late["billed"], late["now"]) for late in may.quality["late"]] == [
        ("messages_in", 7, 12),
        ("messages_out", 0, 2),
    ]
    words = "messages_in of shop are now 12, billed were 7"
    assert f"Usage of WP-000001 changed after it was issued: {words}" in may.quality["text"]
    page = rendering.html(document.loaded(may.document))
    assert "Flagged: usage of an earlier invoice has changed" in page
    assert invoice_verification.verify(invoice=may, cells=cells).differences == ()


def test_usage_that_did_not_change_is_not_flagged(april: Invoice) -> None:
    may = close_may(april.tenant)

    assert (may.quality["flagged"], may.quality["late"]) == (False, [])
    assert may.quality["text"].startswith("Complete")


def test_an_invoice_that_is_not_issued_yet_is_closed_again_instead(april: Invoice) -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    rows.drafted(owner)
    rows.used(rows.cell(space, "messages_in", 5, at=STARTS_AT + timedelta(days=3)))

    assert close_may(owner).quality["late"] == []
