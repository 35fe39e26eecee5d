"""From an open period to a draft: asking, the validation, the draft, repetition."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from controlplane.core.errors import Invalid, WaypostError
from controlplane.core.models import AuditEvent, Operation
from plans.invoicing import invoice_closing, open_periods, states
from plans.invoicing.evidence import CounterReset, CrashGap, Gap, UsageKey
from plans.models import Invoice, InvoiceEvent, InvoiceLine, PlanSubscription
from plans.rating.periods import Period
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db


def test_request_close_begins_an_operation_and_is_idempotent() -> None:
    owner = rows.tenant()

    first = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=ENDS_AT, by=STAFF, now=AFTER_GRACE
    )
    second = invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=ENDS_AT, by=STAFF, now=AFTER_GRACE
    )

    assert first == second
    assert first[0].state == Invoice.State.CLOSING
    assert first[1].state == Operation.State.RUNNING
    assert InvoiceEvent.objects.count() == 1


def test_request_close_waits_for_the_grace_unless_forced() -> None:
    owner = rows.tenant()
    asked: dict[str, Any] = {
        "tenant": owner,
        "starts_at": STARTS_AT,
        "ends_at": ENDS_AT,
        "by": STAFF,
        "now": AFTER_GRACE - timedelta(seconds=1),
    }

    with pytest.raises(invoice_closing.TooEarly, match="2026-05-04T00:00:00"):
        invoice_closing.request_close(**asked)
    invoice, _ = invoice_closing.request_close(**asked, now_forced=True)

    assert invoice.state == Invoice.State.CLOSING
    assert "close now" in AuditEvent.objects.get(action="invoice.closing").reason


def test_request_close_refuses_a_period_that_is_not_over() -> None:
    with pytest.raises(invoice_closing.TooEarly):
        invoice_closing.request_close(
            tenant=rows.tenant(),
            starts_at=STARTS_AT,
            ends_at=ENDS_AT,
            by=STAFF,
            now=ENDS_AT - timedelta(seconds=1),
            now_forced=True,
        )


def test_request_close_refuses_more_than_a_month() -> None:
    with pytest.raises(Invalid, match="one invoice per month"):
        invoice_closing.request_close(
            tenant=rows.tenant(),
            starts_at=STARTS_AT,
            ends_at=ENDS_AT + timedelta(hours=1),
            by=STAFF,
            now=AFTER_GRACE,
        )


@pytest.mark.parametrize(("start", "end"), [(0, 20), (5, 10), (5, 30), (0, 30)])
def test_request_close_refuses_overlapping_periods(start: int, end: int) -> None:
    owner = rows.tenant()
    day = timedelta(days=1)
    invoice_closing.request_close(
        tenant=owner, starts_at=STARTS_AT, ends_at=STARTS_AT + 15 * day, by=STAFF, now=AFTER_GRACE
    )

    with pytest.raises(invoice_closing.PeriodOverlaps):
        invoice_closing.request_close(
            tenant=owner,
            starts_at=STARTS_AT + start * day,
            ends_at=STARTS_AT + end * day,
            by=STAFF,
            now=AFTER_GRACE,
        )


def test_the_database_refuses_overlapping_periods() -> None:
    owner = rows.tenant()
    Invoice.objects.create(tenant=owner, starts_at=STARTS_AT, ends_at=ENDS_AT)

    with pytest.raises(DatabaseError, match="overlaps"), transaction.atomic():
        Invoice.objects.create(
            tenant=owner, starts_at=STARTS_AT + timedelta(days=3), ends_at=ENDS_AT
        )


def test_close_makes_a_draft_with_lines_totals_and_manifest() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    rows.address(
        space,
        active_since=STARTS_AT,
        deleted_at=STARTS_AT + timedelta(hours=100),
        deletion_requested_at=STARTS_AT,
    )
    cells = rows.used(
        rows.cell(space, "messages_in", 7_000_000, address="orders"),
        rows.cell(space, "messages_out", 9_000_000, address="orders"),
    )

    invoice = rows.drafted(owner, cells)

    assert invoice.state == Invoice.State.DRAFT
    assert [(line.meter, line.amount_minor) for line in invoice.lines.all()] == [
        ("plan_fee", 4900),
        ("messages", 800),  # ten million at 0.80
        ("messages", 250),  # five million at 0.50
        ("address_hours", 10),  # 100 h at 0.001, although it was deleted
        ("space_hours", 1440),  # 720 h at 0.02
    ]
    assert (invoice.net_minor, invoice.tax_minor, invoice.total_minor) == (7400, 1406, 8806)
    assert invoice.manifest["tables"] == {"bronze.samples": {"id": "b", "version": 7}}
    assert Operation.objects.get().state == Operation.State.SUCCEEDED


def test_close_twice_changes_nothing() -> None:
    owner = rows.tenant()
    invoice = rows.drafted(owner)
    events = list(InvoiceEvent.objects.values_list("id", flat=True))

    again = invoice_closing.close(invoice=invoice, evidence=rows.evidence(n_samples=99), by=STAFF)

    assert again.document == invoice.document
    assert list(InvoiceEvent.objects.values_list("id", flat=True)) == events


@pytest.mark.parametrize(
    "step", ["draft_batch.outcomes", "store_drafts", "states.move_each", "operations.succeed_each"]
)
def test_close_crashed_anywhere_ends_like_a_whole_one(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = rows.tenant()
    invoice, evidence = rows.asked(owner), rows.evidence()
    holder, _, name = step.rpartition(".")
    target = getattr(invoice_closing, holder) if holder else invoice_closing
    _crash_after(monkeypatch, target, name)

    with pytest.raises(KeyboardInterrupt):
        invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)
    monkeypatch.undo()
    invoice.refresh_from_db()
    left = (invoice.state, InvoiceLine.objects.count())
    invoice = invoice_closing.close(invoice=invoice, evidence=evidence, by=STAFF)

    assert left == (Invoice.State.CLOSING, 0)
    assert invoice.state == Invoice.State.DRAFT
    assert InvoiceLine.objects.count() == 2
    assert InvoiceEvent.objects.filter(to_state="draft").count() == 1


def test_close_before_it_was_asked_for_is_refused() -> None:
    invoice = Invoice.objects.create(tenant=rows.tenant(), starts_at=STARTS_AT, ends_at=ENDS_AT)

    with pytest.raises(states.WrongState, match="Request the close first"):
        invoice_closing.close(invoice=invoice, evidence=rows.evidence(), by=STAFF)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"as_of": ENDS_AT - timedelta(seconds=1)}, "usage.incomplete", "run the pipeline"),
        (
            {"gaps": (Gap("spc/broker-0", "b1", 5, 9, at_end=True),)},
            "samples.hole_at_end",
            "5 to 9 of spc/broker-0",
        ),
        (
            {"gaps": (Gap("spc/broker-0", "b1", 5, 9, at_end=True),)},
            "samples.hole_at_end",
            "Otherwise release the invoice with a reason",
        ),
        (
            {
                "counter_resets": (
                    CounterReset("spc/broker-0", "b1", "orders", "messages_in", 9, 3),
                )
            },
            "samples.fall",
            "messages_in of orders fell from 9 to 3",
        ),
        (
            {"counter_resets": (CounterReset("spc/broker-0", "b1", "", "connections", 9, 3),)},
            "samples.fall",
            "closing again finds it again",
        ),
        (
            {"doubled_samples": ("spc/broker-0 b1 5",)},
            "samples.two_values",
            "verify a draft or an issued invoice of the same month with --files",
        ),
        (
            {"recomputed": {UsageKey("spc", "orders", "messages_in"): 4}},
            "usage.recompute_differs",
            "messages_in of orders is 0 against 4",
        ),
    ],
)
def test_each_doubt_holds_the_invoice_with_its_reason(
    changes: dict[str, Any], code: str, words: str
) -> None:
    invoice = rows.drafted(rows.tenant(), **changes)

    assert invoice.state == Invoice.State.HELD
    assert [reason["code"] for reason in invoice.held_reasons] == [code]
    assert words in invoice.held_reasons[0]["message"]
    assert Operation.objects.get().error_code == "invoice.held"
    assert invoice.lines.count() == 0


def test_a_copy_that_differs_from_gold_holds_and_names_only_some_differences() -> None:
    owner = rows.tenant()
    space = rows.space(owner)
    rows.used(*(rows.cell(space, "messages_in", 5, address=f"a{n}") for n in range(5)))

    invoice = rows.drafted(owner, sampled_spaces=frozenset({space.id}))

    (reason,) = invoice.held_reasons
    assert reason["code"] == "usage.copy_differs"
    assert reason["message"].count("is 5 against 0") == 3
    assert "and 2 more" in reason["message"]
    assert "python -m django copy_gold" in reason["message"]


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ({"billing_name": ""}, "Fill in the billing name of"),
        (
            {"billing_address": " ", "billing_country": "", "billing_email": ""},
            "the billing address, the billing country and the billing email address",
        ),
    ],
)
def test_missing_billing_details_hold_and_name_what_to_fill_in(
    missing: dict[str, Any], words: str
) -> None:
    invoice = rows.drafted(rows.tenant(**missing))

    (reason,) = invoice.held_reasons
    assert reason["code"] == "billing_details.missing"
    assert words in reason["message"]


@pytest.mark.parametrize(("seconds", "state"), [(119, "draft"), (120, "held")])
def test_a_space_active_for_two_intervals_needs_samples(seconds: int, state: str) -> None:
    owner = rows.tenant()
    rows.space(owner, active_since=ENDS_AT - timedelta(seconds=seconds))

    invoice = rows.drafted(owner)

    assert invoice.state == state


def test_a_space_that_was_never_active_needs_no_samples() -> None:
    owner = rows.tenant()
    rows.space(owner, active_since=None)

    assert rows.drafted(owner).state == Invoice.State.DRAFT


def test_a_held_invoice_goes_on_after_mending() -> None:
    owner = rows.tenant(billing_name="")
    held = rows.drafted(owner)
    owner.billing_name = "Example Ltd"
    owner.save()

    invoice = rows.drafted(owner)

    assert (invoice.id, invoice.state) == (held.id, Invoice.State.DRAFT)
    assert invoice.held_reasons == []
    moves = list(InvoiceEvent.objects.order_by("id").values_list("from_state", "to_state"))
    assert moves == [
        ("open", "closing"),
        ("closing", "held"),
        ("held", "closing"),
        ("closing", "draft"),
    ]
    audited = AuditEvent.objects.filter(subject_id=held.id).order_by("id")
    assert [event.action for event in audited] == [
        "invoice.closing",
        "invoice.held",
        "invoice.closing",
        "invoice.draft",
    ]


def test_hold_keeps_a_reason_from_outside_the_validation() -> None:
    invoice = rows.asked(rows.tenant())

    invoice_closing.hold(invoice=invoice, code="lakehouse.away", message="Start it.", by=STAFF)
    invoice_closing.hold(invoice=invoice, code="other", message="Ignored.", by=STAFF)

    invoice.refresh_from_db()
    assert invoice.held_reasons == [{"code": "lakehouse.away", "message": "Start it."}]


def test_a_crash_gap_and_a_covered_gap_are_flagged_in_words_and_do_not_hold() -> None:
    owner = rows.tenant()
    space = rows.space(owner, name="shop")
    seen = datetime(2026, 4, 3, 10, 2, 10, tzinfo=STARTS_AT.tzinfo)

    invoice = rows.drafted(
        owner,
        sampled_spaces=frozenset({space.id}),
        crash_gaps=(CrashGap(f"{space.id}/broker-0", "b1", seen, seen + timedelta(seconds=47.2)),),
        gaps=(Gap(f"{space.id}/broker-0", "b2", 4, 4, at_end=False),),
    )

    assert invoice.state == Invoice.State.DRAFT
    assert invoice.quality["flagged"] is True
    text = invoice.quality["text"]
    assert (
        "broker-0 of shop stopped without warning after its sample of 2026-04-03 10:02:10" in text
    )
    assert "until its next sample, 48 seconds later, was not seen and is not billed" in text
    assert "longest" not in text
    assert "1 sample was lost on the way" in text


def test_of_several_crash_gaps_the_longest_is_named() -> None:
    owner = rows.tenant()
    space = rows.space(owner, name="shop")
    spans = ((1, 12), (2, 3_725), (3, 9))
    gaps = [
        CrashGap(f"{space.id}/broker-{n}", "b1", STARTS_AT, STARTS_AT + timedelta(seconds=seconds))
        for n, seconds in spans
    ]
    lost = CrashGap(f"{space.id}/router-0", "b1", STARTS_AT, None)

    text = rows.drafted(
        owner, sampled_spaces=frozenset({space.id}), crash_gaps=(*gaps, lost)
    ).quality["text"]

    assert "The longest of these gaps is 3,725 seconds." in text
    assert "router-0 of shop stopped without warning" in text
    assert "it was not seen again" in text


def test_a_complete_period_says_so() -> None:
    invoice = rows.drafted(rows.tenant())

    assert invoice.quality["text"].startswith("Complete")
    assert invoice.quality["flagged"] is False


def test_a_period_without_a_plan_is_held() -> None:
    owner = rows.tenant()
    PlanSubscription.objects.all().delete()

    invoice = rows.drafted(owner)

    (reason,) = invoice.held_reasons
    assert reason["code"] == "invoice.no_plan"
    assert "leave a held invoice as it is" in reason["message"]


def test_the_bucket_in_which_the_first_plan_began_is_billed() -> None:
    owner = rows.tenant(subscribed_at=STARTS_AT + timedelta(days=3, minutes=7))
    space = rows.space(owner, active_since=STARTS_AT + timedelta(days=3, minutes=8))
    cells = rows.used(rows.cell(space, "messages_in", 3_000_000, at=STARTS_AT + timedelta(days=3)))

    invoice = rows.drafted(owner, cells)

    assert invoice.lines.get(meter="messages").detail["used_base"] == 3_000_000


def test_a_plan_change_is_billed_by_span_and_bucket() -> None:
    owner = rows.tenant()
    middle = STARTS_AT + timedelta(days=15, minutes=7)
    PlanSubscription.objects.filter(tenant=owner).update(ends_at=middle)
    business = rows.plan("business")
    PlanSubscription.objects.create(tenant=owner, plan=business, starts_at=middle)
    space = rows.space(owner)
    bucket = middle - timedelta(minutes=7)  # the change is in it: still the first plan's
    cells = rows.used(
        rows.cell(space, "messages_in", 600_000, at=bucket),
        rows.cell(space, "messages_in", 2_000_000, at=bucket + timedelta(minutes=15)),
    )

    invoice = rows.drafted(owner, cells)

    billed = [
        (line.detail["plan"], line.detail["billed_base"], line.amount_minor)
        for line in invoice.lines.filter(meter="messages")
    ]
    assert billed == [("team", 99_837, 8), ("business", 2_000_000, 160)]


def test_close_now_cuts_the_month_and_the_next_period_begins_there() -> None:
    owner = rows.tenant()
    now = STARTS_AT + timedelta(days=10, microseconds=5)

    invoice, _ = invoice_closing.close_now(tenant=owner, by=STAFF, now=now)

    assert (invoice.starts_at, invoice.ends_at) == (STARTS_AT, STARTS_AT + timedelta(days=10))
    assert open_periods.running(owner, now).starts_at == invoice.ends_at
    assert open_periods.running(owner, ENDS_AT).starts_at == ENDS_AT


def test_a_due_run_asks_for_every_month_whose_grace_is_over_once() -> None:
    rows.tenant(subscribed_at=STARTS_AT - timedelta(days=3), billing_time_zone="Europe/Berlin")
    early = AFTER_GRACE - timedelta(hours=3)

    assert len(rows.requested(early)) == 1
    assert len(rows.requested(AFTER_GRACE)) == 1
    assert rows.requested(AFTER_GRACE) == []

    march, april = Invoice.objects.order_by("starts_at")
    assert march.ends_at == april.starts_at == STARTS_AT - timedelta(hours=2)
    assert {march.state, april.state} == {Invoice.State.CLOSING}
    assert invoice_closing.closing_invoices() == [], "runs close them"


def test_whole_seconds_keep_a_period_forward() -> None:
    with pytest.raises(WaypostError):
        open_periods.whole_seconds(Period(STARTS_AT, STARTS_AT + timedelta(microseconds=3)))


def _crash_after(monkeypatch: pytest.MonkeyPatch, target: Any, name: str) -> None:
    real = getattr(target, name)

    def crash(*args: Any, **kwargs: Any) -> None:
        real(*args, **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(target, name, crash)
