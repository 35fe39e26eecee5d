"""Choose the brokers of an address: a pure function of their use, the request and the limits.

Credits are thousandths of one broker or router. Property tests hold these rules:

- No broker holds more than 1000.
- The result is deterministic and does not depend on the order of the brokers.
- A placed partition stays on its broker if that is possible.
- A credit of 1000 or more gets brokers of its own.
- The partitions of an address are on different brokers.
- A subscription is on the broker of its topic.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from plans.quotas import checks
from plans.quotas.resources import Resource

FULL = 1000  # one whole broker


@dataclass(frozen=True)
class BrokerUse:
    """One broker of the space and the credit placed on it (Migrating and Draining included)."""

    ordinal: int
    used_credit: int


@dataclass(frozen=True)
class Limits:
    """The limits of a space plan: credits in thousandths, and the number of brokers."""

    router_credit: int
    broker_credit: int
    aggregate_credit: int
    max_brokers: int


@dataclass(frozen=True)
class Request:
    """The credits that an address needs. ``with_ordinal``: the broker of a subscription's topic."""

    router_credit: int
    broker_credit: int
    partitions: int = 1
    with_ordinal: int | None = None


@dataclass(frozen=True)
class Partition:
    """Where one partition goes, and its credits.

    ``ordinal`` is the broker's, which may not exist yet; None means the routers.
    """

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
    """Return where the partitions of ``request`` go, one element per partition.

    ``current``: the ordinals of the brokers that hold the address already. ``brokers`` and
    ``used_router_credit`` must then exclude the address's own credits.

    Raises:
        QuotaExceeded: a credit limit or the number of brokers, which the error names, would be
        exceeded.
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
    """Return ``credit`` divided into shares for different brokers, largest first.

    If the credit is at least one whole broker, every share is a whole broker.
    """
    if credit >= FULL:
        return [FULL] * max(partitions, -(-credit // FULL))  # -(-a // b) rounds up
    return _even(credit, partitions)


def _even(credit: int, count: int) -> list[int]:
    share, rest = divmod(credit, count)
    return [share + 1] * rest + [share] * (count - rest)


def _check_credits(
    uses: list[BrokerUse], used_router: int, limits: Limits, router: int, broker: int
) -> None:
    used_broker = sum(use.used_credit for use in uses)
    by_resource: checks.Limits = {
        Resource.SPACE_ROUTER_CREDIT: limits.router_credit,
        Resource.SPACE_BROKER_CREDIT: limits.broker_credit,
        Resource.SPACE_AGGREGATE_CREDIT: limits.aggregate_credit,
    }
    checks.require(by_resource, Resource.SPACE_ROUTER_CREDIT, used=used_router, asked=router)
    checks.require(by_resource, Resource.SPACE_BROKER_CREDIT, used=used_broker, asked=broker)
    checks.require(
        by_resource,
        Resource.SPACE_AGGREGATE_CREDIT,
        used=used_router + used_broker,
        asked=router + broker,
    )


def _beside_topic(uses: list[BrokerUse], request: Request) -> Partition:
    used = next((use.used_credit for use in uses if use.ordinal == request.with_ordinal), 0)
    checks.require(
        {Resource.BROKER_CREDIT: FULL},
        Resource.BROKER_CREDIT,
        used=used,
        asked=request.broker_credit,
    )
    return Partition(request.with_ordinal, request.router_credit, request.broker_credit)


def _choose(
    uses: list[BrokerUse], shares: list[int], max_brokers: int, current: Collection[int]
) -> list[int]:
    """Return a different broker for each share.

    Prefers a broker that holds the address already, then the fullest broker with enough free
    credit, then a new one.
    """
    free = {use.ordinal: FULL - use.used_credit for use in uses}
    chosen: list[int] = []
    for share in shares:
        fitting = [o for o, credit in free.items() if credit >= share and o not in chosen]
        if not fitting:
            # The lowest free ordinal: one of ``len(free) + 1`` numbers is always free.
            new = next(ordinal for ordinal in range(len(free) + 1) if ordinal not in free)
            fitting, free[new] = [new], FULL
        # The ordinal comes last in the key, so that ties do not depend on the order of ``uses``.
        chosen.append(min(fitting, key=lambda o: (o not in current, free[o], o)))
    checks.require(
        {Resource.SPACE_BROKERS: max_brokers},
        Resource.SPACE_BROKERS,
        used=len(uses),
        asked=len(free) - len(uses),
    )
    return chosen
