"""A restored database and a restored lakehouse of different instants are told apart."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from controlplane.core import leases
from plans.invoicing.evidence import UsageKey
from plans.models import UsageCopy
from plans.rating.periods import Period
from tenants import rollouts
from tenants.models import AddressSpace, EngineRelease, Rollout
from tests.support.metering.readings import snapshot
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import delta, ingest, quality, recompute, sampling
from workers.metering.last_samples import LastSampler
from workers.models import LandingBatch, MeteredSource

pytestmark = pytest.mark.django_db
State = LandingBatch.State


@pytest.fixture
def commit(space: AddressSpace, readers: FakeReaders, root: Path) -> Callable[[int], None]:
    """``commit(5)`` brings into bronze that 5 messages came so far."""

    def one(messages: int) -> None:
        readers.answers[space.id] = {"broker-0": snapshot("boot-1", orders=(messages, 0))}
        sampling.sample([space], readers)
        ingest.ingest()

    return one


@dataclass(frozen=True)
class Instant:
    """What metering keeps, as it was at one instant: rows of the database, files of the tables."""

    sources: list[MeteredSource]
    batches: list[LandingBatch]
    files: Path

    @classmethod
    def of(cls, root: Path) -> "Instant":
        files = root.with_name("kept")
        shutil.copytree(root, files)
        return cls(list(MeteredSource.objects.all()), list(LandingBatch.objects.all()), files)

    def restore(self, root: Path) -> None:
        MeteredSource.objects.all().delete()
        MeteredSource.objects.bulk_create(self.sources)
        LandingBatch.objects.all().delete()
        LandingBatch.objects.bulk_create(self.batches)
        shutil.rmtree(root)
        self.files.rename(root)


def after_restore() -> str:
    said = StringIO()
    call_command("after_restore", stdout=said)
    return said.getvalue()


def refusal() -> str:
    with pytest.raises(CommandError, match=r"restore\.lakehouse_differs") as refused:
        after_restore()
    return str(refused.value)


def test_nothing_metered_yet_fits(root: Path) -> None:
    assert "fit" in after_restore()


def test_of_one_instant_fits(commit: Callable[[int], None]) -> None:
    commit(5)

    assert "fit" in after_restore()


def test_a_commit_that_the_database_was_not_told_of_fits(commit: Callable[[int], None]) -> None:
    commit(5)
    LandingBatch.objects.update(state=State.LANDED)  # killed between the log and the database

    assert "fit" in after_restore()


def test_an_older_lakehouse_is_refused(commit: Callable[[int], None], root: Path) -> None:
    commit(5)
    shutil.copytree(root, root.with_name("copy"))
    commit(7)
    shutil.rmtree(root)
    root.with_name("copy").rename(root)

    assert "The lakehouse is older than the database: its last commit is 1" in refusal()


def test_a_lost_lakehouse_is_refused(commit: Callable[[int], None], root: Path) -> None:
    commit(5)
    shutil.rmtree(root)

    assert "its last commit is 0, and the database knows of 1" in refusal()


def test_a_newer_lakehouse_is_refused(commit: Callable[[int], None]) -> None:
    commit(5)
    commit(7)
    LandingBatch.objects.filter(commit_number=2).delete()

    assert "The lakehouse is newer than the database: its last commit is 2" in refusal()


def test_a_copied_version_of_gold_that_is_missing_is_refused(root: Path) -> None:
    UsageCopy.objects.create(table_id="t1", table_version=4, as_of=clock())

    assert "older than the database, which copied version 4 of gold.usage" in refusal()


def test_what_brokers_did_since_the_backup_is_counted_once(
    commit: Callable[[int], None], space: AddressSpace, root: Path
) -> None:
    commit(5)
    kept = Instant.of(root)
    commit(9)

    kept.restore(root)
    after_restore()
    commit(12)  # the broker lived on and counted on

    table = delta.open_table(root, delta.BRONZE)
    now = clock()
    period = Period(now - timedelta(days=1), now + timedelta(days=1))
    asked = recompute.Question(table, space.tenant_id, period)
    assert recompute.totals(asked)[UsageKey(space.id, "orders", "messages_in")] == 12
    assert (recompute.counter_resets(asked), recompute.gaps(asked)) == ((), ())
    assert quality.crash_gaps(space.tenant_id, period) == ()


def test_what_a_stopped_broker_did_after_the_backup_is_a_gap(
    commit: Callable[[int], None], space: AddressSpace, readers: FakeReaders
) -> None:
    commit(5)
    assert LastSampler(readers).before_stop()  # as a backup does
    period = Period(clock() - timedelta(days=1), clock() + timedelta(days=1))

    after_restore()
    readers.answers[space.id] = {"broker-0": snapshot("boot-2", orders=(0, 0))}
    sampling.sample([space], readers)

    assert [gap.boot_id for gap in quality.crash_gaps(space.tenant_id, period)] == ["boot-1"]


def test_every_space_is_due_in_full_and_no_lease_is_held(space: AddressSpace, root: Path) -> None:
    leases.acquire("lakehouse-pipeline", "a worker that is gone", 900)
    far = clock() + timedelta(minutes=4)
    held: dict[str, Any] = {"claimed_by": "gone", "claimed_until": far, "next_attempt_at": far}
    AddressSpace.objects.update(**held, last_full_pass_at=clock())

    said = after_restore()

    space.refresh_from_db()
    found = [space.claimed_until, space.next_attempt_at, space.last_full_pass_at]
    assert found == [None, None, None]
    assert leases.acquire("lakehouse-pipeline", "another", 1)
    assert "1 spaces are due" in said


def test_revisions_are_counted_again(space: AddressSpace, root: Path) -> None:
    release = EngineRelease.objects.create(number=1, broker_image="broker:1")
    Rollout.objects.create(release=release, is_configured=True, revision=12)
    before = rollouts.is_outdated(1)

    after_restore()

    assert (before, rollouts.is_outdated(1)) == (True, False)
