"""Where an address goes: a pure function of brokers, the request and the present placement.

Credits are thousandths of one broker or router. Laws (tested by property): no broker ever holds
more than 1000; deterministic, and the same for any order of equal inputs; what is placed stays
where it is unless that is impossible; a credit of 1000 or more gets brokers of its own; partitions
land on different brokers; a subscription sits with its topic.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from plans import quotas
from plans.resources import Resource

FULL = 1000  # one whole broker


@dataclass(frozen=True)
class BrokerUse:
    """One broker of the space and the credit placed on it (Migrating and Draining included)."""

    ordinal: int
    used_credit: int


@dataclass(frozen=True)
class Limits:
    """What the space plan allows, in thousandths, and how many brokers."""

    router_credit: int
    broker_credit: int
    aggregate_credit: int
    max_brokers: int


@dataclass(frozen=True)
class Request:
    """What one address costs. ``with_ordinal`` is the broker of a subscription's topic."""

    router_credit: int
    broker_credit: int
    partitions: int = 1
    with_ordinal: int | None = None


@dataclass(frozen=True)
class Partition:
    """One partition's place: a broker's ordinal (new ones are past the present), its credits."""

    ordinal: int | None
    router_credit: int
    broker_credit: int


def place(
    brokers: Iterable[BrokerUse],
    used_router_credit: int,
    limits: Limits,
    request: Request,
    current: Collection[int] = (),
) -> tuple[Partition, ...]:
    """Return where the partitions of ``request`` go, one element a partition.

    ``current`` are the brokers that hold the address already; its own credits must then not be in
    ``brokers`` and ``used_router_credit``.

    Raises:
        QuotaExceeded: a credit limit or the number of brokers would be passed; names which.
    """
    uses = list(brokers)
    shares = split(request.broker_credit, request.partitions)
    _check_credits(uses, used_router_credit, limits, request.router_credit, sum(shares))
    if request.with_ordinal is not None:
        return (_beside_topic(uses, request),)
    if request.broker_credit == 0:
        return (Partition(None, request.router_credit, 0),)
    ordinals = _choose(uses, shares, limits.max_brokers, current)
    routers = _even(request.router_credit, len(shares))
    return tuple(
        Partition(ordinal, router, share)
        for ordinal, router, share in zip(ordinals, routers, shares, strict=True)
    )


def split(credit: int, partitions: int) -> list[int]:
    """Return ``credit`` in shares for different brokers, largest first.

    From one whole broker on, every share is a whole broker, and as many as the credit needs.
    """
    if credit >= FULL:
        return [FULL] * max(partitions, -(-credit // FULL))
    return _even(credit, partitions)


def _even(credit: int, count: int) -> list[int]:
    share, rest = divmod(credit, count)
    return [share + 1] * rest + [share] * (count - rest)


def _check_credits(
    uses: list[BrokerUse], used_router: int, limits: Limits, router: int, broker: int
) -> None:
    used_broker = sum(each.used_credit for each in uses)
    by_resource: quotas.Limits = {
        Resource.SPACE_ROUTER_CREDIT: limits.router_credit,
        Resource.SPACE_BROKER_CREDIT: limits.broker_credit,
        Resource.SPACE_AGGREGATE_CREDIT: limits.aggregate_credit,
    }
    quotas.require(by_resource, Resource.SPACE_ROUTER_CREDIT, used=used_router, asked=router)
    quotas.require(by_resource, Resource.SPACE_BROKER_CREDIT, used=used_broker, asked=broker)
    quotas.require(
        by_resource,
        Resource.SPACE_AGGREGATE_CREDIT,
        used=used_router + used_broker,
        asked=router + broker,
    )


def _beside_topic(uses: list[BrokerUse], request: Request) -> Partition:
    used = next((each.used_credit for each in uses if each.ordinal == request.with_ordinal), 0)
    quotas.require(
        {Resource.BROKER_CREDIT: FULL},
        Resource.BROKER_CREDIT,
        used=used,
        asked=request.broker_credit,
    )
    return Partition(request.with_ordinal, request.router_credit, request.broker_credit)


def _choose(
    uses: list[BrokerUse], shares: list[int], max_brokers: int, current: Collection[int]
) -> list[int]:
    """Return a broker for each share, all different.

    First where the address is already, then the fullest that has room, then a new one.
    """
    room = {each.ordinal: FULL - each.used_credit for each in uses}
    chosen: list[int] = []
    for share in shares:
        fitting = [o for o, free in room.items() if free >= share and o not in chosen]
        if not fitting:
            fitting = [_new_ordinal(room)]
            room[fitting[0]] = FULL
        chosen.append(min(fitting, key=lambda o: (o not in current, room[o], o)))
    quotas.require(
        {Resource.SPACE_BROKERS: max_brokers},
        Resource.SPACE_BROKERS,
        used=len(uses),
        asked=len(room) - len(uses),
    )
    return chosen


def _new_ordinal(taken: Collection[int]) -> int:
    return next(ordinal for ordinal in range(len(taken) + 1) if ordinal not in taken)
