"""A close run with nothing stood in for: last samples, bronze, the Spark process, copy, drafts.

It is killed between any two steps. Its drafts bill what single closes would bill.
"""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from plans.invoicing import close_runs, invoice_closing, receiving
from plans.models import CloseRun, CloseRunAction, CloseRunInvoice, Invoice
from plans.usage import reading
from tenants.models import AddressSpace, Tenant
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import closing, ingest, pipeline, run_closing, sampling, verifying
from workers.metering.pipeline import Report
from workers.metering.roots import Root
from workers.metering.run_closing import Gathering, RunAttempt

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db]
STEPS: list[tuple[Any, str]] = [
    (close_runs, "request_invoices"),
    (RunAttempt, "cut"),
    (ingest, "ingest"),
    (pipeline, "run"),
    (closing, "compute_usage"),
    (Gathering, "evidence"),
    (RunAttempt, "_store"),
    (invoice_closing, "close_each"),
    (RunAttempt, "_rate"),
    (close_runs, "settle"),
]


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    settings.LAKEHOUSE_ROOT = str(tmp_path / "lakehouse")
    clock.start()
    return tmp_path / "lakehouse"


def metered(n_tenants: int, readers: FakeReaders) -> list[AddressSpace]:
    """Return the spaces of new tenants, each sampled twice."""
    spaces = []
    for _ in range(n_tenants):
        owner = billing_rows.tenant(subscribed_at=clock() - timedelta(days=40))
        spaces.append(billing_rows.space(owner, active_since=clock()))
    for times in (1, 2):
        for n, space in enumerate(spaces, start=1):
            shown = snapshot(orders=(5 * n * times, 2 * times, 1000), opened=3, open_now=2)
            readers.answers[space.id] = {"broker-0": shown}
        sampling.sample_all(readers)
    return spaces


def run_of(spaces: list[AddressSpace]) -> CloseRun:
    """Return a run that closes the tenants' periods up to now, as if they were due."""
    now = clock()
    run = CloseRun.objects.create(requested_by="system")
    for space in spaces:
        invoice, _ = invoice_closing.close_now(tenant=space.tenant, by=billing_rows.STAFF, now=now)
        CloseRunInvoice.objects.create(run=run, invoice=invoice)
    return run


def dying(really: Callable[..., Any]) -> Callable[..., Any]:
    def finish_and_die(*arguments: Any, **named: Any) -> None:
        really(*arguments, **named)
        raise KeyboardInterrupt

    return finish_and_die


def test_a_run_killed_between_any_two_steps_bills_what_happened(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = FakeReaders()
    spaces = metered(3, readers)
    Tenant.objects.filter(pk=spaces[1].tenant_id).update(billing_name="")
    run, examined = run_of(spaces), list[str]()
    really = closing.examined

    def examine(*given: Any) -> Any:
        examined.append(given[2].id)
        return really(*given)

    monkeypatch.setattr(closing, "examined", examine)

    for of, step in STEPS:
        with monkeypatch.context() as killed:
            killed.setattr(of, step, dying(getattr(of, step)))
            with pytest.raises(KeyboardInterrupt):
                run_closing.advance(run.id, readers)
        if step == "request_invoices":
            continue  # the last samples are still to come
        for space in spaces:  # traffic goes on meanwhile, and belongs to the next period
            readers.answers[space.id] = {"broker-0": snapshot(orders=(999, 999, 1000), opened=9)}
    run_closing.advance(run.id, readers)

    run.refresh_from_db()
    invoices = {row.tenant_id: row for row in Invoice.objects.filter(close_runs__run=run)}
    states = [invoices[space.tenant_id].state for space in spaces]
    assert run.finished_at is not None
    assert states == [Invoice.State.DRAFT, Invoice.State.HELD, Invoice.State.DRAFT]
    assert examined == [], "all at once, since nothing is in doubt"
    for n, space in enumerate(spaces, start=1):
        invoice = invoices[space.tenant_id]
        found = reading.totals(space.tenant_id, invoice.starts_at, invoice.ends_at)
        assert (found["messages_in"], found["messages_out"]) == (10 * n, 4)
        if invoice.state == Invoice.State.DRAFT:
            assert invoice.events.filter(to_state="draft").count() == 1
            assert verifying.recomputed(invoice, root).differences == ()
    assert_single_closes_agree(invoices, readers)
    assert_issued(run)


def assert_single_closes_agree(invoices: dict[str, Invoice], readers: FakeReaders) -> None:
    """Close a draft again by itself: it has the same document but for the time of the evidence."""
    before = next(row for row in invoices.values() if row.state == Invoice.State.DRAFT)
    invoice_closing.request_close(
        tenant=before.tenant,
        starts_at=before.starts_at,
        ends_at=before.ends_at,
        by=billing_rows.STAFF,
        now_forced=True,
        now=clock(),
    )
    closing.close(before.id, readers)
    after = Invoice.objects.get(pk=before.id)
    ignored = {"tables"}
    manifests = [
        {k: v for k, v in row.manifest.items() if k not in ignored} for row in (before, after)
    ]
    assert manifests[0] == manifests[1]
    assert (after.state, after.total_minor) == (before.state, before.total_minor)
    assert list(after.lines.values_list("meter", "quantity", "amount_minor")) == list(
        before.lines.values_list("meter", "quantity", "amount_minor")
    )


def assert_issued(run: CloseRun) -> None:
    for kind in CloseRunAction.Kind:
        action = close_runs.act(run=run, kind=kind, by=billing_rows.STAFF)
        assert close_runs.carry_out(action.id)
    issued = Invoice.objects.filter(close_runs__run=run, number__isnull=False)
    assert sorted(row.number or "" for row in issued) == ["WP-000001", "WP-000002"]
    assert {receiving.outstanding_minor(row) > 0 for row in issued} == {True}


def test_a_run_starts_spark_once(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    readers, ran = FakeReaders(), list[Root]()
    really: Callable[..., Report] = pipeline.run

    def run(where: Root) -> Report:
        ran.append(where)
        return really(where)

    monkeypatch.setattr(pipeline, "run", run)
    spaces = metered(2, readers)

    run_closing.advance(run_of(spaces).id, readers)

    assert {row.state for row in Invoice.objects.all()} == {Invoice.State.DRAFT}
    assert ran == [root]
