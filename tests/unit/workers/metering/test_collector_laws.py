"""Laws of the collector over random rounds: the rows bill exactly what was ever seen."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from plans.usage.meters import MESSAGES_IN as IN
from plans.usage.meters import MESSAGES_OUT as OUT
from tests.support.metering.readings import Rounds, at, queue, snapshot
from workers.metering.source_states import SampleRow

# One event of one instance: traffic, a new process, an address that vanished and returned
# ("remake") or was deleted and made again between two rounds ("again"), silence, a landing.
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["traffic", "traffic", "traffic", "restart", "remake", "again", "silent", "land"]
        ),
        st.integers(1, 900),  # seconds until it
        st.integers(0, 50),
        st.integers(0, 50),
    ),
    max_size=40,
)


@given(events=EVENTS)
def test_growth_of_the_rows_is_what_the_snapshots_ever_showed(
    events: list[tuple[str, int, int, int]],
) -> None:
    rounds, seen_in, seen_out = _play(events)

    assert _billed(rounds.rows, "messages_in") == seen_in
    assert _billed(rounds.rows, "messages_out") == seen_out
    lives = [*rounds.ended, *rounds.states]
    assert sum(state.used["messages_in"] for state in lives) == seen_in
    assert sum(state.used["messages_out"] for state in lives) == seen_out


@given(events=EVENTS)
def test_rows_never_fall_inside_a_life_and_seq_has_no_gap(
    events: list[tuple[str, int, int, int]],
) -> None:
    rounds, _, _ = _play(events)

    last: dict[tuple[str, str, str, int], SampleRow] = {}
    for row in rounds.rows:
        key = (row.source, row.boot_id, row.address, row.epoch)
        if key in last:
            assert row.counters[IN] >= last[key].counters[IN]
            assert row.counters[OUT] >= last[key].counters[OUT]
            assert row.counters["connection_ms"] >= last[key].counters["connection_ms"]
            assert row.bucket_at >= last[key].bucket_at
        last[key] = row
    beats: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row in rounds.rows:
        if row.address == "":
            beats[row.source, row.boot_id].append(row.seq)
    assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in beats.values())


@given(events=EVENTS)
def test_rows_lie_in_their_bucket_or_just_after_it(
    events: list[tuple[str, int, int, int]],
) -> None:
    rounds, _, _ = _play(events)

    for row in rounds.rows:
        assert row.bucket_at <= row.taken_at <= row.bucket_at + timedelta(minutes=20)


@given(
    silent=st.integers(0, 3 * 86_400),
    cut_ago=st.integers(0, 3 * 86_400),
    second=st.integers(0, 899),
)
def test_close_bills_the_same_whether_an_ordinary_round_came_before_its_cut(
    silent: int, cut_ago: int, second: int
) -> None:
    """Of a source that was last seen ``silent`` seconds ago, the period ended ``cut_ago``."""
    now = at(10, 15, second)
    cut_at = now - timedelta(seconds=cut_ago)

    assert _before(cut_at, [(now, cut_at)], silent) == _before(
        cut_at, [(now, None), (now, cut_at)], silent
    )


def _before(cut_at: datetime, plan: list[tuple[datetime, datetime | None]], silent: int) -> int:
    """Messages of the period until ``cut_at``, after rounds at (instant, cut) of ``plan``."""
    rounds, now = Rounds(), plan[0][0]
    rounds.play(now - timedelta(seconds=silent), broker_0=snapshot(orders=(5, 0)))
    for instant, cut in plan:
        rounds.play(instant, cut, broker_0=snapshot(orders=(8, 0)))
    rounds.land()
    return _billed([row for row in rounds.rows if row.bucket_at < cut_at], "messages_in")


def _play(events: Iterable[tuple[str, int, int, int]]) -> tuple[Rounds, int, int]:
    """Play events on one broker; return the rounds and what was seen in and out in all."""
    rounds, now, boot, life = Rounds(), at(10), 1, 1
    came = went = seen_in = seen_out = 0
    rounds.play(now, broker_0=snapshot("boot-1", orders=queue(0, 0, "1")))
    for kind, seconds, more_in, more_out in events:
        now += timedelta(seconds=seconds)
        if kind == "land":
            rounds.land()
            continue
        if kind == "silent":
            rounds.play(now)
            continue
        if kind in {"restart", "remake", "again"}:
            boot, life = boot + (kind == "restart"), life + 1
            if kind == "remake":
                rounds.play(now, broker_0=snapshot(f"boot-{boot}"))
            came = went = 0
        came, went = came + more_in, went + more_out
        seen_in, seen_out = seen_in + more_in, seen_out + more_out
        rounds.play(now, broker_0=snapshot(f"boot-{boot}", orders=queue(came, went, str(life))))
    rounds.land()
    return rounds, seen_in, seen_out


def _billed(rows: Iterable[SampleRow], counter: str) -> int:
    largest: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for row in rows:
        key = (row.source, row.boot_id, row.address, row.epoch)
        largest[key] = max(largest[key], row.counters[counter])
    return sum(largest.values())
