"""Limits: which hold, what they refuse, in which words."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controlplane.core.errors import QuotaExceeded
from plans.quotas import checks
from plans.quotas.resources import TENANT_RESOURCES, WORDS, Resource

NOW = datetime(2026, 4, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Plan:
    quotas: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Override:
    resource: str
    amount: int
    expires_at: datetime | None = None


def is_allowed(limits: checks.Limits, resource: Resource, *, used: int, asked: int) -> bool:
    try:
        checks.require(limits, resource, used=used, asked=asked)
    except QuotaExceeded:
        return False
    return True


def test_effective_takes_the_plan_where_nothing_overrides_it() -> None:
    assert checks.effective(Plan({"spaces": 2}), [], NOW) == {"spaces": 2}


def test_effective_lets_an_override_lower_and_add_limits() -> None:
    overrides = [Override("spaces", 1), Override("members", 0)]

    assert checks.effective(Plan({"spaces": 2}), overrides, NOW) == {"spaces": 1, "members": 0}


@pytest.mark.parametrize(("expires_at", "limit"), [(NOW + SECOND, 9), (NOW, 2), (NOW - SECOND, 2)])
def test_effective_ends_an_override_at_the_instant_it_names(
    expires_at: datetime, limit: int
) -> None:
    overrides = [Override("spaces", 9, expires_at)]

    assert checks.effective(Plan({"spaces": 2}), overrides, NOW) == {"spaces": limit}


def test_require_names_resource_limit_used_and_asked() -> None:
    with pytest.raises(QuotaExceeded, match="2 address spaces are allowed, 2 are used") as refusal:
        checks.require({"spaces": 2}, Resource.SPACES, used=2, asked=1)

    assert refusal.value.fields == {
        "resource": "spaces",
        "limit": 2,
        "used": 2,
        "asked": 1,
        "raised_by": "the operator, or a bigger plan",
    }


def test_require_says_that_a_space_plan_raises_a_limit_of_a_space() -> None:
    with pytest.raises(QuotaExceeded) as refusal:
        checks.require({"space.addresses": 1}, Resource.SPACE_ADDRESSES, used=1, asked=1)

    assert refusal.value.fields["raised_by"] == "a bigger space plan"


def test_require_lets_nothing_more_pass_when_a_limit_was_lowered_below_the_use() -> None:
    assert is_allowed({"spaces": 1}, Resource.SPACES, used=5, asked=0)
    assert not is_allowed({"spaces": 1}, Resource.SPACES, used=5, asked=1)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
@example(limit=3, used=2, asked=1)
@example(limit=3, used=2, asked=2)
def test_require_refuses_exactly_what_would_pass_the_limit(
    limit: int, used: int, asked: int
) -> None:
    allowed = is_allowed({"members": limit}, Resource.MEMBERS, used=used, asked=asked)

    assert allowed == (used + asked <= limit)


def test_require_allows_everything_where_there_is_no_limit() -> None:
    assert is_allowed({}, Resource.SPACES, used=10**9, asked=10**9)


def test_exceeded_tells_only_what_is_over_its_limit() -> None:
    used = {Resource.SPACES: 3, Resource.MEMBERS: 2, Resource.USERS: 7}

    assert checks.exceeded({"spaces": 2, "members": 2}, used) == {Resource.SPACES: (2, 3)}


def test_every_resource_has_words_and_only_spaces_have_dotted_names() -> None:
    assert set(WORDS) == set(Resource)
    assert Resource.SPACE_ADDRESSES not in TENANT_RESOURCES
    assert Resource.MESSAGES_PER_MONTH in TENANT_RESOURCES


@pytest.mark.parametrize(
    ("resource", "raised_by"),
    [
        (Resource.SPACES, "the operator, or a bigger plan"),
        (Resource.SPACE_ADDRESSES, "a bigger space plan"),
    ],
)
def test_a_refusal_says_what_to_do(resource: Resource, raised_by: str) -> None:
    with pytest.raises(QuotaExceeded) as refused:
        checks.require({resource: 2000}, resource, used=1999, asked=1002)

    assert refused.value.message == (
        f"2,000 {WORDS[resource]} are allowed, 1,999 are used, 1,002 more requested. "
        f"Delete what you do not need, or get a higher limit from {raised_by}."
    )
    assert refused.value.fields == {
        "resource": resource.value,
        "limit": 2000,
        "used": 1999,
        "asked": 1002,
        "raised_by": raised_by,
    }


def test_an_override_without_an_end_counts_for_ever() -> None:
    assert checks.is_in_force(Override("spaces", 1), NOW)


def test_a_limit_can_be_used_up() -> None:
    assert is_allowed({"spaces": 3}, Resource.SPACES, used=2, asked=1)
    assert not is_allowed({"spaces": 3}, Resource.SPACES, used=2, asked=2)


def test_a_limit_of_nothing_is_a_limit() -> None:
    assert not is_allowed({"spaces": 0}, Resource.SPACES, used=0, asked=1)


def test_exceeded_has_the_order_of_what_is_used() -> None:
    used = {Resource.USERS: 9, Resource.SPACES: 8, Resource.MEMBERS: 1}
    limits = {"spaces": 7, "users": 8, "members": 1}

    assert list(checks.exceeded(limits, used).items()) == [
        (Resource.USERS, (8, 9)),
        (Resource.SPACES, (7, 8)),
    ]
