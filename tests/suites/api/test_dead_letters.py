"""Dead letters over the API: the address of a new space, the default target, what is deleted."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from tenants.models import Address, AddressSpace
from tests.suites.api.conftest import Cast, problem

WISH = {"name": "fresh", "type": "brokered", "plan": "brokered-small"}
QUEUE = {"type": "queue", "plan": "brokered-small-queue"}


def fresh(cast: Cast, client: APIClient, **more: Any) -> str:
    """Create a space and return the path of its addresses."""
    answer = client.post(cast.path("/address-spaces"), {**WISH, **more}, format="json")
    assert answer.status_code == 202, answer.content
    return cast.path("/address-spaces/fresh/addresses")


@pytest.mark.parametrize("more", [{}, {"dead_letters": None}, {"dead_letters": True}])
def test_a_new_queue_of_a_new_space_keeps_its_dead_letters(
    cast: Cast, owner: APIClient, more: dict[str, Any]
) -> None:
    path = fresh(cast, owner, **more)

    owner.post(path, {"address": "jobs", **QUEUE}, format="json")

    jobs = owner.get(f"{path}/jobs").json()
    assert (jobs["dead_letter"], jobs["deleted_when"]) == ("dead-letters", [])


def test_an_empty_name_exempts_one_address(cast: Cast, owner: APIClient) -> None:
    path = fresh(cast, owner)

    owner.post(path, {"address": "jobs", "dead_letter": "", **QUEUE}, format="json")

    jobs = owner.get(f"{path}/jobs").json()
    assert (jobs["dead_letter"], jobs["deleted_when"]) == ("", ["rejected", "expired"])


def test_a_space_without_them_has_no_default(cast: Cast, owner: APIClient) -> None:
    path = fresh(cast, owner, dead_letters=False)

    owner.post(path, {"address": "jobs", **QUEUE}, format="json")

    assert [row["address"] for row in owner.get(path).json()["items"]] == ["jobs"]
    assert owner.get(f"{path}/jobs").json()["deleted_when"] == ["rejected", "expired"]


def test_a_repeated_put_changes_nothing(cast: Cast, owner: APIClient) -> None:
    path = fresh(cast, owner)

    first = owner.put(f"{path}/jobs", QUEUE, format="json", headers={"If-None-Match": "*"})
    second = owner.put(f"{path}/jobs", QUEUE, format="json")

    assert (first.status_code, second.status_code) == (202, 200)
    assert second.json()["dead_letter"] == "dead-letters"


def test_an_existing_space_and_its_queue_stay_as_they_are(
    cast: Cast, owner: APIClient, space: AddressSpace, queue: Address
) -> None:
    path = cast.path("/address-spaces/main/addresses/orders/new")

    answer = owner.put(path, QUEUE, format="json")

    assert answer.status_code == 200
    assert answer.json()["dead_letter"] == ""


@pytest.mark.parametrize(
    ("who", "status", "code"),
    [("developer", 202, ""), ("viewer", 403, "denied"), ("outsider", 404, "missing")],
)
def test_who_may_create_the_space_with_them(cast: Cast, who: str, status: int, code: str) -> None:
    answer = cast.call(who).post(
        cast.path("/address-spaces"), {**WISH, "dead_letters": True}, format="json"
    )

    if code:
        problem(answer, status, code)
    assert answer.status_code == status
    assert Address.objects.count() == (not code)
