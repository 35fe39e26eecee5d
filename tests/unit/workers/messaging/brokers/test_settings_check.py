"""By what a broker answers we know whether it has loaded the file with the desired users."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from workers.messaging.brokers import desired, settings_check
from workers.messaging.brokers.desired import DesiredBroker, DesiredUser, Permission
from workers.messaging.certificates import KeyPair
from workers.messaging.management import ManagementClient

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
    """Answers every request with these settings, as a broker's match does."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings

    def try_all(self, requests: list[object]) -> list[str]:
        return [json.dumps(self._settings) for _ in requests]


def loaded(broker: DesiredBroker, settings: dict[str, Any]) -> bool:
    client = cast(ManagementClient, Answering(settings))
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
