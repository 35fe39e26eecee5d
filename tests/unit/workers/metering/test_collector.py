"""The pure core of metering: lives, epochs, integrals, buckets, what lands when."""

from dataclasses import replace

import pytest

from plans.usage.meters import CONNECTIONS_OPENED as OPENED
from plans.usage.meters import MESSAGES_IN as IN
from plans.usage.meters import MESSAGES_OUT as OUT
from plans.usage.meters import PEAK_CONNECTIONS as PEAK
from tests.support.metering.readings import Rounds, at, queue, rows_of, snapshot, topic
from workers.messaging.observed import AddressCounters


@pytest.fixture
def rounds() -> Rounds:
    return Rounds()


def test_landing_holds_what_moved_and_one_heartbeat_a_source(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2), rpc=(0, 0), opened=1))

    rows = rounds.land()

    assert [(row.source, row.address, row.seq) for row in rows] == [
        ("spc_1/broker-0", "", 1),
        ("spc_1/broker-0", "orders", 1),
        ("spc_1/space", "", 1),
    ]
    assert (
        rows[1].counters[IN],
        rows[1].counters[OUT],
        rows[1].address_type,
    ) == (5, 2, "queue")
    assert (rows[0].counters[OPENED], rows[1].counters[OPENED]) == (
        1,
        0,
    )


def test_landing_leaves_out_what_did_not_move_since(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2)))
    rounds.land()
    rounds.play(at(10, 2), broker_0=snapshot(orders=(5, 2)))

    rows = rounds.land()

    assert rows_of(rows, "orders") == []
    assert [row.seq for row in rows_of(rows, "")] == [2, 2]


def test_landing_twice_without_a_round_lands_nothing(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2)))
    rounds.land()

    assert rounds.land() == []


def test_new_process_begins_a_life_after_the_old_one_has_landed(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2), open_now=3))

    rows = rounds.play(at(10, 2), broker_0=snapshot("boot-2", orders=(1, 0)))

    assert [(row.boot_id, row.counters[IN]) for row in rows_of(rows, "orders")] == [("boot-1", 5)]
    assert [state.boot_id for state in rounds.ended] == ["boot-1"]
    assert rounds.state("broker-0").seq == 0
    assert rounds.land()[1].counters[IN] == 1


def test_counter_that_decreases_begins_an_epoch_of_its_address_alone(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2), rpc=(7, 7)))

    rows = rounds.play(at(10, 2), broker_0=snapshot(orders=(3, 0), rpc=(8, 8)))
    landed = rounds.land()

    assert rows == []
    assert [(row.epoch, row.counters[IN]) for row in rows_of(landed, "orders")] == [
        (0, 5),
        (1, 3),
    ]
    assert [(row.epoch, row.counters[IN]) for row in rows_of(landed, "rpc")] == [(0, 8)]
    assert {row.seq for row in landed} == {1}


def test_address_that_vanished_and_returned_begins_an_epoch(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 2)))
    rounds.play(at(10, 2), broker_0=snapshot())
    gone = rounds.land()

    rounds.play(at(10, 3), broker_0=snapshot(orders=(6, 2)))

    assert [(row.epoch, row.counters[IN]) for row in rows_of(gone, "orders")] == [(0, 5)]
    assert [(row.epoch, row.counters[IN]) for row in rows_of(rounds.land(), "orders")] == [(1, 6)]


def test_address_recreated_between_two_rounds_begins_an_epoch(rounds: Rounds) -> None:
    for shown in (queue(5, 5, "17"), queue(8, 6, "23"), queue(9, 6, "23")):
        rounds.play(at(10, 1), broker_0=snapshot(orders=shown))

    landed = rounds.land()

    assert [(r.epoch, r.counters[IN]) for r in rows_of(landed, "orders")] == [
        (0, 5),
        (1, 9),
    ]
    assert rounds.state("broker-0").used["messages_in"] == 5 + 9


def test_topic_recreated_between_two_rounds_begins_an_epoch(rounds: Rounds) -> None:
    for life, shown in (("17", topic(5, {"a#1": 5})), ("23", topic(8, {"a#2": 3}))):
        rounds.play(at(10, 1), broker_0=snapshot(events=replace(shown, incarnation=life)))

    landed = rows_of(rounds.land(), "events")

    assert [(r.epoch, r.counters[IN], r.counters[OUT]) for r in landed] == [
        (0, 5, 5),
        (1, 8, 3),
    ]


def test_address_remembered_without_its_life_goes_on(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 5)))
    rounds.play(at(10, 2), broker_0=snapshot(orders=queue(8, 5, "17")))

    assert [(row.epoch, row.counters[IN]) for row in rows_of(rounds.land(), "orders")] == [(0, 8)]


def test_topic_adds_up_the_growth_of_queues_that_come_and_go(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(events=topic(5, {"a#1": 5, "b#2": 3})))
    rounds.play(at(10, 2), broker_0=snapshot(events=topic(6, {"b#2": 4})))
    rounds.play(at(10, 3), broker_0=snapshot(events=topic(6, {})))
    rounds.play(at(10, 4), broker_0=snapshot(events=topic(9, {"b#7": 2})))

    [row] = rows_of(rounds.land(), "events")

    assert (row.epoch, row.counters[IN], row.counters[OUT]) == (
        0,
        9,
        5 + 3 + 1 + 2,
    )


def test_connections_opened_is_the_largest_of_its_life(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(opened=4))
    rounds.play(at(10, 2), broker_0=snapshot(opened=3))

    assert rounds.land()[0].counters[OPENED] == 4


def test_gauges_become_integrals_of_what_was_seen_last(rounds: Rounds) -> None:
    rounds.play(at(10, 1, 0), broker_0=snapshot(orders=(1, 0, 100), open_now=2))
    rounds.play(at(10, 1, 10), broker_0=snapshot(orders=(1, 0, 50), open_now=5))
    rounds.play(at(10, 1, 30), broker_0=snapshot(orders=(1, 0, 0), open_now=0))

    beat, orders, _ = rounds.land()

    assert beat.counters["connection_ms"] == 2 * 10_000 + 5 * 20_000
    assert orders.counters["stored_byte_ms"] == 100 * 10_000 + 50 * 20_000


def test_silence_longer_than_two_minutes_is_not_integrated(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(open_now=1))
    rounds.play(at(11, 1), broker_0=snapshot(open_now=1))

    assert rounds.state("broker-0").counters["connection_ms"] == 120_000


def test_peak_is_the_largest_sum_over_instances_of_one_round(rounds: Rounds) -> None:
    rounds.play(at(10, 1), router_0=snapshot(open_now=10), router_1=snapshot(open_now=80))
    rounds.play(at(10, 2), router_0=snapshot(open_now=90), router_1=snapshot(open_now=10))
    rounds.play(at(10, 3), router_0=snapshot(open_now=10), router_1=snapshot(open_now=10))

    peaks = {row.source: row.counters[PEAK] for row in rounds.land()}

    assert peaks == {"spc_1/router-0": 0, "spc_1/router-1": 0, "spc_1/space": 100}


def test_first_round_after_a_boundary_belongs_to_the_bucket_that_ended(rounds: Rounds) -> None:
    rounds.play(at(10, 14, 58), broker_0=snapshot(orders=(5, 0), open_now=9))

    rows = rounds.play(at(10, 15, 3), broker_0=snapshot(orders=(8, 0), open_now=1))
    rounds.play(at(10, 15, 13), broker_0=snapshot(orders=(9, 0), open_now=2))
    later = rounds.land()

    assert {row.bucket_at for row in rows} == {at(10, 0)}
    assert rows_of(rows, "orders")[0].counters[IN] == 8
    assert {row.bucket_at for row in later} == {at(10, 15)}
    assert [r.counters[PEAK] for r in rows + later if r.source.endswith("space")] == [
        9,
        2,
    ]


def test_round_long_after_a_boundary_belongs_to_the_running_bucket(rounds: Rounds) -> None:
    rounds.play(at(10, 14, 58), broker_0=snapshot(orders=(5, 0)))

    rows = rounds.play(at(10, 21), broker_0=snapshot(orders=(8, 0)))

    assert [(r.bucket_at, r.counters[IN]) for r in rows_of(rows, "orders")] == [(at(10, 0), 5)]
    assert rows_of(rounds.land(), "orders")[0].bucket_at == at(10, 15)


def test_what_moved_once_is_landed_again_at_the_end_of_each_bucket(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)))
    rounds.land()

    ends = [
        rounds.play(at(hour, minute), broker_0=snapshot(orders=(5, 0)))
        for hour, minute in ((10, 15), (10, 30), (10, 45))
    ]

    assert [[row.counters[IN] for row in rows_of(end, "orders")] for end in ends] == [
        [5],
        [5],
        [5],
    ]


def test_cut_ends_the_running_bucket_for_every_source(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)), broker_1=snapshot())

    rows = rounds.play(
        at(10, 7, 9), at(10, 7, 3), broker_0=snapshot(orders=(6, 0)), broker_1=snapshot()
    )
    rounds.play(
        at(10, 8), broker_0=snapshot(orders=(7, 0)), broker_1=snapshot("boot-2", rpc=(1, 1))
    )

    assert {row.bucket_at for row in rows} == {at(10, 0)}
    assert rows_of(rows, "orders")[0].counters[IN] == 6
    assert {row.bucket_at for row in rounds.land()} == {at(10, 7, 3)}


def test_cut_long_after_a_boundary_that_nobody_sampled_does_not_reach_back(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)))

    rows = rounds.play(at(10, 31), at(10, 14, 50), broker_0=snapshot(orders=(6, 0)))

    assert [(r.bucket_at, r.counters[IN]) for r in rows_of(rows, "orders")] == [(at(10, 0), 5)]
    assert rows_of(rounds.land(), "orders")[0].bucket_at == at(10, 30)


def test_cut_of_a_source_that_was_silent_for_long_belongs_to_the_running_bucket(
    rounds: Rounds,
) -> None:
    rounds.play(at(8, 1), broker_0=snapshot(orders=(5, 0)))

    rows = rounds.play(at(10, 9, 10), at(10, 9), broker_0=snapshot(orders=(6, 0)))

    found = [(row.bucket_at, row.counters[IN]) for row in rows_of(rows, "orders")]
    assert found == [(at(8, 0), 5), (at(10, 0), 6)]
    assert rounds.state("broker-0").bucket_at == at(10, 9)


def test_instance_that_answers_the_repeated_cut_is_still_in_the_bucket_that_ends(
    rounds: Rounds,
) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)), broker_1=snapshot(rpc=(1, 1)))
    rounds.play(at(10, 7, 9), at(10, 7, 3), broker_0=snapshot(orders=(6, 0)))

    rows = rounds.play(
        at(10, 7, 29), at(10, 7, 3), broker_0=snapshot(orders=(7, 0)), broker_1=snapshot(rpc=(4, 4))
    )

    assert [(r.bucket_at, r.counters[IN]) for r in rows_of(rows, "rpc")] == [(at(10, 0), 4)]
    assert rows_of(rows, "orders") == []


def test_cut_of_a_space_that_was_never_sampled_closes_its_first_bucket(rounds: Rounds) -> None:
    rows = rounds.play(at(10, 7, 9), at(10, 7, 3), broker_0=snapshot(orders=(6, 0)))

    assert {row.bucket_at for row in rows} == {at(10, 0)}
    assert rounds.state("broker-0").bucket_at == at(10, 7, 3)


def test_cut_again_changes_nothing(rounds: Rounds) -> None:
    rounds.play(at(10, 7, 9), at(10, 7, 3), broker_0=snapshot(orders=(6, 0)))

    rows = rounds.play(at(10, 7, 19), at(10, 7, 3), broker_0=snapshot(orders=(7, 0)))

    assert rows == []
    assert rounds.state("broker-0").bucket_at == at(10, 7, 3)


def test_instance_that_missed_the_cut_goes_on_in_the_new_bucket(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)), broker_1=snapshot(rpc=(1, 1)))
    rounds.land()
    rounds.play(at(10, 7, 9), at(10, 7, 3), broker_0=snapshot(orders=(6, 0)))

    rounds.play(at(10, 7, 30), broker_0=snapshot(orders=(6, 0)), broker_1=snapshot(rpc=(4, 4)))

    [row] = rows_of(rounds.land(), "rpc")
    assert (row.bucket_at, row.counters[IN]) == (at(10, 7, 3), 4)


def test_clock_set_back_neither_goes_back_in_buckets_nor_in_integrals(rounds: Rounds) -> None:
    rounds.play(at(10, 16), broker_0=snapshot(orders=(5, 0), open_now=3))
    rounds.play(at(9, 50), broker_0=snapshot(orders=(6, 0), open_now=3))

    rows = rounds.land()

    assert {row.bucket_at for row in rows} == {at(10, 15)}
    assert all(row.taken_at >= row.bucket_at for row in rows)
    assert rows[0].counters["connection_ms"] == 0


def test_round_without_any_answer_says_nothing(rounds: Rounds) -> None:
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0), open_now=2))
    rounds.land()

    rounds.play(at(10, 2))

    assert rounds.land() == []


def test_a_filter_is_a_topic_that_has_no_row(rounds: Rounds) -> None:
    seen = AddressCounters("news/#", 0, 2, queues_out={"q#1": 2}, incarnation="7", type="topic")

    rounds.play(at(10, 1), broker_0=snapshot(filter=seen))

    [row] = rows_of(rounds.land(), "news/#")
    assert (row.address_type, row.counters[IN], row.counters[OUT]) == ("topic", 0, 2)


def test_what_never_counted_anything_leaves_no_state(rounds: Rounds) -> None:
    """Clients choose the names of filters. What did count is kept and goes on in a new epoch."""
    for minute in range(1, 4):
        idle = AddressCounters(f"idle-{minute}/#", 0, 0, type="topic")
        rounds.play(at(10, minute), broker_0=snapshot(orders=(1, 0), idle=idle))
    rounds.play(at(10, 4), broker_0=snapshot())
    assert set(rounds.state("broker-0").addresses) == {"orders"}

    rounds.play(at(10, 5), broker_0=snapshot(orders=(0, 0)))
    rounds.play(at(10, 6), broker_0=snapshot())
    rounds.play(at(10, 7), broker_0=snapshot(orders=(4, 0)))

    state = rounds.state("broker-0")
    assert (state.addresses["orders"].epoch, state.used["messages_in"]) == (2, 5)
