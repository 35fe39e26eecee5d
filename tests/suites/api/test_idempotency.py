"""Idempotency-Key: once done, alike answered; crash-safe; nobody reads another's answer."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.core import idempotency
from controlplane.core.models import IdempotencyKey, Operation
from tenants.actions import address_spaces
from tenants.models import AddressSpace, ApiToken
from tests.suites.api.conftest import Cast, problem
from tests.support.answers import Answer

WISH = {"name": "main", "type": "brokered", "plan": "brokered-small"}


def make(client: Client, cast: Cast, key: str = "k1", **changes: object) -> Answer:
    return client.post(cast.path("/address-spaces"), {**WISH, **changes}, HTTP_IDEMPOTENCY_KEY=key)


def test_same_request_is_done_once_and_answered_alike(cast: Cast, owner: APIClient) -> None:
    first = make(owner, cast)
    second = make(owner, cast)

    assert (first.status_code, second.status_code) == (202, 202)
    assert second.json() == first.json()
    assert second["Location"] == first["Location"]
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert AddressSpace.objects.count() == 1
    kinds = Operation.objects.values_list("kind", flat=True)
    assert sorted(kinds) == ["address.create", "address_space.create"]  # its dead letters


def test_without_a_key_a_repetition_is_a_conflict(cast: Cast, owner: APIClient) -> None:
    owner.post(cast.path("/address-spaces"), WISH)

    problem(owner.post(cast.path("/address-spaces"), WISH), 409, "address_space.exists")


@pytest.mark.parametrize("changes", [{"name": "other"}, {"plan": "brokered-medium"}])
def test_key_with_another_body_is_refused(
    cast: Cast, owner: APIClient, changes: dict[str, str]
) -> None:
    make(owner, cast)

    problem(make(owner, cast, **changes), 409, "idempotency_key.reused")
    assert AddressSpace.objects.count() == 1


def test_key_with_another_path_is_refused(
    cast: Cast, owner: APIClient, space: AddressSpace
) -> None:
    make(owner, cast, name="second")

    answer = owner.post(
        cast.path("/address-spaces/main/addresses"),
        {**WISH, "name": "second"},
        HTTP_IDEMPOTENCY_KEY="k1",
    )

    problem(answer, 409, "idempotency_key.reused")


def test_order_of_fields_makes_no_other_request(cast: Cast, owner: APIClient) -> None:
    make(owner, cast)

    reversed_wish = dict(reversed(WISH.items()))
    answer = owner.post(cast.path("/address-spaces"), reversed_wish, HTTP_IDEMPOTENCY_KEY="k1")

    assert answer["Idempotent-Replayed"] == "true"


def test_refusal_is_not_kept(cast: Cast, owner: APIClient) -> None:
    problem(make(owner, cast, plan="gold"), 422, "space_plan.unknown")

    assert make(owner, cast).status_code == 202


def test_failure_after_the_change_undoes_it_and_frees_the_key(
    cast: Cast, owner: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(idempotency, "keep", lambda key, answer: 1 / 0)
        problem(make(owner, cast), 500, "internal")
    assert not AddressSpace.objects.exists()

    assert make(owner, cast).status_code == 202


def test_keys_of_different_callers_do_not_meet(cast: Cast, owner: APIClient) -> None:
    make(owner, cast)

    answer = make(cast.call("developer"), cast)

    problem(answer, 409, "address_space.exists")


def test_replay_still_asks_for_the_permission(cast: Cast, owner: APIClient) -> None:
    make(owner, cast)
    cast.people["owner"].memberships.update(role="viewer")

    problem(make(owner, cast), 403, "denied")


def test_key_is_free_again_after_a_day(cast: Cast, owner: APIClient) -> None:
    make(owner, cast)
    IdempotencyKey.objects.update(
        created_at=timezone.now() - idempotency.LIFETIME - timedelta(seconds=1)
    )

    answer = make(owner, cast, name="later")

    assert (answer.status_code, IdempotencyKey.objects.count()) == (202, 1)


def test_kept_answer_hides_what_it_holds(cast: Cast, owner: APIClient) -> None:
    body = {"name": "ci", "role": "viewer"}
    answer = owner.post(cast.path("/tokens"), body, HTTP_IDEMPOTENCY_KEY="t1")
    again = owner.post(cast.path("/tokens"), body, HTTP_IDEMPOTENCY_KEY="t1")

    token = answer.json()["token"]
    assert again.json() == {**answer.json(), "token": None}
    assert ApiToken.objects.count() == 1
    assert token not in str(IdempotencyKey.objects.values())


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "é"])
def test_illegal_key_is_400(cast: Cast, owner: APIClient, key: str) -> None:
    problem(make(owner, cast, key=key), 400, "idempotency_key.invalid")


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_two_at_once_are_one(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for the first and gets its answer, whatever the timing."""
    begun = threading.Event()
    create = address_spaces.create

    def slow_create(**wish: Any) -> tuple[AddressSpace, Operation]:
        begun.set()
        threading.Event().wait(0.3)
        return create(**wish)

    monkeypatch.setattr(address_spaces, "create", slow_create)
    client, answers = cast.call("owner"), []

    def call() -> None:
        answers.append(make(client, cast))
        connection.close()

    first, second = threading.Thread(target=call), threading.Thread(target=call)
    first.start()
    begun.wait(60)
    second.start()
    first.join()
    second.join()

    assert [answer.status_code for answer in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    assert AddressSpace.objects.count() == 1
