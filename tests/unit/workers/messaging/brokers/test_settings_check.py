"""By what a broker answers we know whether it has loaded the file with the desired users."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from workers.messaging.brokers import desired, settings_check
from workers.messaging.brokers.desired import DesiredBroker, DesiredUser, Permission
from workers.messaging.certificates import KeyPair
from workers.messaging.management import ManagementClient, Request

ALICE = DesiredUser(
    "alice",
    {"SCRAM-SHA-256": "first"},
    [Permission(["#"], ["send"])],
    datetime(2026, 11, 1, tzinfo=UTC),
)
NOBODY = DesiredBroker(
    public=True,
    addresses=[],
    users=[],
    send_withdrawn=False,
    server=KeyPair("", ""),
    authority_pem="",
)
WITH_ALICE = replace(NOBODY, users=[ALICE])


class Answering:
    """Answers requests of a match with its settings, and with none for all other matches."""

    def __init__(self, settings: dict[str, dict[str, Any]]) -> None:
        self._settings = settings

    def try_all(self, requests: list[Request]) -> list[str]:
        return [json.dumps(self._settings.get(str(one.arguments[0]), {})) for one in requests]


def loaded(
    broker: DesiredBroker, settings: dict[str, Any], throttle: dict[str, Any] | None = None
) -> bool:
    shown = {desired.USERS_MATCH: settings, desired.THROTTLE_MATCH: throttle or {}}
    client = cast(ManagementClient, Answering(shown))
    return settings_check.has_loaded_users(client, broker)


def test_the_file_with_the_users_is_known_by_its_revision() -> None:
    revision = desired.users_revision(WITH_ALICE)

    assert loaded(WITH_ALICE, {"expiryDelay": revision})
    assert not loaded(WITH_ALICE, {"expiryDelay": revision + 1})
    assert not loaded(WITH_ALICE, {})


def test_the_last_user_is_gone_only_when_no_revision_is_loaded() -> None:
    assert loaded(NOBODY, {})
    assert loaded(NOBODY, {"expiryDelay": -1})
    assert not loaded(NOBODY, {"expiryDelay": desired.users_revision(WITH_ALICE)})


def test_a_throttle_and_its_end_are_known_by_the_percentage_that_is_loaded() -> None:
    throttled = replace(NOBODY, throttle_percent=10)

    assert loaded(throttled, {}, {"expiryDelay": 10})
    assert not loaded(throttled, {}, {"expiryDelay": 20})
    assert not loaded(throttled, {})
    assert not loaded(NOBODY, {}, {"expiryDelay": 10})


@pytest.mark.parametrize(
    "other",
    [
        replace(ALICE, verifiers={"SCRAM-SHA-256": "second"}),
        replace(ALICE, since=datetime(2026, 11, 2, tzinfo=UTC)),
        replace(ALICE, permissions=[Permission(["#"], ["recv"])]),
        replace(ALICE, name="bob"),
    ],
    ids=["password", "same name", "permission", "name"],
)
def test_another_user_is_another_revision(other: DesiredUser) -> None:
    changed = replace(NOBODY, users=[other])

    assert desired.users_revision(changed) != desired.users_revision(WITH_ALICE)
