"""Idempotency-Key: once done, alike answered; crash-safe; nobody reads another's answer."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from controlplane.core import idempotency
from controlplane.core.models import IdempotencyKey, Operation
from tenants.actions import address_spaces
from tenants.models import AddressSpace, ApiToken
from tests.suites.api.conftest import problem

WISH = {"name": "main", "type": "brokered", "plan": "brokered-small"}


def make(client, cast, key="k1", **changes):
    return client.post(cast.path("/address-spaces"), {**WISH, **changes}, HTTP_IDEMPOTENCY_KEY=key)


def test_same_request_is_done_once_and_answered_alike(cast, owner):
    first = make(owner, cast)
    second = make(owner, cast)

    assert (first.status_code, second.status_code) == (202, 202)
    assert second.json() == first.json()
    assert second["Location"] == first["Location"]
    assert second["Idempotent-Replayed"] == "true"
    assert "Idempotent-Replayed" not in first
    assert AddressSpace.objects.count() == Operation.objects.count() == 1


def test_without_a_key_a_repetition_is_a_conflict(cast, owner):
    owner.post(cast.path("/address-spaces"), WISH)

    problem(owner.post(cast.path("/address-spaces"), WISH), 409, "address_space.exists")


@pytest.mark.parametrize("changes", [{"name": "other"}, {"plan": "brokered-medium"}])
def test_key_with_another_body_is_refused(cast, owner, changes):
    make(owner, cast)

    problem(make(owner, cast, **changes), 409, "idempotency_key.reused")
    assert AddressSpace.objects.count() == 1


def test_key_with_another_path_is_refused(cast, owner, space):
    make(owner, cast, name="second")

    answer = owner.post(
        cast.path("/address-spaces/main/addresses"),
        {**WISH, "name": "second"},
        HTTP_IDEMPOTENCY_KEY="k1",
    )

    problem(answer, 409, "idempotency_key.reused")


def test_order_of_fields_makes_no_other_request(cast, owner):
    make(owner, cast)

    reversed_wish = dict(reversed(WISH.items()))
    answer = owner.post(cast.path("/address-spaces"), reversed_wish, HTTP_IDEMPOTENCY_KEY="k1")

    assert answer["Idempotent-Replayed"] == "true"


def test_refusal_is_not_kept(cast, owner):
    problem(make(owner, cast, plan="gold"), 404, "space_plan.unknown")

    assert make(owner, cast).status_code == 202


def test_failure_after_the_change_undoes_it_and_frees_the_key(cast, owner, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(idempotency, "keep", lambda key, answer: 1 / 0)
        problem(make(owner, cast), 500, "internal")
    assert not AddressSpace.objects.exists()

    assert make(owner, cast).status_code == 202


def test_keys_of_different_callers_do_not_meet(cast, owner):
    make(owner, cast)

    answer = make(cast.call("developer"), cast)

    problem(answer, 409, "address_space.exists")


def test_replay_still_asks_for_the_permission(cast, owner):
    make(owner, cast)
    cast.people["owner"].memberships.update(role="viewer")

    problem(make(owner, cast), 403, "denied")


def test_key_is_free_again_after_a_day(cast, owner):
    make(owner, cast)
    IdempotencyKey.objects.update(
        created_at=timezone.now() - idempotency.LIFETIME - timedelta(seconds=1)
    )

    answer = make(owner, cast, name="later")

    assert (answer.status_code, IdempotencyKey.objects.count()) == (202, 1)


def test_kept_answer_hides_what_it_holds(cast, owner):
    body = {"name": "ci", "role": "viewer"}
    answer = owner.post(cast.path("/tokens"), body, HTTP_IDEMPOTENCY_KEY="t1")
    again = owner.post(cast.path("/tokens"), body, HTTP_IDEMPOTENCY_KEY="t1")

    token = answer.json()["token"]
    assert again.json()["token"] == token
    assert ApiToken.objects.count() == 1
    assert token not in str(IdempotencyKey.objects.values())


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb", "é"])
def test_illegal_key_is_400(cast, owner, key):
    problem(make(owner, cast, key=key), 400, "idempotency_key.invalid")


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_two_at_once_are_one(cast, monkeypatch):
    """The second waits for the first and gets its answer, whatever the timing."""
    begun = threading.Event()
    create = address_spaces.create

    def slow_create(**wish):
        begun.set()
        threading.Event().wait(0.3)
        return create(**wish)

    monkeypatch.setattr(address_spaces, "create", slow_create)
    client, answers = cast.call("owner"), []

    def call():
        answers.append(make(client, cast))
        connection.close()

    first, second = threading.Thread(target=call), threading.Thread(target=call)
    first.start()
    begun.wait(5)
    second.start()
    first.join()
    second.join()

    assert [each.status_code for each in answers] == [202, 202]
    assert answers[0].json() == answers[1].json()
    assert AddressSpace.objects.count() == 1
