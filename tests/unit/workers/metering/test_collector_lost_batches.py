"""Lost files: only the last samples of buckets and lives decide the bill.

A round that ends a bucket or a life lands a whole snapshot, in a batch of its own. Any other batch
may be lost and not one cell of usage changes.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from plans.usage.meters import MESSAGES_IN as IN
from tests.support.metering.readings import Rounds, at, rows_of, snapshot
from workers.metering import collector
from workers.metering.source_states import SampleRow

NAMES = ("events", "orders", "rpc")
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["traffic", "traffic", "remake", "delete", "restart", "silent", "cut"]),
        st.integers(1, 1000),  # seconds until it: late rounds and missed boundaries too
        st.sampled_from(NAMES),
        st.integers(0, 50),
        st.booleans(),  # whether the minute's landing runs afterwards
        st.booleans(),  # whether that landing's batch is lost
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(events=EVENTS)
def test_any_batch_but_the_last_of_a_bucket_or_life_may_be_lost(events: list[Any]) -> None:
    everything, arrived = _play(events)

    assert _cells(arrived) == _cells(everything)


def test_bucket_whose_end_nobody_sampled_ends_with_a_whole_snapshot() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)))
    rounds.land()
    rounds.play(at(10, 2), broker_0=snapshot(orders=(5, 0)))
    rounds.land()

    rows = rounds.play(at(10, 40), broker_0=snapshot(orders=(5, 0)))

    assert [(r.bucket_at, r.counters[IN]) for r in rows_of(rows, "orders")] == [(at(10), 5)]


def test_life_ends_with_a_whole_snapshot_though_everything_has_landed() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0)))
    rounds.land()
    rounds.play(at(10, 2), broker_0=snapshot(orders=(5, 0)))
    rounds.land()

    rows = rounds.play(at(10, 3), broker_0=snapshot("boot-2"))

    assert [(r.boot_id, r.counters[IN]) for r in rows_of(rows, "orders")] == [("boot-1", 5)]


def test_ended_epochs_and_vanished_addresses_are_repeated_twice_and_then_left_out() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(orders=(5, 0), rpc=(7, 7)))
    rounds.land()
    rounds.play(at(10, 2), broker_0=snapshot(orders=(1, 0)))
    rounds.land()

    ends = [rounds.play(at(10, 15 * n), broker_0=snapshot(orders=(1, 0))) for n in (1, 2, 3)]

    assert [[(r.epoch, r.counters[IN]) for r in rows_of(end, "orders")] for end in ends] == [
        [(0, 5), (1, 1)],
        [(0, 5), (1, 1)],
        [(1, 1)],
    ]
    assert [[row.counters[IN] for row in rows_of(end, "rpc")] for end in ends] == [
        [7],
        [7],
        [],
    ]


def _play(events: Iterable[tuple[str, int, str, int, bool, bool]]) -> tuple[list[Any], list[Any]]:
    """Play events on one broker; return all rows, and those of the batches that arrived."""
    rounds, now, boot = Rounds(), at(10), 1
    counters: dict[str, int] = {"orders": 3}
    arrived = list(rounds.play(now, broker_0=snapshot("boot-1", orders=(3, 0))))
    for kind, seconds, name, more, lands, is_lost in events:
        now += timedelta(seconds=seconds)
        cut_at = now - timedelta(seconds=1) if kind == "cut" else None
        if kind in {"remake", "delete"}:
            counters.pop(name, None)
        if kind == "restart":
            boot, counters = boot + 1, {}
        if kind not in {"delete", "silent"}:
            counters[name] = counters.get(name, 0) + more
        seen = {counter: (n, n // 2, n) for counter, n in counters.items()}
        told = snapshot(f"boot-{boot}", opened=more, open_now=more % 7, **seen)
        arrived += rounds.play(now, cut_at, **({} if kind == "silent" else {"broker_0": told}))
        landed = rounds.land() if lands else []
        arrived += [] if is_lost else landed
    last = [row for state in rounds.states for row in collector.end(state).rows]
    return [*rounds.rows, *last], [*arrived, *last]


def _cells(rows: Iterable[SampleRow]) -> dict[tuple[Any, ...], int]:
    """Usage per life, counter and bucket: the growth of maxima, and the largest peak."""
    largest: dict[tuple[Any, ...], int] = defaultdict(int)
    for row in rows:
        life = (row.source, row.boot_id, row.address, row.epoch)
        for counter in ("messages_in", "messages_out", "stored_byte_ms", "connections_opened",
                        "connection_ms", "peak_connections"):  # fmt: skip
            key = (*life, counter, row.bucket_at)
            largest[key] = max(largest[key], row.counters[counter])
    before: dict[tuple[Any, ...], int] = defaultdict(int)
    cells = {}
    for key in sorted(largest):
        is_peak = key[-2] == "peak_connections"
        cells[key] = largest[key] - (0 if is_peak else before[key[:-1]])
        before[key[:-1]] = max(before[key[:-1]], largest[key])
    return {key: quantity for key, quantity in cells.items() if quantity}
