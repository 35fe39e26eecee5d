"""Bytes and steps in the states of addresses: never smaller, and a topic's queues add up."""

from dataclasses import replace

from plans.usage.meters import BYTES_IN, BYTES_OUT, STEPS_64K_IN, STEPS_64K_OUT
from tests.support.metering.readings import Rounds, at, queue, rows_of, snapshot, topic
from workers.messaging.observed import AddressCounters, Sizes
from workers.metering.source_states import AddressState


def sized(
    shown: AddressCounters, sizes_in: tuple[int, int], sizes_out: tuple[int, int]
) -> AddressCounters:
    return replace(shown, sizes_in=Sizes(*sizes_in), sizes_out=Sizes(*sizes_out))


def news(sizes_in: tuple[int, int], **queues: tuple[int, int]) -> AddressCounters:
    sizes = {name: Sizes(*size) for name, size in queues.items()}
    shown = topic(1, dict.fromkeys(queues, 1))
    return replace(shown, sizes_in=Sizes(*sizes_in), queue_sizes_out=sizes)


def counted(rounds: Rounds, address: str) -> tuple[int, ...]:
    """Return bytes in, steps in, bytes out and steps out of the only row of ``address``."""
    [row] = rows_of(rounds.land(), address)
    return tuple(
        row.counters[meter] for meter in (BYTES_IN, STEPS_64K_IN, BYTES_OUT, STEPS_64K_OUT)
    )


def test_sizes_of_a_queue_land() -> None:
    rounds = Rounds()

    rounds.play(at(10, 1), broker_0=snapshot(orders=sized(queue(2, 1, "7"), (90, 2), (40, 1))))

    assert counted(rounds, "orders") == (90, 2, 40, 1)


def test_sizes_that_are_not_reported_any_more_begin_no_new_epoch() -> None:
    """A broker that stops may answer without its plugin: nothing may be billed twice."""
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(orders=sized(queue(2, 1, "7"), (90, 2), (40, 1))))
    rounds.play(at(10, 2), broker_0=snapshot(orders=queue(2, 1, "7")))
    rounds.play(at(10, 3), broker_0=snapshot(orders=sized(queue(3, 1, "7"), (95, 3), (40, 1))))

    assert counted(rounds, "orders") == (95, 3, 40, 1)
    assert rounds.state("broker-0").addresses["orders"].epoch == 0


def test_a_topic_keeps_what_queues_counted_that_are_gone() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(events=news((50, 1), a=(30, 1), b=(30, 1))))
    rounds.play(at(10, 2), broker_0=snapshot(events=news((50, 1), b=(30, 1))))
    rounds.play(at(10, 3), broker_0=snapshot(events=news((80, 2), b=(60, 2))))

    assert counted(rounds, "events") == (80, 2, 90, 3)


def test_a_topics_queue_that_reports_nothing_once_is_not_counted_twice() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(events=news((50, 1), a=(30, 1))))
    rounds.play(at(10, 2), broker_0=snapshot(events=news((0, 0), a=(0, 0))))
    rounds.play(at(10, 3), broker_0=snapshot(events=news((50, 1), a=(35, 2))))

    assert counted(rounds, "events") == (50, 1, 35, 2)


def test_states_are_stored_and_read_again() -> None:
    rounds = Rounds()
    rounds.play(at(10, 1), broker_0=snapshot(events=news((50, 1), a=(30, 1))))
    state = rounds.state("broker-0").addresses["events"]

    assert AddressState.of_stored(state.stored()) == state


def test_a_state_without_sizes_is_stored_as_before_sizes_were_counted() -> None:
    """An older worker that still runs reads it."""
    stored = AddressState("queue").stored()

    assert not {"sizes_out", BYTES_IN, BYTES_OUT, STEPS_64K_IN, STEPS_64K_OUT} & stored.keys()
