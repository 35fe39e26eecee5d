"""Rounds: what is read is remembered once, in order, one round at a time; last samples."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import OperationalError

from controlplane.core import leases
from controlplane.core.errors import Unavailable
from controlplane.core.reasons import Reason
from plans.invoicing.evidence import CrashGap
from plans.rating.periods import Period
from tenants.models import AddressSpace
from tests.support import domain
from tests.support.metering.readings import snapshot
from tests.unit.workers.metering.conftest import FakeReaders, clock
from workers.infra.base import InfraError
from workers.messaging.management import Refused
from workers.metering import (
    ingest,
    landing,
    last_samples,
    quality,
    sampling,
    source_states,
    sources,
)
from workers.metering.collector import Reading
from workers.metering.last_samples import LastSampler
from workers.models import LandingBatch, MeteredSource

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("mid_bucket")]


def source(instance: str) -> MeteredSource:
    """The living source of an instance."""
    return MeteredSource.objects.get(source__endswith=f"/{instance}", ended_at__isnull=True)


def seen(instance: str, address: str = "orders") -> int:
    return sources.state_of(source(instance)).addresses[address].counters["messages_in"]


def test_round_all_samples_active_spaces_only(space: AddressSpace, readers: FakeReaders) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}

    [sampled] = sampling.sample_all(readers)
    space.deletion_requested_at = clock()
    space.save()
    after = sampling.sample_all(readers)

    assert (sampled.is_applied, sampled.reached) == (True, frozenset({"broker-0"}))
    assert after == []
    assert seen("broker-0") == 5


def test_samples_are_dated_by_the_clock_of_the_readers(
    space: AddressSpace, readers: FakeReaders
) -> None:
    taken_at = clock() + timedelta(days=400)
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    readers.now = lambda: taken_at

    sampling.sample_all(readers)

    assert source("broker-0").sampled_at == taken_at


def test_silent_instance_leaves_the_others_sampled(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": None, "router-0": snapshot(orders=(5, 0))}

    [sampled] = sampling.sample_all(readers)

    assert (sampled.reached, sampled.silent) == (frozenset({"router-0"}), frozenset({"broker-0"}))
    assert seen("router-0") == 5


def test_place_that_does_not_answer_is_no_sample(
    space: AddressSpace, readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: AddressSpace) -> None:
        raise InfraError("away", reason=Reason.CLUSTER_UNREACHABLE, retry=True)

    monkeypatch.setattr(readers, "find", refuse)

    [sampled] = sampling.sample_all(readers)

    assert sampled.is_applied is False
    assert not MeteredSource.objects.exists()


@pytest.mark.parametrize("odd", [Refused("AMQ229032"), StopIteration(), KeyError("data")])
def test_odd_instance_is_silent_and_all_others_are_sampled(
    space: AddressSpace, readers: FakeReaders, odd: Exception
) -> None:
    other = domain.space(space.tenant, "brokered")
    AddressSpace.objects.filter(id=other.id).update(active_since=clock())
    readers.answers[space.id] = {"broker-0": odd, "router-0": snapshot(rpc=(5, 0))}
    readers.answers[other.id] = {"broker-1": snapshot(orders=(7, 0))}

    sampled = {sample.space_id: sample for sample in sampling.sample_all(readers)}

    assert sampled[space.id].silent == {"broker-0"}
    assert sampled[other.id].reached == {"broker-1"}
    assert (seen("router-0", "rpc"), seen("broker-1")) == (5, 7)


@pytest.mark.parametrize("step", ["find", "apply_all"])
def test_odd_space_is_no_sample_and_all_others_are_sampled(
    space: AddressSpace, readers: FakeReaders, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    other = domain.space(space.tenant, "brokered")
    AddressSpace.objects.filter(id=other.id).update(active_since=clock())
    for sampled_space in (space, other):
        readers.answers[sampled_space.id] = {"broker-0": snapshot(orders=(7, 0))}
    steps: dict[str, Callable[..., Any]] = {"find": readers.find, "apply_all": sampling.apply_all}
    whole = steps[step]

    def fail_once(of: Any, *arguments: Any) -> Any:
        among = [of.id] if step == "find" else [one.reading.space_id for one in of]
        if space.id in among:
            raise Unavailable("The seal of the certificate does not open.")
        return whole(of, *arguments)

    monkeypatch.setattr(readers if step == "find" else sampling, step, fail_once)

    sampled = {sample.space_id: sample for sample in sampling.sample_all(readers)}

    assert (sampled[space.id].is_applied, sampled[other.id].is_applied) == (False, True)
    # An instance that answered is not silent, whatever became of its sample.
    found = (bool(sampled[space.id].silent), sampled[space.id].failed)
    failure = "The seal of the certificate does not open."
    assert found == ((True, "") if step == "find" else (False, failure))
    assert list(MeteredSource.objects.values_list("space_id", flat=True).distinct()) == [other.id]


def test_database_that_is_away_ends_the_round(space: AddressSpace, readers: FakeReaders) -> None:
    readers.answers[space.id] = {"broker-0": OperationalError("the connection is closed")}

    with pytest.raises(OperationalError):
        sampling.sample_all(readers)


def test_round_leaves_a_space_to_the_round_that_reads_it(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    leases.acquire(f"sample:{space.id}", "another round", 60)

    [sampled] = sampling.sample_all(readers)

    assert sampled.is_applied is False
    assert not MeteredSource.objects.exists()


def test_round_gives_its_lease_back(space: AddressSpace, readers: FakeReaders) -> None:
    sampling.sample_all(readers)

    assert leases.acquire(f"sample:{space.id}", "the next round", 60)


def test_snapshot_read_before_a_newer_one_was_applied_is_forgotten(
    space: AddressSpace, readers: FakeReaders
) -> None:
    before = clock()
    readers.answers[space.id] = {"broker-0": snapshot(orders=(9, 0))}
    sampling.sample_all(readers)
    late = Reading(space.tenant_id, space.id, clock(), {"broker-0": snapshot(orders=(5, 0))}, {})

    applied = sampling.apply(late, started_at=before)

    assert applied is False
    assert sources.state_of(source("broker-0")).addresses["orders"].epoch == 0


def test_round_that_waited_for_another_is_no_older_than_that_one(
    space: AddressSpace, readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases.acquire(f"sample:{space.id}", "another round", 60)
    other = Reading(space.tenant_id, space.id, clock(), {"broker-0": snapshot(orders=(5, 0))}, {})

    def end_the_other(_seconds: float) -> None:
        assert sampling.apply(replace(other, taken_at=clock()), started_at=clock())
        leases.release(f"sample:{space.id}", "another round")

    # Of this module alone: threads that earlier tests left behind sleep too.
    waiting = SimpleNamespace(monotonic=time.monotonic, sleep=end_the_other)
    monkeypatch.setattr(sampling, "time", waiting)
    readers.answers[space.id] = {"broker-0": snapshot(orders=(6, 0))}

    assert LastSampler(readers).before_stop() is True
    assert seen("broker-0") == 6


def test_sampling_goes_on_after_the_clock_was_set_back(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    sampling.sample_all(readers)
    ahead = clock() + timedelta(hours=1)
    MeteredSource.objects.update(sampled_at=ahead, bucket_at=ahead)
    readers.answers[space.id] = {"broker-0": snapshot(orders=(6, 0))}

    [sampled] = sampling.sample_all(readers)

    assert sampled.is_applied
    assert seen("broker-0") == 6


def test_restart_ends_a_life_and_begins_another(space: AddressSpace, readers: FakeReaders) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    sampling.sample_all(readers)
    readers.answers[space.id] = {"broker-0": snapshot("boot-2", orders=(1, 0))}

    sampling.sample_all(readers)

    ended = MeteredSource.objects.get(ended_at__isnull=False)
    assert (ended.boot_id, ended.ended_cleanly, ended.seq) == ("boot-1", False, 1)
    assert source("broker-0").boot_id == "boot-2"
    assert LandingBatch.objects.get().n_rows == 2


def test_answer_of_a_life_that_was_followed_is_ignored(
    space: AddressSpace, readers: FakeReaders
) -> None:
    for boot_id in ("boot-1", "boot-2", "boot-1"):
        readers.answers[space.id] = {"broker-0": snapshot(boot_id, orders=(5, 0))}
        sampling.sample_all(readers)

    assert source("broker-0").boot_id == "boot-2"


def test_ended_epoch_that_is_still_repeated_is_remembered(
    space: AddressSpace, readers: FakeReaders
) -> None:
    for orders in ((5, 2), (1, 0)):
        readers.answers[space.id] = {"broker-0": snapshot(orders=orders)}
        sampling.sample_all(readers)

    state = sources.state_of(source("broker-0"))

    [(name, ended)] = state.retired
    assert (name, ended.epoch, ended.counters["messages_in"], ended.fresh) == ("orders", 0, 5, 2)
    assert state.addresses["orders"].epoch == 1


def test_last_sample_of_addresses_is_recorded(space: AddressSpace, readers: FakeReaders) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}

    assert LastSampler(readers).last_sample(space.id, ["orders"]) is True

    assert seen("broker-0") == 5


def test_last_sample_waits_for_a_silent_instance(space: AddressSpace, readers: FakeReaders) -> None:
    readers.answers[space.id] = {"broker-0": None}
    space.deletion_requested_at = clock()
    space.save()

    assert LastSampler(readers).last_sample(space.id, ["orders"]) is False
    assert LastSampler(readers).last_sample(space.id, None) is False


def test_last_sample_of_a_space_ends_its_lives_cleanly_and_lands(
    space: AddressSpace, readers: FakeReaders, root: Path
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}

    assert LastSampler(readers).last_sample(space.id, None) is True
    landing.write_reserved(root)

    assert not MeteredSource.objects.filter(ended_at__isnull=True).exists()
    assert MeteredSource.objects.filter(ended_cleanly=True).count() == 2
    assert sum(LandingBatch.objects.values_list("n_rows", flat=True)) == 3


def test_last_sample_again_goes_on_with_the_same_lives(
    space: AddressSpace, readers: FakeReaders, root: Path
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    LastSampler(readers).last_sample(space.id, None)
    readers.answers[space.id] = {"broker-0": snapshot(orders=(6, 0))}

    LastSampler(readers).last_sample(space.id, None)
    readers.answers[space.id] = {}
    LastSampler(readers).last_sample(space.id, None)
    ingest.ingest()

    assert MeteredSource.objects.count() == 2
    broker = MeteredSource.objects.get(source__endswith="broker-0")
    assert (broker.seq, broker.ended_cleanly) == (2, True)
    assert MeteredSource.objects.get(boot_id=source_states.SPACE).seq == 2
    assert sources.state_of(broker).addresses["orders"].counters["messages_in"] == 6


def test_last_sample_of_a_space_gives_up_on_an_instance_that_stays_silent(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    sampling.sample_all(readers)
    readers.answers[space.id] = {"broker-0": None}
    space.deletion_requested_at = clock() - last_samples.PATIENCE - timedelta(seconds=1)
    space.save()

    assert LastSampler(readers).last_sample(space.id, None) is True

    assert MeteredSource.objects.get(source__endswith="broker-0").ended_cleanly is False


def test_space_that_was_never_usable_ends_without_waiting(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": None}
    AddressSpace.objects.update(active_since=None, deletion_requested_at=clock())

    assert LastSampler(readers).last_sample(space.id, None) is True


def test_planned_restart_after_a_last_sample_is_no_crash(
    space: AddressSpace, readers: FakeReaders
) -> None:
    shown = {"broker-0": (5, 0), "broker-1": (3, 0)}
    readers.answers[space.id] = {name: snapshot(orders=orders) for name, orders in shown.items()}
    sampling.sample_all(readers)
    readers.answers[space.id] = {name: snapshot(orders=(9, 0)) for name in shown}

    assert LastSampler(readers).before_restart(space.id, "broker-0") is True
    sampling.sample_all(readers)  # it has not gone down yet
    readers.answers[space.id] = {name: snapshot("boot-2", orders=(1, 0)) for name in shown}
    sampling.sample_all(readers)

    ended = MeteredSource.objects.get(boot_id="boot-1", source__endswith="broker-0")
    assert sources.state_of(ended).used["messages_in"] == 9
    assert [gap.source for gap in gaps(space)] == [f"{space.id}/broker-1"]


def test_crash_long_after_a_restart_that_never_came_is_a_crash(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    LastSampler(readers).before_restart(space.id, "broker-0")
    MeteredSource.objects.update(restart_at=clock() - timedelta(minutes=3))
    sampling.sample_all(readers)
    readers.answers[space.id] = {"broker-0": snapshot("boot-2", orders=(1, 0))}
    sampling.sample_all(readers)

    assert [gap.source for gap in gaps(space)] == [f"{space.id}/broker-0"]


def test_restart_of_a_silent_instance_goes_on_and_is_told_as_a_crash(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    sampling.sample_all(readers)
    readers.answers[space.id] = {"broker-0": None}

    assert LastSampler(readers).before_restart(space.id, "broker-0") is True
    readers.answers[space.id] = {"broker-0": snapshot("boot-2", orders=(1, 0))}
    sampling.sample_all(readers)

    assert len(gaps(space)) == 1


def test_restart_waits_for_the_round_that_reads_the_space(
    space: AddressSpace, readers: FakeReaders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(last_samples, "_WAIT_SECONDS", 0)
    leases.acquire(f"sample:{space.id}", "a round", 60)

    assert LastSampler(readers).before_restart(space.id, "broker-0") is False


def test_restart_in_a_space_that_was_never_usable_reads_nothing(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}
    AddressSpace.objects.update(active_since=None)

    assert LastSampler(readers).before_restart(space.id, "broker-0") is True
    assert not MeteredSource.objects.exists()


def test_stop_of_everything_after_last_samples_is_no_crash(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": snapshot(orders=(5, 0))}

    assert LastSampler(readers).before_stop() is True
    readers.answers[space.id] = {"broker-0": snapshot("boot-2", orders=(1, 0))}
    sampling.sample_all(readers)

    assert gaps(space) == ()


def test_stop_of_everything_says_that_an_instance_did_not_answer(
    space: AddressSpace, readers: FakeReaders
) -> None:
    readers.answers[space.id] = {"broker-0": None, "router-0": snapshot(rpc=(5, 0))}

    assert LastSampler(readers).before_stop() is False
    assert seen("router-0", "rpc") == 5


def gaps(space: AddressSpace) -> tuple[CrashGap, ...]:
    """The crash gaps of the running time."""
    now = clock()
    around = Period(now - timedelta(days=1), now + timedelta(days=1))
    return quality.crash_gaps(space.tenant_id, around)
