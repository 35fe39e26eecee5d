"""Newest readings and history of addresses: who sees them, at which cost, and what is refused."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from tenants.models import Address, AddressReading, AddressSpace, SpaceReading
from tests.suites.api.conftest import Cast, problem
from tests.support import domain

PATH = "/address-spaces/{}/addresses"


@pytest.fixture
def space(cast: Cast) -> AddressSpace:
    """A space with one read address, ``orders``."""
    row = domain.space(cast.tenant, "brokered")
    now = timezone.now().isoformat()
    SpaceReading.objects.create(space=row, answered={"broker-0": now})
    read(domain.address(row, "orders", "queue"))
    return row


def read(address: Address) -> None:
    oldest_at = (timezone.now() - timedelta(minutes=5)).isoformat()
    part = {"depth": 7, "stored_bytes": 700, "consumers": 2, "oldest_at": oldest_at}
    AddressReading.objects.create(
        address=address,
        parts={"broker-0": part},
        messages_in=9,
        messages_out=2,
        in_per_second=1.5,
        minute_at=timezone.now().replace(second=0, microsecond=0),
        minute_in=9,
        minute_out=2,
    )


def test_address_and_list_show_the_newest_reading_without_more_queries(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    path = cast.path(PATH.format(space.name))
    with CaptureQueriesContext(connection) as few:
        one = owner.get(path).json()["items"][0]
    for name in ("a", "b", "c"):
        read(domain.address(space, name, "queue"))
    domain.address(space, "never-read", "queue")
    with CaptureQueriesContext(connection) as many:
        rows = owner.get(path).json()["items"]

    assert len(many) == len(few)
    assert one["live"]["depth"] == 7
    assert (one["live"]["in_per_second"], one["live"]["producers"]) == (1.5, None)
    assert 295 <= one["live"]["oldest_seconds"] <= 305
    assert {row["address"]: bool(row["live"]) for row in rows}["never-read"] is False
    assert owner.get(f"{path}/orders").json()["live"]["consumers"] == 2


@pytest.mark.parametrize(
    ("span", "points"), [("1h", 60), ("24h", 1440), ("7d", 672), ("30d", 2880)]
)
def test_history_has_a_point_for_each_step(
    cast: Cast, owner: APIClient, space: AddressSpace, span: str, points: int
) -> None:
    body = owner.get(cast.path(f"{PATH.format(space.name)}/orders/history?span={span}")).json()

    assert len(body["points"]) == points
    assert body["points"][-1]["depth"] == 7
    if span == "1h":
        assert sum(point["messages_in"] for point in body["points"]) == 9


def test_unknown_span_is_refused(cast: Cast, owner: APIClient, space: AddressSpace) -> None:
    answer = owner.get(cast.path(f"{PATH.format(space.name)}/orders/history?span=1y"))

    problem(answer, 422, "history.span_unknown")


def test_address_whose_name_ends_like_the_path_is_still_found(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    domain.address(space, "orders/history", "queue")
    path = cast.path(f"{PATH.format(space.name)}/orders/history")

    assert owner.get(path).json()["address"] == "orders/history"
    assert "points" in owner.get(f"{path}?span=1h").json()
    assert owner.delete(path).status_code == 202


@pytest.mark.parametrize(
    ("who", "status"), [("viewer", 200), ("outsider", 404), ("anonymous", 401)]
)
def test_only_members_see_it(cast: Cast, space: AddressSpace, who: str, status: int) -> None:
    path = cast.path(f"{PATH.format(space.name)}/orders/history")

    assert cast.call(who).get(path).status_code == status


@pytest.mark.parametrize(("minutes", "is_stale"), [(1, False), (10, True)])
def test_an_old_reading_says_that_it_is_stale(
    cast: Cast, owner: APIClient, space: AddressSpace, minutes: int, is_stale: bool
) -> None:
    at = (timezone.now() - timedelta(minutes=minutes)).isoformat()
    SpaceReading.objects.filter(space=space).update(answered={"broker-0": at})
    path = cast.path(PATH.format(space.name))

    (listed,) = owner.get(path).json()["items"]

    assert listed["live"]["is_stale"] is is_stale
    assert owner.get(f"{path}/orders").json()["live"]["is_stale"] is is_stale
