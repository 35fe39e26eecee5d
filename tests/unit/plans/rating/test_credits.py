"""Which grants pay an invoice, in which order."""

from datetime import UTC, datetime, timedelta

import pytest

from plans.rating import credits
from plans.rating.credits import PREPAID, PROMOTIONAL, Grant, Use

AT = datetime(2026, 5, 1, tzinfo=UTC)
LATER = AT + timedelta(microseconds=1)


def grant(
    name: str, kind: str = PREPAID, left: int = 100, ends: datetime | None = None, granted: int = 1
) -> Grant:
    return Grant(name, kind, left, ends, granted)


def test_promotional_credit_pays_first_then_what_expires_first_then_the_oldest() -> None:
    month = AT + timedelta(days=30)
    grants = [
        grant("last", granted=9),
        grant("never", granted=2),
        grant("soon", ends=LATER, granted=8),
        grant("month", ends=month, granted=1),
        grant("gift", PROMOTIONAL, granted=10),
        grant("first gift", PROMOTIONAL, ends=month, granted=11),
    ]

    uses = credits.burn(10_000, grants, AT)

    assert [use.grant.id for use in uses] == [
        "first gift", "gift", "soon", "month", "never", "last",
    ]  # fmt: skip
    assert {use.used_minor for use in uses} == {100}


@pytest.mark.parametrize(
    ("due", "used"),
    [
        (-1, []),
        (0, []),
        (1, [1]),
        (100, [100]),
        (101, [100, 1]),
        (200, [100, 100]),
        (250, [100, 100]),
    ],
)
def test_grants_pay_no_more_than_is_due(due: int, used: list[int]) -> None:
    grants = [grant("a", granted=1), grant("b", granted=2)]

    uses = credits.burn(due, grants, AT)

    assert [use.used_minor for use in uses] == used
    assert uses == tuple(Use(*of) for of in zip(grants, used, strict=False))


def test_a_grant_of_one_minor_unit_pays_it() -> None:
    assert [use.used_minor for use in credits.burn(5, [grant("a", left=1)], AT)] == [1]


def test_a_grant_that_has_expired_or_is_used_up_lets_the_next_one_pay() -> None:
    grants = [
        grant("expired", ends=AT - timedelta(days=1)),
        grant("now", ends=AT),
        grant("empty", ends=LATER, left=0),
        grant("valid", ends=LATER, granted=2),
    ]

    [use] = credits.burn(60, grants, AT)

    assert (use.grant.id, use.used_minor) == ("valid", 60)
