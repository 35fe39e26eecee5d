"""The close from last samples to draft or held."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import DataError
from django.utils import timezone

from controlplane.core import leases
from controlplane.core.models import Lease, Operation
from controlplane.core.reasons import Reason
from plans.models import Invoice
from plans.rating.periods import month_of
from plans.usage import reading
from tenants.models import AddressSpace, Tenant
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows
from tests.support.waiting import eventually
from tests.unit.workers.metering.closing.conftest import billed, close_now, reasons
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.infra.base import InfraError
from workers.messaging.management import Refused
from workers.metering import closing, committer, gold, ingest, landing, periodic, pipeline, sampling
from workers.metering.last_samples import LastSampler
from workers.metering.pipeline import PipelineBusy, PipelineFailed
from workers.metering.source_states import BUCKET, floor_bucket
from workers.models import LandingBatch, MeteredSource
from workers.reconcile import loop

pytestmark = pytest.mark.django_db
State = Invoice.State


def test_close_takes_the_last_samples_and_drafts(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 2), opened=1, open_now=1)
    sampling.sample_all(readers)
    shows(orders=(9, 4), opened=2, open_now=2)
    invoice = close_now(owner)

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert (invoice.state, invoice.held_reasons) == (State.DRAFT, [])
    found = billed(invoice)
    assert (found["messages_in"], found["messages_out"]) == (9, 4)
    assert (found["connections_opened"], found["peak_connections"]) == (2, 2)


def test_batch_of_an_address_that_is_idle_since_may_be_lost(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 2), opened=1, open_now=1)
    sampling.sample_all(readers)
    landing.reserve_moved()
    LandingBatch.objects.all().delete()
    sampling.sample_all(readers)
    ingest.ingest()
    invoice = close_now(owner)

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    found = billed(invoice)
    assert (found["messages_in"], found["messages_out"]) == (5, 2)
    assert (found["connections_opened"], found["peak_connections"]) == (1, 1)
    assert "2 samples were lost on the way" in invoice.quality["text"]


def test_usage_after_the_close_belongs_to_the_next_period(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], root: Path
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    shows(orders=(8, 0))
    sampling.sample_all(readers)

    ingest.ingest()
    periodic.run_pipeline(clock())

    assert billed(invoice)["messages_in"] == 5
    later = reading.totals(owner.id, invoice.ends_at, clock() + timedelta(days=1))
    assert later["messages_in"] == 3


def test_a_close_in_the_second_in_which_a_bucket_begins_leaves_it_to_the_next_period(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
) -> None:
    begun, boundary = clock(), floor_bucket(clock()) + BUCKET
    # No close ends where a month begins, so the tenant's month begins at another time.
    if month_of(boundary, "UTC").starts_at == boundary:
        Tenant.objects.filter(pk=owner.pk).update(billing_time_zone="Asia/Kathmandu")
        owner.refresh_from_db()

    def just_after() -> datetime:
        return boundary + timedelta(seconds=0.2) + (clock() - begun) / 1000

    readers.now = just_after
    AddressSpace.objects.filter(tenant=owner).update(active_since=just_after())
    shows(orders=(5, 2))
    sampling.sample_all(readers)
    shows(orders=(9, 4))
    invoice = close_now(owner, just_after())

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert (invoice.state, invoice.ends_at) == (State.DRAFT, boundary)
    sampling.sample_all(readers)
    ingest.ingest()
    periodic.run_pipeline(just_after())
    assert billed(invoice)["messages_in"] == 0
    later = reading.totals(owner.id, invoice.ends_at, boundary + timedelta(days=1))
    assert (later["messages_in"], later["messages_out"]) == (9, 4)


def test_space_that_is_new_after_the_close_is_billed_in_the_next_period(
    owner: Tenant, readers: FakeReaders
) -> None:
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    later = billing_rows.space(owner, "later", active_since=clock())
    readers.answers[later.id] = {"broker-0": snapshot(orders=(5, 0))}

    sampling.sample_all(readers)
    ingest.ingest()
    periodic.run_pipeline(clock())

    assert billed(invoice)["messages_in"] == 0
    after = reading.totals(owner.id, invoice.ends_at, clock() + timedelta(days=1))
    assert after["messages_in"] == 5


def test_close_cuts_a_space_whose_last_sample_is_still_to_come(
    owner: Tenant, space: AddressSpace, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    AddressSpace.objects.filter(id=space.id).update(deletion_requested_at=clock())
    shows(orders=(9, 0))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    shows(orders=(12, 0))

    LastSampler(readers).last_sample(space.id, None)
    ingest.ingest()
    periodic.run_pipeline(clock())

    assert Invoice.objects.get(pk=invoice.pk).state == State.DRAFT
    assert billed(invoice)["messages_in"] == 9
    later = reading.totals(owner.id, invoice.ends_at, clock() + timedelta(days=1))
    assert later["messages_in"] == 3


def test_close_waits_for_a_space_that_ends_and_asks_it_nothing_afterwards(
    owner: Tenant, space: AddressSpace, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    AddressSpace.objects.filter(id=space.id).update(deletion_requested_at=clock())
    readers.answers[space.id] = {"broker-0": None}
    invoice = close_now(owner)

    closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    shows(orders=(9, 0))
    LastSampler(readers).last_sample(space.id, None)
    readers.answers[space.id] = {"broker-0": None}
    closing.close(invoice.id, readers)

    assert waiting == State.CLOSING
    assert Invoice.objects.get(pk=invoice.pk).state == State.DRAFT
    assert reading.totals(owner.id, invoice.starts_at, clock())["messages_in"] == 9


def test_close_again_changes_nothing(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)
    closing.close(invoice.id, readers)
    invoice.refresh_from_db()

    closing.close(invoice.id, readers)

    again = Invoice.objects.get(pk=invoice.pk)
    assert again.document == invoice.document
    assert again.updated_at == invoice.updated_at


@pytest.mark.parametrize(
    ("of", "step"),
    [
        (closing.CloseAttempt, "cut"),
        (closing.CloseAttempt, "land"),
        (closing, "compute_usage"),
        (gold, "cells"),
    ],
)
def test_close_killed_after_any_step_ends_the_same(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    of: Any,
    step: str,
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)
    finished = getattr(of, step)

    def finish_and_die(*arguments: Any) -> None:
        finished(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(of, step, finish_and_die)
        with pytest.raises(KeyboardInterrupt):
            closing.close(invoice.id, readers)
    shows(orders=(7, 0))  # traffic goes on meanwhile

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert invoice.state == State.DRAFT
    assert billed(invoice)["messages_in"] == 5


@pytest.mark.django_db(transaction=True)
def test_a_long_close_keeps_its_invoice_by_a_short_lease(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a killed one is soon followed, and one that takes longer is alone all the same."""
    shows(orders=(5, 2))
    invoice = close_now(owner)
    assert closing._LEASE_SECONDS <= 60
    monkeypatch.setattr(closing, "_LEASE_SECONDS", 0.3)
    begun: list[datetime] = []
    gather = closing.gather

    def ends_at() -> datetime:
        return Lease.objects.get(name=f"close:{invoice.id}").expires_at

    def gather_long(attempt: Any) -> Any:
        begun.append(ends_at())
        eventually(lambda: ends_at() > begun[0] and timezone.now() > begun[0])
        with monkeypatch.context() as stopped:  # just beyond the first term, and no later
            stopped.setattr(timezone, "now", lambda: begun[0] + timedelta(microseconds=1))
            closing.close(invoice.id, readers)
        return gather(attempt)

    monkeypatch.setattr(closing, "gather", gather_long)
    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert len(begun) == 1
    assert invoice.state == State.DRAFT


def test_close_waits_for_a_silent_instance_and_then_is_held(
    owner: Tenant, space: AddressSpace, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    readers.answers[space.id] = {"broker-0": None}
    invoice = close_now(owner)

    closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    Invoice.objects.filter(pk=invoice.pk).update(updated_at=clock() - 2 * closing.PATIENCE)
    closing.close(invoice.id, readers)

    assert waiting == State.CLOSING
    assert reasons(invoice) == {"samples.silent"}


@pytest.mark.parametrize("odd", ["instance", "space"])
def test_close_is_held_by_an_instance_or_space_that_cannot_be_read(
    owner: Tenant,
    space: AddressSpace,
    readers: FakeReaders,
    monkeypatch: pytest.MonkeyPatch,
    odd: str,
) -> None:
    def refuse(_: AddressSpace) -> None:
        raise InfraError("away", reason=Reason.CLUSTER_UNREACHABLE, retry=True)

    readers.answers[space.id] = {"broker-0": Refused("AMQ229032")}
    if odd == "space":
        monkeypatch.setattr(readers, "find", refuse)
    invoice = close_now(owner)

    closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    Invoice.objects.filter(pk=invoice.pk).update(updated_at=clock() - 2 * closing.PATIENCE)
    closing.close(invoice.id, readers)

    assert waiting == State.CLOSING
    assert reasons(invoice) == {"samples.silent"}


def test_close_is_held_by_samples_that_cannot_be_stored_and_names_that_reason(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> bool:
        raise DataError("a row that the database does not take")

    shows(orders=(5, 0))
    monkeypatch.setattr(sampling, "apply_all", refuse)
    invoice = close_now(owner)

    closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    Invoice.objects.filter(pk=invoice.pk).update(updated_at=clock() - 2 * closing.PATIENCE)
    closing.close(invoice.id, readers)

    assert waiting == State.CLOSING
    assert reasons(invoice) == {"samples.not_stored"}
    (held,) = Invoice.objects.get(pk=invoice.pk).held_reasons
    assert "DataError" in held["message"]
    assert "did not answer" not in held["message"]


def test_a_close_after_an_upgrade_waits_until_metering_has_its_rights(
    owner: Tenant,
    space: AddressSpace,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers bind metering's account in a space's namespace at the space's next full pass."""

    def refuse(_: AddressSpace) -> None:
        raise InfraError("pods is forbidden", reason=Reason.CLUSTER_FORBIDDEN, retry=False)

    shows(orders=(5, 0))
    invoice = close_now(owner)
    since = clock() - loop.FULL_PASS_EVERY - timedelta(minutes=1)
    Invoice.objects.filter(pk=invoice.pk).update(updated_at=since)

    with monkeypatch.context() as unbound:
        unbound.setattr(readers, "find", refuse)
        closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    closing.close(invoice.id, readers)

    assert [waiting, Invoice.objects.get(pk=invoice.pk).state] == [State.CLOSING, State.DRAFT]


def test_close_waits_for_another_committer(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)
    leases.acquire(committer.APP, "another", 60)

    closing.close(invoice.id, readers)
    waiting = Invoice.objects.get(pk=invoice.pk).state
    leases.release(committer.APP, "another")
    closing.close(invoice.id, readers)

    assert waiting == State.CLOSING
    assert Invoice.objects.get(pk=invoice.pk).state == State.DRAFT


@pytest.mark.parametrize(
    ("failure", "state"),
    [(PipelineBusy("busy"), State.CLOSING), (PipelineFailed("no room"), State.HELD)],
)
def test_close_waits_for_a_busy_pipeline_and_is_held_by_a_failed_one(
    owner: Tenant,
    readers: FakeReaders,
    shows: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
    state: str,
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)

    def fail(_: Path) -> None:
        raise failure

    monkeypatch.setattr(pipeline, "run", fail)
    closing.close(invoice.id, readers)

    assert Invoice.objects.get(pk=invoice.pk).state == state


def test_a_close_that_found_the_pipeline_busy_goes_before_the_beat_for_a_while(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    shows(orders=(5, 0))
    invoice, run = close_now(owner), pipeline.run
    begun: list[str] = []

    def refuse(_: Path) -> None:
        begun.append("refused")
        raise PipelineBusy("busy")

    monkeypatch.setattr(pipeline, "run", refuse)
    monkeypatch.setattr(gold, "is_current", lambda _: False)
    periodic.run_pipeline(timezone.now())
    assert begun == ["refused"], "the beat computes where no close waits"
    closing.close(invoice.id, readers)
    periodic.run_pipeline(timezone.now())
    assert begun == ["refused"] * 2, "the beat left it to the close"

    periodic.run_pipeline(timezone.now() + timedelta(minutes=2))
    assert begun == ["refused"] * 3

    assert pipeline.is_awaited(timezone.now())
    monkeypatch.setattr(pipeline, "run", run)
    closing.close(invoice.id, readers)
    assert not pipeline.is_awaited(timezone.now()), "its turn is over"


def test_close_shows_its_progress_on_the_operation(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    invoice = close_now(owner)

    closing.close(invoice.id, readers)

    operation = Operation.objects.get(subject_id=invoice.id)
    assert operation.state == Operation.State.SUCCEEDED
    last = operation.steps[-1]
    assert (last["name"], last["state"]) == ("validation", "running")


def test_restart_without_a_last_sample_is_flagged_on_the_invoice(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    shows("boot-2", orders=(1, 0))
    sampling.sample_all(readers)
    invoice = close_now(owner)

    closing.close(invoice.id, readers)

    invoice.refresh_from_db()
    assert invoice.state == State.DRAFT
    assert invoice.quality["flagged"] is True
    assert [gap["boot_id"] for gap in invoice.quality["crash_gaps"]] == ["boot-1"]
    assert billed(invoice)["messages_in"] == 6


def test_end_of_a_life_that_never_landed_holds_the_invoice(
    owner: Tenant, readers: FakeReaders, shows: Callable[..., None]
) -> None:
    shows(orders=(5, 0))
    sampling.sample_all(readers)
    ingest.ingest()
    MeteredSource.objects.filter(source__endswith="broker-0").update(
        seq=9, ended_at=clock(), ended_cleanly=True
    )
    shows("boot-2", orders=(5, 0))
    invoice = close_now(owner)

    closing.close(invoice.id, readers)

    assert reasons(invoice) == {"samples.hole_at_end"}


def test_due_lists_what_waits_for_a_worker(owner: Tenant, readers: FakeReaders) -> None:
    invoice = close_now(owner)

    due = periodic.list_due(clock())

    assert invoice.id in due.closing
    assert due.verifying == ()
