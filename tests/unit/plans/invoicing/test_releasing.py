"""Staff release a held invoice whose samples are gone for good."""

import json
from datetime import timedelta
from typing import Any

import pytest

from controlplane.core.errors import Invalid
from controlplane.core.models import AuditEvent
from plans.invoicing import invoice_closing, invoice_verification, releasing
from plans.invoicing.evidence import CounterReset, Gap
from plans.invoicing.findings import Place
from plans.models import Invoice
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import ENDS_AT, STAFF

pytestmark = pytest.mark.django_db
State = Invoice.State
GAP = Gap("spc/broker-0", "b1", 5, 9, at_end=True)
MISSED: dict[str, Any] = {"gaps": (GAP,)}
FALL: dict[str, Any] = {
    "counter_resets": (CounterReset("spc/broker-0", "b1", "orders", "messages_in", 9, 3),),
}
WHY = "The disk of the broker is destroyed."


def released(invoice: Invoice, **evidence: Any) -> Invoice:
    """Return the invoice after a release and another close with ``evidence``."""
    row, _ = releasing.release(invoice=invoice, reason=WHY, by=STAFF)
    return invoice_closing.close(invoice=row, evidence=rows.evidence((), **evidence), by=STAFF)


@pytest.mark.parametrize("found", [MISSED, FALL])
def test_a_released_invoice_becomes_a_draft_that_states_what_is_missing(
    found: dict[str, Any],
) -> None:
    held = rows.drafted(rows.tenant(), **found)
    (reason,) = held.held_reasons

    invoice = released(held, **found)

    assert (invoice.state, invoice.held_reasons) == (State.DRAFT, [])
    made = json.loads(invoice.document)
    (stated,) = made["quality"]["released"]
    assert made["manifest"]["released"] == [stated] == invoice.releases
    assert {"code": stated["code"], "message": stated["message"]} == reason
    assert (stated["because"], made["quality"]["flagged"]) == (WHY, True)
    assert WHY in made["quality"]["text"]
    assert "not billed" in made["quality"]["text"]
    event = AuditEvent.objects.get(action="invoice.release")
    assert (event.actor, event.reason, event.after) == (STAFF.name, WHY, {"reasons": [reason]})


def test_a_space_without_samples_is_released() -> None:
    owner = rows.tenant()
    rows.space(owner, active_since=ENDS_AT - timedelta(hours=1))

    invoice = released(rows.drafted(owner))

    assert invoice.state == State.DRAFT
    assert [row["code"] for row in invoice.quality["released"]] == ["samples.none"]


def test_the_release_of_one_gap_is_not_that_of_another() -> None:
    held = rows.drafted(rows.tenant(), **MISSED)
    another = Gap("spc/broker-0", "b1", 5, 10, at_end=True)

    invoice = released(held, gaps=(GAP, another))

    assert invoice.state == State.HELD
    (reason,) = invoice.held_reasons
    assert "5 to 10" in reason["message"]
    invoice = released(invoice, gaps=(GAP, another))
    assert invoice.state == State.DRAFT
    assert len(invoice.quality["released"]) == 2


def test_a_gap_that_was_filled_meanwhile_is_not_stated() -> None:
    invoice = released(rows.drafted(rows.tenant(), **MISSED))

    assert invoice.state == State.DRAFT
    assert "released" not in invoice.quality
    assert "released" not in invoice.manifest


@pytest.mark.parametrize(
    "found",
    [
        {"doubled_samples": ("sample 4 of spc/broker-0",)},
        {"as_of": ENDS_AT - timedelta(seconds=1)},
        {},  # a draft
    ],
)
def test_what_must_be_corrected_cannot_be_released(found: dict[str, Any]) -> None:
    invoice = rows.drafted(rows.tenant(), **found)

    with pytest.raises(releasing.NotReleasable):
        releasing.release(invoice=invoice, reason=WHY, by=STAFF)

    assert not AuditEvent.objects.filter(action="invoice.release").exists()


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
def test_a_release_needs_a_reason(reason: str) -> None:
    invoice = rows.drafted(rows.tenant(), **MISSED)

    with pytest.raises(Invalid):
        releasing.release(invoice=invoice, reason=reason, by=STAFF)

    invoice.refresh_from_db()
    assert (invoice.state, invoice.releases) == (State.HELD, [])


def test_a_verification_names_the_release_and_notices_one_that_nobody_made() -> None:
    invoice = released(rows.drafted(rows.tenant(), **MISSED), **MISSED)

    def step() -> dict[str, str]:
        found = invoice_verification.verify(invoice=invoice, cells=[])
        return next(step for step in found.steps() if step["name"] == Place.ROW.value)

    assert step()["state"] == "done"
    assert "staff released samples.hole_at_end" in step()["message"]
    assert invoice_verification.verify(invoice=invoice, cells=[]).same
    invoice.releases = []
    assert step()["state"] == "failed"
