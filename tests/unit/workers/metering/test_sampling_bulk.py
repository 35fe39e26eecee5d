"""A sampling cycle of many spaces: as many queries as for one, shared by shards, faults apart."""

import zlib
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from controlplane.core import leases
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.domain import Cast
from tests.support.metering.readings import snapshot
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.metering import collector, sampling, sources
from workers.metering.collector import Reading
from workers.models import LandingBatch, MeteredSource

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mid_bucket")]


@pytest.fixture
def spaces(cast: Cast, readers: FakeReaders) -> list[AddressSpace]:
    """Five active spaces with a broker and a router each, sampled once."""
    made = [domain.space(cast.tenant, "brokered") for _ in range(5)]
    AddressSpace.objects.filter(id__in=[one.id for one in made]).update(active_since=clock())
    for one in made:
        domain.address(one, "orders", "queue")
    show(readers, made, 1)
    sampling.sample_all(readers)
    return made


def show(readers: FakeReaders, spaces: list[AddressSpace], n: int) -> None:
    for one in spaces:
        readers.answers[one.id] = {
            "broker-0": snapshot(orders=(n, 0)),
            "router-0": snapshot(rpc=(n, 0)),
        }


def seen(space: AddressSpace) -> int:
    row = MeteredSource.objects.get(source=f"{space.id}/broker-0", ended_at__isnull=True)
    return sources.state_of(row).addresses["orders"].counters["messages_in"]


def queries_of_cycle(readers: FakeReaders, n: int) -> list[str]:
    with CaptureQueriesContext(connection) as queries:
        results = sampling.sample(sampling.list_spaces()[:n], readers)
    assert all(one.is_applied for one in results)
    # One statement for each space stays: it replaces the list of its connections.
    others = [q["sql"] for q in queries if "jsonb_to_recordset" not in q["sql"]]
    assert len(queries) == len(others) + n
    return others


def test_queries_do_not_depend_on_the_number_of_spaces(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    show(readers, spaces, 2)
    of_one = queries_of_cycle(readers, 1)
    show(readers, spaces, 3)
    of_all = queries_of_cycle(readers, 5)

    assert len(of_all) == len(of_one) <= 16, "\n".join(of_all)
    assert [sql for sql in of_all if "workers_meteredsource" in sql and "INSERT" in sql][1:] == []
    assert {seen(one) for one in spaces} == {3}


def test_restarts_and_quiet_spaces_in_one_cycle_keep_to_themselves(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    restarted, silent, *others = spaces
    show(readers, spaces, 2)
    readers.answers[restarted.id] = {"broker-0": snapshot("boot-2", orders=(1, 0))}
    readers.answers[silent.id] = {"broker-0": None, "router-0": snapshot(rpc=(2, 0))}

    results = {one.space_id: one for one in sampling.sample_all(readers)}

    ended = MeteredSource.objects.get(ended_at__isnull=False)
    assert (ended.source, ended.boot_id) == (f"{restarted.id}/broker-0", "boot-1")
    assert results[silent.id].silent == {"broker-0"}
    assert (seen(restarted), seen(silent)) == (1, 1)
    assert {seen(one) for one in others} == {2}
    # The last rows of the ended incarnation, in one batch of the outbox.
    assert {row["space_id"] for batch in LandingBatch.objects.all() for row in batch.rows} == {
        restarted.id
    }


def test_each_shard_samples_its_own_spaces_and_all_together_sample_each_once(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    show(readers, spaces, 2)
    by_shard = [sampling.sample_shard(readers, shard, 3) for shard in range(3)]

    sampled = [one.space_id for shard in by_shard for one in shard]
    assert sorted(sampled) == sorted(one.id for one in spaces)
    assert all(one.is_applied for shard in by_shard for one in shard)


def test_shard_that_another_worker_samples_is_left_to_it(
    spaces: list[AddressSpace], readers: FakeReaders
) -> None:
    show(readers, spaces, 2)
    leases.acquire("sample-shard:0/2", "another worker", 60)

    by_shard = [sampling.sample_shard(readers, shard, 2) for shard in range(2)]

    assert by_shard[0] == []
    others = {one.id for one in spaces if zlib.crc32(one.id.encode()) % 2 == 1}
    assert {one.space_id for one in by_shard[1]} == others
    assert {one.id for one in spaces if seen(one) == 2} == others


def test_space_that_cannot_be_stored_costs_no_other_its_sample(
    spaces: list[AddressSpace], readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(readers, spaces, 2)
    odd, *others = spaces
    whole = collector.advance

    def fail(states: Any, reading: Reading, **more: Any) -> Any:
        if reading.space_id == odd.id:
            raise KeyError("counters")
        return whole(states, reading, **more)

    monkeypatch.setattr(collector, "advance", fail)

    results = {one.space_id: one for one in sampling.sample_all(readers)}

    assert results[odd.id].failed.startswith("an error of the kind KeyError")
    assert {results[one.id].is_applied for one in others} == {True}
    assert (seen(odd), {seen(one) for one in others}) == (1, {2})
