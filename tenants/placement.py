"""Choose the brokers of an address. All functions are pure: they read no rows.

``place`` chooses the brokers of an address. ``check_beside`` checks that one more address fits a
broker that is chosen already. Credits are thousandths of one broker or router. Property tests check
these rules:

- No broker holds more than 1000 credits.
- No broker gets an address that may store more bytes than the broker has left.
- The result is deterministic and does not depend on the order of the brokers.
- An address that is placed again stays on its brokers if that is possible.
- An address with a broker credit of 1000 or more gets brokers of its own.
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
    """One broker of a space, with the credit and the bytes that addresses take there.

    Placements of every state count. ``ordinal`` is the broker's number in its space.
    """

    ordinal: int
    used_credit: int
    used_bytes: int = 0  # what the addresses on the broker may store by their plans


@dataclass(frozen=True)
class Limits:
    """The limits of a space plan: credits in thousandths, and the number of brokers.

    ``aggregate_credit`` limits router and broker credit together. ``broker_bytes``: how many bytes
    the addresses on one broker may store; None if the plan does not limit them.
    """

    router_credit: int
    broker_credit: int
    aggregate_credit: int
    max_brokers: int
    broker_bytes: int | None = None


@dataclass(frozen=True)
class Request:
    """What an address needs: credits in total (thousandths), partitions, and bytes on each broker.

    * ``with_ordinal``: the ordinal of the broker on which a subscription must be, because its topic
      is there; None for every other type.
    * ``stored_bytes``: what the address may store on each of its brokers.
    * ``companion_credit``, ``companion_bytes``: what the targets of the address, which take its
      dead and expired messages, need on each of its brokers in addition. Brokers with the ordinals
      ``companions`` have these targets already, so nothing is added there.
    """

    router_credit: int
    broker_credit: int
    partitions: int = 1
    with_ordinal: int | None = None
    companion_credit: int = 0
    companions: Collection[int] = ()
    stored_bytes: int = 0
    companion_bytes: int = 0


@dataclass(frozen=True)
class Partition:
    """Where ``place`` puts one partition of an address, and the credits that it takes there.

    ``ordinal`` is the number of a broker, which may not exist yet; None means the routers.
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

    A subscription goes to the broker of its topic. An address without broker credit goes to the
    routers. Any other address is divided between brokers (``split``), which may be new: the caller
    creates those that are not among ``brokers``.
    ``current``: the ordinals of the brokers that hold the address already. ``brokers`` and
    ``used_router_credit`` must then exclude the address's own credits and bytes.

    Raises:
        QuotaExceeded: a credit limit of the space plan, its number of brokers, its bytes of a
        broker, or the credit of the topic's broker would be exceeded; the error names which.
    """
    uses = list(brokers)
    shares = split(request.broker_credit, request.partitions)
    _check_credits(uses, used_router_credit, limits, request.router_credit, sum(shares))
    if request.with_ordinal is not None:
        return (_beside_topic(uses, request),)
    if request.broker_credit == 0:
        return (Partition(None, request.router_credit, 0),)
    ordinals = _choose(uses, shares, limits, request, current)
    routers = _even(request.router_credit, len(shares))
    return tuple(
        Partition(ordinal, router, share)
        for ordinal, router, share in zip(ordinals, routers, shares, strict=True)
    )


def split(credit: int, partitions: int) -> list[int]:
    """Return ``credit`` divided into shares for different brokers, largest first.

    Below one whole broker there are ``partitions`` shares, as equal as possible. From one whole
    broker on, every share is a whole broker. Then there are at least ``partitions`` shares, and
    their sum may exceed ``credit``.
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


def check_beside(
    uses: Iterable[BrokerUse], limits: Limits, ordinal: int, credit: int, stored_bytes: int
) -> None:
    """Check that one more address fits the broker ``ordinal`` and the limits of the space plan.

    ``credit`` and ``stored_bytes`` are what the address needs on this broker. It needs no router
    credit.

    Raises:
        QuotaExceeded: the address does not fit; the error names the limit.
    """
    known = list(uses)
    _check_credits(known, 0, limits, 0, credit)
    _beside_topic(known, Request(0, credit, with_ordinal=ordinal))
    used = next((use.used_bytes for use in known if use.ordinal == ordinal), 0)
    _check_bytes(limits, used=used, asked=stored_bytes)


def _choose(
    uses: list[BrokerUse],
    shares: list[int],
    limits: Limits,
    request: Request,
    current: Collection[int],
) -> list[int]:
    """Return one broker ordinal for each of ``shares``, all different; some may be of new brokers.

    Of the brokers with enough free credit and bytes, a share gets one that holds the address
    already, else the fullest one. If no broker has enough, the share gets a new broker.
    """
    free = {use.ordinal: FULL - use.used_credit for use in uses}
    filled = {use.ordinal: use.used_bytes for use in uses}
    all_bytes = request.stored_bytes + request.companion_bytes
    needed = dict.fromkeys(request.companions, request.stored_bytes)
    _check_bytes(limits, used=0, asked=all_bytes)
    chosen: list[int] = []
    beside = dict.fromkeys(request.companions, 0)
    checks.require(
        {Resource.BROKER_CREDIT: FULL},
        Resource.BROKER_CREDIT,
        used=max(shares),
        asked=request.companion_credit,
    )
    for share in shares:
        fitting = [
            o
            for o, credit in free.items()
            if credit >= share + beside.get(o, request.companion_credit)
            and o not in chosen
            and _has_bytes(limits, filled.get(o, 0), needed.get(o, all_bytes))
        ]
        if not fitting:
            # The lowest unused ordinal: of ``len(free) + 1`` numbers at least one is unused.
            new = next(ordinal for ordinal in range(len(free) + 1) if ordinal not in free)
            fitting, free[new] = [new], FULL
        # The ordinal comes last in the key, so that ties do not depend on the order of ``uses``.
        chosen.append(min(fitting, key=lambda o: (o not in current, free[o], o)))
    if len(uses) < len(free) > limits.max_brokers:
        # If a broker has the credit, the bytes are what is missing: the refusal names them.
        with_credit = [use.used_bytes for use in uses if FULL - use.used_credit >= shares[-1]]
        _check_bytes(limits, used=min(with_credit, default=0), asked=all_bytes)
    checks.require(
        {Resource.SPACE_BROKERS: limits.max_brokers},
        Resource.SPACE_BROKERS,
        used=len(uses),
        asked=len(free) - len(uses),
    )
    return chosen


def _has_bytes(limits: Limits, used: int, asked: int) -> bool:
    return asked == 0 or limits.broker_bytes is None or used + asked <= limits.broker_bytes


def _check_bytes(limits: Limits, *, used: int, asked: int) -> None:
    if limits.broker_bytes is not None:
        checks.require(
            {Resource.BROKER_BYTES: limits.broker_bytes},
            Resource.BROKER_BYTES,
            used=used,
            asked=asked,
        )
