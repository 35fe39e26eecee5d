"""Usage not copied yet: counted once, whatever of it is landed, committed or in gold."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from controlplane.core.audit import SYSTEM
from plans.models import PlanSubscription, QuotaAlert, UsageCopy, UsageRecord, UsageTail
from plans.rating.periods import month_of
from plans.usage import reading, recording
from plans.usage.meters import METERS
from plans.usage.reading import UsageCell
from tenants.actions import quota_overrides
from tenants.models import AddressSpace
from tests.support.metering.readings import snapshot
from tests.support.plans import billing_rows
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


def uncopied(space: AddressSpace, *meters: str) -> dict[str, int]:
    live.keep_tails([space.tenant_id], clock())
    month = month_of(clock(), "UTC")
    tail = reading.tail(space.tenant_id, month.starts_at, month.ends_at)
    return {meter: tail.quantities[meter] for meter in meters or ("messages_in", "messages_out")}


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


def test_month_that_began_after_the_copy_counts_from_its_beginning(fresh: AddressSpace) -> None:
    next_month = clock() + timedelta(days=40)

    live.keep_tails([fresh.tenant_id], next_month)

    month = month_of(next_month, "UTC")
    tail = reading.tail(fresh.tenant_id, month.starts_at, month.ends_at)
    assert not any(tail.quantities.values())


def test_a_copy_after_the_tail_counts_nothing_twice(fresh: AddressSpace) -> None:
    live.keep_tails([fresh.tenant_id], clock())
    copied(fresh, 5)

    month = month_of(clock(), "UTC")
    copy = reading.totals(fresh.tenant_id, month.starts_at, month.ends_at)
    tail = reading.tail(fresh.tenant_id, month.starts_at, month.ends_at)
    assert (copy["messages_in"], tail.quantities["messages_in"]) == (5, 0)


def test_every_sampled_meter_has_a_tail(fresh: AddressSpace, readers: FakeReaders) -> None:
    shown = snapshot(orders=(7, 3), open_now=4, opened=6)
    readers.answers[fresh.id] = {"broker-0": shown}
    for _ in range(2):
        sampling.sample_all(readers)

    found = uncopied(fresh, "connections_opened", "peak_connections", "connection_ms")

    assert (found["connections_opened"], found["peak_connections"]) == (6, 4)
    assert uncopied(fresh, *METERS).keys() == set(METERS)


def limited(space: AddressSpace, resource: str = "messages_per_month", amount: int = 10) -> None:
    quota_overrides.set_override(
        tenant=space.tenant,
        resource=resource,
        amount=amount,
        reason="test",
        expires_at=None,
        by=SYSTEM,
    )


def levels(space: AddressSpace) -> set[int]:
    alerts = QuotaAlert.objects.filter(tenant=space.tenant_id, lifted_at__isnull=True)
    return set(alerts.values_list("level_percent", flat=True))


def test_enforce_raises_alerts_before_any_pipeline_run(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(10**9, 0))}
    sampling.sample_all(readers)
    limited(space)

    live.enforce(clock())

    assert levels(space) == {80, 90, 100}


def test_a_tenant_without_a_limit_is_never_read(fresh: AddressSpace) -> None:
    PlanSubscription.objects.all().delete()

    assert live.list_due(clock()) == set()
    live.enforce(clock())
    assert not UsageTail.objects.exists()


def test_an_idle_tenant_is_read_once_and_again_when_it_moves(
    fresh: AddressSpace, readers: FakeReaders
) -> None:
    limited(fresh, amount=10**6)
    first = fresh.tenant_id in live.list_due(clock())
    live.enforce(clock())
    # The space did nothing since, and later than samples may be committed late.
    MeteredSource.objects.update(moved_at=clock() - timedelta(hours=1))
    UsageTail.objects.update(sampled_at=clock(), evaluated_at=clock() + timedelta(seconds=1))
    idle = live.list_due(clock())
    readers.answers[fresh.id] = {"broker-0": snapshot(orders=(900, 2))}
    sampling.sample_all(readers)

    assert (first, idle) == (True, set())
    assert live.list_due(clock()) == {fresh.tenant_id}


def test_a_killed_pass_is_repeated(fresh: AddressSpace) -> None:
    limited(fresh, amount=10**6)
    live.keep_tails([fresh.tenant_id], clock())
    MeteredSource.objects.update(moved_at=clock() - timedelta(hours=1))

    assert fresh.tenant_id in live.list_due(clock())


def test_a_pass_over_many_tenants_that_nothing_changed_takes_as_many_queries_as_over_one(
    fresh: AddressSpace, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    limited(fresh, amount=10**6)
    live.enforce(clock())
    MeteredSource.objects.update(moved_at=clock() - timedelta(hours=1))
    UsageTail.objects.update(sampled_at=clock(), evaluated_at=clock() + timedelta(seconds=1))
    with CaptureQueriesContext(connection) as alone:
        live.enforce(clock())
    for _ in range(20):
        other = billing_rows.tenant(to=billing_rows.plan("free"))
        UsageTail.objects.create(
            tenant=other, since=clock(), sampled_at=clock(), evaluated_at=clock() + timedelta(1)
        )

    with django_assert_num_queries(len(alone)):
        live.enforce(clock())
