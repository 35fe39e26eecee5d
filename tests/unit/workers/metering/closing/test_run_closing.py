"""A close run from last samples to drafts: once for all, killed anywhere, one tenant's doubt."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from plans.invoicing import close_runs, invoice_closing, stored_evidence
from plans.invoicing.evidence import Evidence
from plans.models import CloseRun, CloseRunInvoice, Invoice, UsageCopy
from plans.usage import reading, recording
from tenants.models import AddressSpace, Tenant
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows
from tests.unit.workers.metering.closing.conftest import billed, close_now, reasons
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, delta, ingest, pipeline, run_closing, sampling
from workers.metering.pipeline import PipelineBusy, PipelineFailed, Report
from workers.metering.roots import Root, StoreAway
from workers.metering.run_closing import Gathering, RunAttempt

pytestmark = pytest.mark.django_db
State = Invoice.State


@pytest.fixture
def spaces(readers: FakeReaders) -> list[AddressSpace]:
    """Three tenants with a space each, whose brokers have answered once."""
    found = []
    for n in range(3):
        owner = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
        space = billing_rows.space(owner, active_since=clock())
        readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(5 + n, 0))}
        found.append(space)
    sampling.sample_all(readers)
    return found


@pytest.fixture
def pipeline_runs(monkeypatch: pytest.MonkeyPatch) -> list[Root]:
    """The runs of the pipeline that follow."""
    found, really = list[Root](), pipeline.run

    def run(root: Root) -> Report:
        found.append(root)
        return really(root)

    monkeypatch.setattr(pipeline, "run", run)
    return found


def run_of(spaces: list[AddressSpace]) -> CloseRun:
    """Return a run that closes the tenants' periods up to now, as if they were due."""
    now = clock()
    invoices = [close_now(space.tenant, now) for space in spaces]
    run = CloseRun.objects.create(requested_by="system", requested_at=now)
    CloseRunInvoice.objects.bulk_create(CloseRunInvoice(run=run, invoice=row) for row in invoices)
    return run


def invoices_of(run: CloseRun) -> list[Invoice]:
    rows = Invoice.objects.filter(close_runs__run=run).select_related("tenant")
    return list(rows.order_by("tenant__created_at"))


def is_finished(run: CloseRun) -> bool:
    run.refresh_from_db()
    return run.finished_at is not None


def test_one_run_of_the_pipeline_makes_the_drafts_of_all(
    spaces: list[AddressSpace], readers: FakeReaders, pipeline_runs: list[Root]
) -> None:
    run = run_of(spaces)

    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert [row.state for row in invoices_of(run)] == [State.DRAFT] * 3
    assert [billed(row)["messages_in"] for row in invoices_of(run)] == [5, 6, 7]
    assert len(pipeline_runs) == 1
    assert not run.invoices.filter(evidence__isnull=False).exists(), "the evidence is not kept"


def test_a_run_requests_what_is_due_and_makes_the_drafts(readers: FakeReaders) -> None:
    owner = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
    run = close_runs.start(by=billing_rows.STAFF, now=clock(), skip_grace=True)

    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert {row.tenant for row in invoices_of(run)} == {owner}
    assert {row.state for row in invoices_of(run)} == {State.DRAFT}


@pytest.mark.parametrize(
    ("of", "step"),
    [
        (close_runs, "request_invoices"),
        (RunAttempt, "cut"),
        (ingest, "ingest"),
        (closing, "compute_usage"),
        (Gathering, "evidence"),
        (RunAttempt, "_store"),
        (invoice_closing, "close_each"),
        (RunAttempt, "_rate"),
        (close_runs, "settle"),
    ],
)
def test_a_run_killed_after_any_step_ends_the_same(
    spaces: list[AddressSpace],
    readers: FakeReaders,
    monkeypatch: pytest.MonkeyPatch,
    of: Any,
    step: str,
) -> None:
    run = run_of(spaces)
    CloseRun.objects.update(requested_at=None)  # nothing else is due
    really, n_calls = getattr(of, step), 0

    def finish_and_die(*arguments: Any, **named: Any) -> None:
        nonlocal n_calls
        really(*arguments, **named)
        n_calls += 1
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(of, step, finish_and_die)
        with pytest.raises(KeyboardInterrupt):
            run_closing.advance(run.id, readers)
    assert n_calls == 1
    for space in spaces:  # traffic goes on meanwhile
        readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(99, 0))}

    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert [row.state for row in invoices_of(run)] == [State.DRAFT] * 3
    assert sum(row.events.filter(to_state="draft").count() for row in invoices_of(run)) == 3
    if of is not close_runs:  # then the last samples are still to come
        assert [billed(row)["messages_in"] for row in invoices_of(run)] == [5, 6, 7]


def test_a_silent_instance_delays_and_then_holds_its_tenant_alone(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    silent = spaces[1]
    readers.answers[silent.id] = {"broker-0": None}
    run = run_of(spaces)
    of_silent = Invoice.objects.get(tenant=silent.tenant)

    run_closing.advance(run.id, readers)
    states = [row.state for row in invoices_of(run)]
    assert not is_finished(run)
    assert silent.id in run.message
    Invoice.objects.filter(pk=of_silent.pk).update(updated_at=clock() - 2 * closing.PATIENCE)
    run_closing.advance(run.id, readers)

    assert states == [State.DRAFT, State.CLOSING, State.DRAFT]
    assert is_finished(run)
    assert reasons(of_silent) == {"samples.silent"}


def test_a_held_invoice_is_closed_by_the_next_run_that_asks_for_it(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    Tenant.objects.filter(pk=spaces[0].tenant_id).update(billing_name="")
    first = run_of(spaces)
    run_closing.advance(first.id, readers)
    assert [row.state for row in invoices_of(first)] == [State.HELD, State.DRAFT, State.DRAFT]

    Tenant.objects.update(billing_name="Example Ltd")
    second = close_runs.start(by=billing_rows.STAFF, again=True, now=clock())
    run_closing.advance(second.id, readers)

    assert is_finished(second)
    assert [row.tenant for row in invoices_of(second)] == [spaces[0].tenant]
    assert [row.state for row in invoices_of(first)] == [State.DRAFT] * 3


def test_a_failed_pipeline_holds_nothing_and_is_tried_again_after_a_minute(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, at = run_of(spaces), clock()
    readers.now = lambda: at
    tries = []

    def fail(_: Path) -> None:
        tries.append(1)
        raise PipelineFailed("no room")

    with monkeypatch.context() as failing:
        failing.setattr(pipeline, "run", fail)
        run_closing.advance(run.id, readers)
        run_closing.advance(run.id, readers)
    run.refresh_from_db()
    assert (run.message, run.retry_at, len(tries)) == ("no room", at + timedelta(minutes=1), 1)
    assert {row.state for row in invoices_of(run)} == {State.CLOSING}

    readers.now = lambda: at + timedelta(minutes=1)
    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert {row.state for row in invoices_of(run)} == {State.DRAFT}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (delta.TableReplaced("Files are missing."), "metering.table_replaced"),
        (OSError("a damaged file"), "invoice.close_failed"),
    ],
)
def test_history_that_cannot_be_read_holds_its_tenant_alone(
    spaces: list[AddressSpace],
    readers: FakeReaders,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: str,
) -> None:
    run, broken = run_of(spaces), spaces[1].tenant
    fail_for(broken, error, monkeypatch)

    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert [row.state for row in invoices_of(run)] == [State.DRAFT, State.HELD, State.DRAFT]
    assert reasons(Invoice.objects.get(tenant=broken)) == {code}


def fail_for(owner: Tenant, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make all tenants doubtful, and let the history of ``owner`` raise ``error``."""
    really = closing.examined

    def examined(root: Root, report: Report, invoice: Invoice, *rest: Any) -> Evidence:
        if invoice.tenant == owner:
            raise error
        return really(root, report, invoice, *rest)

    monkeypatch.setattr(closing, "examined", examined)
    monkeypatch.setattr(Gathering, "_is_doubtful", lambda *_: True)


def test_an_object_store_that_is_away_holds_nobody(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(spaces)
    fail_for(spaces[1].tenant, StoreAway("no answer"), monkeypatch)

    run_closing.advance(run.id, readers)

    assert not is_finished(run)
    assert run.message == "no answer"
    assert {row.state for row in invoices_of(run)} == {State.CLOSING}


@pytest.mark.parametrize("error", [PipelineFailed("no room"), OSError("a damaged file")])
def test_who_has_evidence_is_rated_if_that_of_others_fails(
    spaces: list[AddressSpace],
    readers: FakeReaders,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    run, at = run_of(spaces), clock()
    readers.now = lambda: at
    really: Callable[..., Mapping[str, Any]] = Gathering.evidence
    monkeypatch.setattr(run_closing, "_EVIDENCE_AT_ONCE", 2)

    def fail_for_one(self: Gathering, invoices: Any) -> Mapping[str, Any]:
        if len(invoices) == 1:
            raise error
        return really(self, invoices)

    monkeypatch.setattr(Gathering, "evidence", fail_for_one)
    run_closing.advance(run.id, readers)

    assert sorted(row.state for row in invoices_of(run)) == ["closing", "draft", "draft"]
    run.refresh_from_db()
    assert run.retry_at == at + timedelta(minutes=1)
    assert run.message


def test_a_run_waits_for_a_busy_pipeline_and_reserves_its_turn(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(spaces)

    def be_busy(_: Path) -> None:
        raise PipelineBusy("at it")

    with monkeypatch.context() as busy:
        busy.setattr(pipeline, "run", be_busy)
        run_closing.advance(run.id, readers)
    # Leases have the time of the database, which no test shifts.
    assert pipeline.is_awaited(timezone.now())
    assert not is_finished(run)

    run_closing.advance(run.id, readers)

    assert is_finished(run)
    assert not pipeline.is_awaited(timezone.now())


def test_usage_that_was_copied_after_the_evidence_is_gathered_again(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(spaces)
    late, really = spaces[0], RunAttempt._store

    def store_and_copy(self: Any, *arguments: Any) -> None:
        really(self, *arguments)
        copied = reading.cells(late.tenant_id, clock() - timedelta(days=1), clock())
        cells = [cell._replace(quantity=42) for cell in copied]
        days = {cell.bucket_at.date() for cell in cells}
        everyone = [
            cell
            for space in spaces[1:]
            for cell in reading.cells(space.tenant_id, clock() - timedelta(days=1), clock())
        ]
        newest = UsageCopy.objects.latest("id")
        recording.copy_in(
            table_id=newest.table_id,
            table_version=newest.table_version + 1,
            as_of=clock(),
            days=days,
            cells=[*cells, *everyone],
        )

    with monkeypatch.context() as copying:
        copying.setattr(RunAttempt, "_store", store_and_copy)
        run_closing.advance(run.id, readers)

    states = {row.tenant_id: row.state for row in invoices_of(run)}
    assert states[late.tenant_id] == State.CLOSING
    assert [states[space.tenant_id] for space in spaces[1:]] == [State.DRAFT] * 2
    assert [row.evidence for row in close_runs.left(run)] == [None]


def test_only_one_worker_carries_a_run_out(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, really = run_of(spaces), RunAttempt.gather
    inner: list[str] = []

    def gather(self: RunAttempt) -> str:
        run_closing.advance(run.id, readers)  # another worker
        inner.extend(row.state for row in invoices_of(run))
        return really(self)

    monkeypatch.setattr(RunAttempt, "gather", gather)
    run_closing.advance(run.id, readers)

    assert inner == [State.CLOSING] * 3
    assert is_finished(run)


def test_stored_evidence_is_what_was_gathered(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, found = run_of(spaces), dict[str, Any]()
    really: Callable[..., Mapping[str, Any]] = Gathering.evidence

    def keep(self: Gathering, *arguments: Any) -> Mapping[str, Any]:
        gathered = really(self, *arguments)
        found.update(gathered)
        return gathered

    monkeypatch.setattr(Gathering, "evidence", keep)
    run_closing.advance(run.id, readers)

    assert len(found) == 3
    for evidence in found.values():
        assert stored_evidence.loaded(stored_evidence.plain(evidence)) == evidence
