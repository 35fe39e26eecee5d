"""Close runs: what they close, in how many queries, and that one tenant's doubt is its own."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from controlplane.core.audit import SYSTEM
from controlplane.core.models import AuditEvent, Operation
from plans.invoicing import close_runs, draft_batch, invoice_closing, issuing, open_periods
from plans.invoicing.evidence import Evidence, Gap
from plans.invoicing.invoice_closing import PeriodOverlaps
from plans.models import CloseRun, CloseRunAction, Invoice, InvoiceEvent, InvoiceLine
from plans.usage import reading
from plans.usage.reading import UsageCell
from tenants.models import Tenant
from tests.support.plans import billing_rows as rows
from tests.support.plans.billing_rows import AFTER_GRACE, ENDS_AT, STAFF, STARTS_AT

pytestmark = pytest.mark.django_db


def requested_run(**asked: Any) -> CloseRun:
    run = close_runs.start(by=STAFF, now=AFTER_GRACE, **asked)
    close_runs.request_invoices(run, now=AFTER_GRACE)
    return run


def close(invoices: Sequence[Invoice]) -> None:
    """Close the invoices with flawless evidence of the usage that was copied."""
    evidence = {}
    for row in invoices:
        cells = list(reading.cells(row.tenant_id, row.starts_at, row.ends_at))
        evidence[row.id] = rows.evidence(cells)
    close_with(evidence)


def close_with(evidence: dict[str, Evidence]) -> None:
    assert invoice_closing.close_each(evidence=evidence, by=SYSTEM) == {}


def of(run: CloseRun) -> list[Invoice]:
    rows = Invoice.objects.filter(close_runs__run=run).select_related("tenant")
    return list(rows.order_by("tenant__slug", "starts_at"))


def test_a_run_closes_every_due_period_once() -> None:
    owner, late = rows.tenant(), rows.tenant(ENDS_AT)
    run = requested_run()

    (invoice,) = of(run)
    assert (invoice.tenant, invoice.state) == (owner, Invoice.State.CLOSING)
    assert (invoice.starts_at, invoice.ends_at) == (STARTS_AT, ENDS_AT)
    assert [event.to_state for event in invoice.events.all()] == ["closing"]
    assert Operation.objects.get().subject_id == invoice.id
    assert not Invoice.objects.filter(tenant=late).exists()
    with pytest.raises(close_runs.NothingToClose):
        close_runs.start(by=STAFF, now=AFTER_GRACE)
    assert close_runs.start_due(by=SYSTEM, now=AFTER_GRACE) is None


def test_a_run_for_some_tenants_and_without_grace_closes_those_alone() -> None:
    one, _ = rows.tenant(), rows.tenant()
    with pytest.raises(close_runs.NothingToClose):
        close_runs.start(by=STAFF, now=ENDS_AT)

    run = close_runs.start(by=STAFF, now=ENDS_AT, skip_grace=True, tenants=[one])
    close_runs.request_invoices(run, now=ENDS_AT)

    assert [row.tenant for row in of(run)] == [one]
    started = AuditEvent.objects.get(action="close_run.start")
    assert started.after == {"skip_grace": True, "again": False, "tenants": 1}


def test_held_invoices_are_closed_again_by_a_run_that_asks_for_it() -> None:
    owner = rows.tenant(billing_name="")
    assert rows.drafted(owner).state == Invoice.State.HELD
    with pytest.raises(close_runs.NothingToClose):
        close_runs.start(by=STAFF, now=AFTER_GRACE)

    Tenant.objects.update(billing_name="Example Ltd")
    run = requested_run(again=True)
    close(of(run))

    assert [row.state for row in of(run)] == [Invoice.State.DRAFT]


def test_the_periodic_task_waits_for_a_run_that_has_not_requested_yet() -> None:
    rows.tenant()
    assert close_runs.start_due(by=SYSTEM, now=AFTER_GRACE) is not None
    assert close_runs.start_due(by=SYSTEM, now=AFTER_GRACE) is None
    assert len(close_runs.unfinished()) == 1


def test_a_tenant_that_refuses_costs_no_other_and_none_of_its_later_periods(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two_months_ago = STARTS_AT - timedelta(days=31)
    stuck, fine = rows.tenant(two_months_ago), rows.tenant(two_months_ago)
    really = close_runs._existing

    def refuse_march_of_one(wanted: Sequence[Any]) -> Any:
        if any(w.tenant_id == stuck.id and w.period.starts_at < STARTS_AT for w in wanted):
            raise PeriodOverlaps("no")
        return really(wanted)

    monkeypatch.setattr(close_runs, "_existing", refuse_march_of_one)
    run = requested_run()
    monkeypatch.undo()

    assert len(of(run)) == 2
    assert not Invoice.objects.filter(tenant=stuck).exists()  # April would hide March
    assert [row["tenant"] for row in run.skipped] == [stuck.id]
    assert Invoice.objects.filter(tenant=fine).count() == 2
    assert close_runs.start_due(by=SYSTEM, now=AFTER_GRACE) is None, "tried again in an hour"
    again = close_runs.start_due(by=SYSTEM, now=AFTER_GRACE + timedelta(hours=2))
    assert again is not None
    close_runs.request_invoices(again, now=AFTER_GRACE + timedelta(hours=2))
    assert len(of(again)) == 2


def queries(work: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as captured:
        work()
    return len(captured)


def test_the_number_of_queries_does_not_depend_on_the_number_of_tenants() -> None:
    assert counted(2) == counted(9)


def counted(n_tenants: int) -> tuple[int, int, int]:
    """Return the queries of the steps of a run of ``n_tenants``, in months of their own."""
    cells, evidence = list[UsageCell](), dict[str, Evidence]()
    for _ in range(n_tenants):
        space = rows.space(rows.tenant())
        rows.address(space)
        cells.append(rows.cell(space, "messages_in", 5_000_000, address="orders"))
    rows.used(*cells)
    run = close_runs.start(by=STAFF, now=AFTER_GRACE)
    requesting = queries(lambda: close_runs.request_invoices(run, now=AFTER_GRACE))
    mine = {cell.tenant_id: cell for cell in cells}
    for row in of(run):
        evidence[row.id] = rows.evidence([mine[row.tenant_id]])
    spans = queries(lambda: draft_batch.corrected_spans(of(run)))
    drafting = queries(lambda: close_with(evidence))
    assert [row.state for row in of(run)] == [Invoice.State.DRAFT] * n_tenants
    return requesting, spans, drafting


def test_a_batch_makes_the_documents_that_single_closes_make() -> None:
    owners = [rows.tenant() for _ in range(3)]
    cells = []
    for n, owner in enumerate(owners):
        space = rows.space(owner)
        rows.address(space)
        cells.append(rows.cell(space, "messages_in", 3_000_000 * (n + 1), address="orders"))
    rows.used(*cells)
    run = requested_run()
    mine = {cell.tenant_id: cell for cell in cells}
    evidence = {row.id: rows.evidence([mine[row.tenant_id]]) for row in of(run)}

    close_with(evidence)

    batch = {row.id: (row.document, row.total_minor, row.lines.count()) for row in of(run)}
    assert {row.state for row in of(run)} == {Invoice.State.DRAFT}
    for row in of(run):
        invoice_closing.request_close(
            tenant=row.tenant, starts_at=STARTS_AT, ends_at=ENDS_AT, by=STAFF, now=AFTER_GRACE
        )
        again = invoice_closing.close(invoice=row, evidence=evidence[row.id], by=STAFF)
        assert (again.document, again.total_minor, again.lines.count()) == batch[row.id]


def test_what_is_in_doubt_about_one_tenant_holds_its_invoice_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for _ in range(4):
        rows.tenant()
    run = requested_run()
    fine, gap, nameless, broken = of(run)
    Tenant.objects.filter(pk=nameless.tenant_id).update(billing_name="")
    really = draft_batch.Batch._draft

    def fail_for_one(self: Any, known: Any, *rest: Any) -> Any:
        if known.invoice.id == broken.id:
            raise ZeroDivisionError("a fault of the kernel")
        return really(self, known, *rest)

    monkeypatch.setattr(draft_batch.Batch, "_draft", fail_for_one)
    lost = (Gap("spc/broker-0", "b1", 5, 9, at_end=True),)
    evidence = {row.id: rows.evidence() for row in of(run)}
    evidence[gap.id] = rows.evidence(gaps=lost)

    invoice_closing.close_each(evidence=evidence, by=SYSTEM)

    codes = {row.id: [reason["code"] for reason in row.held_reasons] for row in of(run)}
    assert codes == {
        fine.id: [],
        gap.id: ["samples.hole_at_end"],
        nameless.id: ["billing_details.missing"],
        broken.id: ["invoice.close_failed"],
    }
    failed = Operation.objects.filter(state=Operation.State.FAILED)
    assert {row.subject_id for row in failed} == {gap.id, nameless.id, broken.id}
    assert InvoiceEvent.objects.filter(to_state="held").count() == 3
    assert {row.invoice_id for row in InvoiceLine.objects.all()} == {fine.id}


def test_settling_ends_a_run_whose_invoices_are_closed() -> None:
    for _ in range(2):
        rows.tenant()
    run = requested_run()
    first, second = of(run)
    close([first])

    assert not close_runs.settle(run, now=AFTER_GRACE)
    assert [row.invoice_id for row in close_runs.left(run)] == [second.id]
    close([second])
    assert close_runs.settle(run, now=AFTER_GRACE)
    run.refresh_from_db()
    assert run.finished_at == AFTER_GRACE
    assert close_runs.unfinished() == []


def drafted_run(n_tenants: int) -> CloseRun:
    for _ in range(n_tenants):
        rows.tenant()
    run = requested_run()
    close(of(run))
    close_runs.settle(run, now=AFTER_GRACE)
    return run


def test_all_drafts_are_approved_and_then_issued_with_numbers_without_gaps() -> None:
    run = drafted_run(3)
    with pytest.raises(close_runs.NothingToDo):
        close_runs.act(run=run, kind=CloseRunAction.Kind.ISSUE, by=STAFF)
    approval = close_runs.act(run=run, kind=CloseRunAction.Kind.APPROVE, by=STAFF, reason="read")
    with pytest.raises(close_runs.ActionRunning):
        close_runs.act(run=run, kind=CloseRunAction.Kind.APPROVE, by=STAFF)

    assert close_runs.running_actions() == [approval.id]
    assert close_runs.carry_out(approval.id)
    issue = close_runs.act(run=run, kind=CloseRunAction.Kind.ISSUE, by=STAFF)
    assert close_runs.carry_out(issue.id)
    assert close_runs.carry_out(issue.id), "again changes nothing"

    issue.refresh_from_db()
    assert (issue.n_invoices, issue.n_done, issue.failures) == (3, 3, [])
    numbers = sorted(row.number or "" for row in of(run))
    assert numbers == ["WP-000001", "WP-000002", "WP-000003"]
    approved = InvoiceEvent.objects.filter(to_state="approved")
    assert {(event.actor, event.reason) for event in approved} == {(STAFF.name, "read")}


@pytest.mark.parametrize("n_before", [0, 1, 2])
def test_an_action_that_is_killed_goes_on_and_counts_each_invoice_once(
    n_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = drafted_run(3)
    action = close_runs.act(run=run, kind=CloseRunAction.Kind.APPROVE, by=STAFF)
    really, n_calls = issuing.approve, 0

    def die(**asked: Any) -> Invoice:
        nonlocal n_calls
        approved = really(**asked)
        n_calls += 1
        if n_calls > n_before:
            raise KeyboardInterrupt
        return approved

    monkeypatch.setattr(issuing, "approve", die)
    with pytest.raises(KeyboardInterrupt):
        close_runs.carry_out(action.id)
    monkeypatch.undo()
    action.refresh_from_db()
    assert action.n_done == n_before

    assert close_runs.carry_out(action.id)
    action.refresh_from_db()
    assert (action.n_done, action.failures) == (3, [])
    assert {row.state for row in of(run)} == {Invoice.State.APPROVED}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (close_runs.NothingToDo("Not this one."), "close_run.nothing_to_do"),
        (IntegrityError("a guard"), "internal"),
        (KeyError("lines"), "internal"),
    ],
)
def test_an_invoice_that_cannot_be_issued_is_named_and_the_others_go_on(
    error: Exception, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = drafted_run(3)
    approval = close_runs.act(run=run, kind=CloseRunAction.Kind.APPROVE, by=STAFF)
    refused = sorted(row.id for row in of(run))[1]
    really = issuing.approve

    def refuse_one(*, invoice: Invoice, **rest: Any) -> Invoice:
        if invoice.id == refused:
            raise error
        return really(invoice=invoice, **rest)

    monkeypatch.setattr(issuing, "approve", refuse_one)
    assert close_runs.carry_out(approval.id)

    approval.refresh_from_db()
    failures = [(row["invoice"], row["code"]) for row in approval.failures]
    assert (approval.n_done, failures) == (2, [(refused, code)])


def test_an_action_stops_when_its_slice_is_over() -> None:
    run = drafted_run(2)
    action = close_runs.act(run=run, kind=CloseRunAction.Kind.APPROVE, by=STAFF)

    assert not close_runs.carry_out(action.id, until=lambda: True)
    action.refresh_from_db()
    assert (action.n_done, action.finished_at) == (0, None)


def test_due_periods_take_one_query(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for _ in range(4):
        rows.tenant()
    with django_assert_num_queries(1):
        found = list(open_periods.due(AFTER_GRACE, invoice_closing.grace()))
    assert len(found) == 4
