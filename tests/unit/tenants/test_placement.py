"""The laws of placement, by property, and its refusals, by example."""

from collections.abc import Iterable

import pytest
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from controlplane.core.errors import QuotaExceeded
from tenants import placement
from tenants.placement import FULL, BrokerUse, Limits, Partition, Request

PLENTY = Limits(100_000, 100_000, 200_000, 50)

uses = st.lists(
    st.builds(BrokerUse, st.integers(0, 20), st.integers(0, FULL)),
    max_size=8,
    unique_by=lambda use: use.ordinal,
)
requests = st.builds(Request, st.integers(0, 500), st.integers(0, 3500), st.integers(1, 5))
limits = st.builds(
    Limits, st.integers(0, 5000), st.integers(0, 12_000), st.integers(0, 15_000), st.integers(0, 12)
)


def used(brokers: Iterable[BrokerUse]) -> dict[int, int]:
    return {broker.ordinal: broker.used_credit for broker in brokers}


def decide(
    brokers: list[BrokerUse], router: int, bounds: Limits, request: Request
) -> tuple[Partition, ...] | str:
    """Return the placement, or the name of the limit that refuses it."""
    try:
        return placement.place(brokers, router, bounds, request)
    except QuotaExceeded as refusal:
        return str(refusal.fields["resource"])


@given(uses, requests)
def test_no_broker_ever_holds_more_than_a_whole(brokers: list[BrokerUse], request: Request) -> None:
    before = used(brokers)

    for part in placement.place(brokers, 0, PLENTY, request):
        if part.ordinal is not None:
            assert before.get(part.ordinal, 0) + part.broker_credit <= FULL


@given(uses, requests)
def test_partitions_land_on_different_brokers(brokers: list[BrokerUse], request: Request) -> None:
    assume(request.broker_credit > 0)

    ordinals = [part.ordinal for part in placement.place(brokers, 0, PLENTY, request)]

    assert len(set(ordinals)) == len(ordinals) >= request.partitions
    assert None not in ordinals


@given(uses, requests)
def test_all_credit_is_placed_and_only_whole_brokers_round_up(
    brokers: list[BrokerUse], request: Request
) -> None:
    parts = placement.place(brokers, 0, PLENTY, request)

    assert sum(part.router_credit for part in parts) == request.router_credit
    placed = sum(part.broker_credit for part in parts)
    if request.broker_credit < FULL:
        assert placed == request.broker_credit
    else:
        assert placed >= request.broker_credit
        assert placed % FULL == 0


@given(uses, requests)
def test_a_whole_credit_gets_brokers_of_its_own(brokers: list[BrokerUse], request: Request) -> None:
    assume(request.broker_credit >= FULL)
    before = used(brokers)

    for part in placement.place(brokers, 0, PLENTY, request):
        assert part.broker_credit == FULL
        assert before.get(part.ordinal or 0, 0) == 0


@given(st.data(), uses, st.integers(0, 5000), limits, requests)
def test_the_answer_is_the_same_for_any_order(
    data: st.DataObject, brokers: list[BrokerUse], router: int, bounds: Limits, request: Request
) -> None:
    shuffled = data.draw(st.permutations(brokers))

    assert decide(shuffled, router, bounds, request) == decide(brokers, router, bounds, request)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # most wishes are refused
@given(uses, st.integers(0, 5000), limits, requests)
def test_an_admitted_address_keeps_every_limit(
    brokers: list[BrokerUse], router: int, bounds: Limits, request: Request
) -> None:
    parts = decide(brokers, router, bounds, request)
    if isinstance(parts, str):
        reject()
    assume(sum(used(brokers).values()) <= bounds.broker_credit and router <= bounds.router_credit)

    routers = router + sum(part.router_credit for part in parts)
    credits = sum(used(brokers).values()) + sum(part.broker_credit for part in parts)
    ordinals = {*used(brokers), *(part.ordinal for part in parts)} - {None}
    assert routers <= bounds.router_credit
    assert credits <= bounds.broker_credit
    if request.router_credit + request.broker_credit:
        assert routers + credits <= bounds.aggregate_credit
    assert len(ordinals) <= max(bounds.max_brokers, len(brokers))


@given(uses, requests)
def test_no_new_broker_while_enough_present_ones_have_room(
    brokers: list[BrokerUse], request: Request
) -> None:
    assume(request.broker_credit > 0)
    shares = placement.split(request.broker_credit, request.partitions)
    fitting = [use for use in brokers if use.used_credit + max(shares) <= FULL]
    assume(len(fitting) >= len(shares))

    parts = placement.place(brokers, 0, PLENTY, request)

    assert {part.ordinal for part in parts} <= used(brokers).keys()


@given(st.data(), uses, requests)
def test_placing_again_moves_as_little_as_possible(
    data: st.DataObject, brokers: list[BrokerUse], request: Request
) -> None:
    assume(request.broker_credit > 0 and brokers)
    current = data.draw(st.sets(st.sampled_from(sorted(used(brokers)))))
    shares = placement.split(request.broker_credit, request.partitions)
    could_stay = [o for o in current if used(brokers)[o] + min(shares) <= FULL]
    roomy = [o for o in current if used(brokers)[o] + max(shares) <= FULL]

    parts = placement.place(brokers, 0, PLENTY, request, current)

    stayed = current & {part.ordinal for part in parts}
    if len(could_stay) == len(roomy):
        assert len(stayed) == min(len(could_stay), len(shares))
    else:
        assert len(stayed) >= min(len(roomy), len(shares))


@given(uses, requests)
def test_placing_the_same_again_changes_nothing(brokers: list[BrokerUse], request: Request) -> None:
    assume(request.broker_credit > 0)
    first = placement.place(brokers, 0, PLENTY, request)
    known = [*brokers, *(BrokerUse(part.ordinal or 0, 0) for part in first)]
    present = [BrokerUse(ordinal, credit) for ordinal, credit in used(reversed(known)).items()]

    again = placement.place(present, 0, PLENTY, request, [part.ordinal or 0 for part in first])

    assert {part.ordinal for part in again} == {part.ordinal for part in first}


@given(uses, st.integers(0, 200))
def test_a_subscription_sits_with_its_topic_or_nowhere(
    brokers: list[BrokerUse], credit: int
) -> None:
    assume(brokers)
    topic = brokers[0]
    answer = decide(brokers, 0, PLENTY, Request(1, credit, 1, topic.ordinal))

    if topic.used_credit + credit <= FULL:
        assert answer == (Partition(topic.ordinal, 1, credit),)
    else:
        assert answer == "broker.credit"


@pytest.mark.parametrize(
    ("bounds", "resource"),
    [
        (Limits(9, 1000, 1000, 1), "space.router_credit"),
        (Limits(10, 19, 1000, 1), "space.broker_credit"),
        (Limits(10, 20, 29, 1), "space.aggregate_credit"),
        (Limits(10, 20, 30, 0), "space.brokers"),
    ],
)
def test_place_names_the_limit_that_refuses(bounds: Limits, resource: str) -> None:
    assert decide([], 0, bounds, Request(10, 20)) == resource


def test_place_counts_what_is_used_already() -> None:
    with pytest.raises(QuotaExceeded) as refusal:
        placement.place([BrokerUse(0, 990)], 5, Limits(100, 1000, 1000, 1), Request(1, 20))

    assert refusal.value.fields["used"] == 990
    assert refusal.value.fields["asked"] == 20


def test_place_refuses_when_credit_is_left_but_no_broker_has_room() -> None:
    brokers = [BrokerUse(0, 995), BrokerUse(1, 995)]

    assert decide(brokers, 0, Limits(10, 3000, 3000, 2), Request(0, 10)) == "space.brokers"


def test_place_fills_the_fullest_broker_that_has_room() -> None:
    brokers = [BrokerUse(0, 100), BrokerUse(1, 900), BrokerUse(2, 950)]

    assert placement.place(brokers, 0, PLENTY, Request(0, 100))[0].ordinal == 1


def test_place_gives_a_direct_address_to_the_routers_alone() -> None:
    assert placement.place([], 0, PLENTY, Request(7, 0)) == (Partition(None, 7, 0),)


def test_place_numbers_new_brokers_into_gaps() -> None:
    parts = placement.place([BrokerUse(0, FULL), BrokerUse(2, FULL)], 0, PLENTY, Request(0, 20, 2))

    assert [part.ordinal for part in parts] == [1, 3]


@pytest.mark.parametrize(
    ("credit", "partitions", "shares"),
    [
        (10, 3, [4, 3, 3]),
        (0, 2, [0, 0]),
        (999, 1, [999]),
        (1000, 1, [1000]),
        (1001, 1, [1000, 1000]),
        (1000, 2, [1000, 1000]),
    ],
)
def test_split_is_even_below_a_broker_and_whole_from_there(
    credit: int, partitions: int, shares: list[int]
) -> None:
    assert placement.split(credit, partitions) == shares


@given(
    st.lists(
        st.builds(BrokerUse, st.integers(0, 20), st.integers(0, FULL), st.integers(0, 900)),
        max_size=8,
        unique_by=lambda use: use.ordinal,
    ),
    st.builds(
        Request,
        st.just(0),
        st.integers(1, 3500),
        st.integers(1, 5),
        stored_bytes=st.integers(0, 1100),
    ),
)
def test_no_broker_sells_more_bytes_than_it_stores(
    brokers: list[BrokerUse], request: Request
) -> None:
    bounds = Limits(100_000, 100_000, 200_000, 50, broker_bytes=1000)
    before = {use.ordinal: use.used_bytes for use in brokers}

    try:
        parts = placement.place(brokers, 0, bounds, request)
    except QuotaExceeded:
        assert request.stored_bytes > 1000
        return

    for part in parts:
        assert part.ordinal is not None
        assert before.get(part.ordinal, 0) + request.stored_bytes <= 1000


def test_the_refusal_names_the_bytes_if_credit_is_left() -> None:
    bounds = Limits(1000, 1000, 2000, 1, broker_bytes=1000)

    with pytest.raises(QuotaExceeded) as refusal:
        placement.place([BrokerUse(0, 10, 950)], 0, bounds, Request(0, 10, stored_bytes=60))

    assert refusal.value.fields["resource"] == "broker.bytes"
    assert (refusal.value.fields["limit"], refusal.value.fields["used"]) == (1000, 950)
