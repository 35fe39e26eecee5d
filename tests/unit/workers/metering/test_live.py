"""Usage not copied yet: counted once, whatever of it is landed, committed or in gold."""

from datetime import timedelta
from pathlib import Path

import pytest

from plans.models import QuotaAlert, UsageCopy, UsageRecord
from plans.usage import recording
from plans.usage.reading import UsageCell
from tenants.models import AddressSpace
from tests.support.metering.readings import snapshot
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import live, sampling, source_states
from workers.models import MeteredSource

pytestmark = pytest.mark.django_db


@pytest.fixture
def fresh(space: AddressSpace, readers: FakeReaders) -> AddressSpace:
    """A space whose broker has shown 5 in, 2 out."""
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 2))}
    sampling.sample_all(readers)
    return space


def copied(space: AddressSpace, messages_in: int, *, buckets_ago: int = 0) -> None:
    bucket_at = source_states.floor_bucket(clock()) - buckets_ago * source_states.BUCKET
    cell = UsageCell(space.tenant_id, space.id, "orders", "messages_in", bucket_at, messages_in)
    recording.copy_in(
        table_id="gold",
        table_version=UsageCopy.objects.count(),
        as_of=clock(),
        days=[bucket_at.date()],
        cells=[cell],
    )


def uncopied(space: AddressSpace) -> dict[str, int]:
    return live.not_yet_copied(clock())[space.tenant_id]


def test_before_the_first_copy_everything_is_uncopied(fresh: AddressSpace) -> None:
    assert uncopied(fresh) == {"messages_in": 5, "messages_out": 2}


def test_what_gold_holds_is_not_counted_again(fresh: AddressSpace) -> None:
    copied(fresh, 3)

    assert uncopied(fresh) == {"messages_in": 2, "messages_out": 2}


def test_growth_since_the_copy_is_counted_over_epochs_and_restarts(
    fresh: AddressSpace, readers: FakeReaders
) -> None:
    copied(fresh, 5)
    for boot_id, shown in (("boot-1", (3, 0)), ("boot-2", (4, 0)), ("boot-2", (6, 0))):
        readers.answers[fresh.id] = {"broker-0": snapshot(boot_id, orders=shown)}
        sampling.sample_all(readers)

    assert uncopied(fresh)["messages_in"] == 3 + 6


def test_what_was_used_in_earlier_buckets_is_gold_s_business(
    fresh: AddressSpace, readers: FakeReaders
) -> None:
    for row in MeteredSource.objects.all():
        assert row.bucket_at is not None
        row.bucket_at -= 3 * source_states.BUCKET
        row.integrals["marks"] = [
            [(row.bucket_at).isoformat(), *mark[1:]] for mark in row.integrals["marks"]
        ]
        row.save()
    copied(fresh, 5, buckets_ago=3)
    readers.answers[fresh.id] = {"broker-0": snapshot(orders=(9, 2))}
    sampling.sample_all(readers)

    assert uncopied(fresh)["messages_in"] == 4
    assert UsageRecord.objects.get().quantity == 5


def test_month_that_began_after_the_copy_counts_from_its_beginning(
    fresh: AddressSpace, root: Path
) -> None:
    next_month = clock() + timedelta(days=40)

    assert live.not_yet_copied(next_month)[fresh.tenant_id] == {"messages_in": 0, "messages_out": 0}


def test_enforce_raises_alerts_before_any_pipeline_run(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(10**9, 0))}
    sampling.sample_all(readers)

    live.enforce(clock())

    levels = QuotaAlert.objects.filter(tenant=space.tenant_id).values_list(
        "level_percent", flat=True
    )
    assert set(levels) == {80, 90, 100}
