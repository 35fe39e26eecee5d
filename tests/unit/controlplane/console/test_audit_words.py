"""Audit events read as plain sentences."""

import re

import pytest

from controlplane.console import audit_kinds, audit_words
from controlplane.core.models import AuditEvent
from tests.support.source_tree import ROOT


@pytest.mark.parametrize(
    ("action", "name", "words"),
    [
        ("address_space.create", "orders", "Created the space orders"),
        ("messaging_user.update", "bob", "Changed the messaging user bob"),
        ("messages.purge", "invoices", "Deleted all messages in invoices"),
        ("messages.purge.ended", "invoices", "Finished: deletion of all messages in invoices"),
        ("notifications.budget", "acme", "Changed the budget"),
        ("quota.alert", "acme", "Used a part of a limit that is reported"),
        ("robot.dance", "r2", "Dance: robot r2"),
    ],
)
def test_action_reads_as_a_sentence(action: str, name: str, words: str) -> None:
    assert audit_words.sentence(AuditEvent(action=action, subject_name=name)) == words


def test_an_instant_reads_as_a_time_in_utc() -> None:
    event = AuditEvent(before={}, after={"expires_at": "2026-11-26T14:22:58.025672+02:00"})

    assert audit_words.changes(event) == ["expires at: 26 Nov 2026, 12:22"]


def test_the_filter_offers_a_kind_for_every_recorded_action() -> None:
    paths = [
        path
        for part in ("controlplane", "tenants", "plans", "workers")
        for path in (ROOT / part).rglob("*.py")
    ]
    calls = r'\brecord(?:_all|_refusal)?\([^"()]*f?"([a-z_]+)\.'
    recorded = {name for path in paths for name in re.findall(calls, path.read_text())}
    offered = {prefix for kind in audit_kinds.KINDS.values() for prefix in kind.prefixes}

    assert len(recorded) > 15
    assert recorded - offered == set()


def test_an_alert_says_which_part_of_which_limit() -> None:
    after = {"resource": "messages_per_month", "level_percent": 80, "used": 8, "limit": 10}

    words = audit_words.sentence(AuditEvent(action="quota.alert", after=after))

    assert words == "Used 80 % of the limit of messages a month"


def test_what_people_do_with_their_accounts_has_sentences() -> None:
    text = "".join(path.read_text() for path in (ROOT / "controlplane/accounts").rglob("*.py"))
    recorded = set(re.findall(r'record(?:_refusal)?\(\s*"([a-z_]+\.[a-z_]+)"', text))

    assert len(recorded) > 10
    without = [a for a in recorded if ": " in audit_words.sentence(AuditEvent(action=a))]
    assert without == []


def test_changes_name_both_values_and_hide_secrets() -> None:
    event = AuditEvent(
        before={"role": "viewer", "zone": "UTC", "note": ""},
        after={"role": "admin", "zone": "UTC", "note": "new", "password": "***", "on": ["a", "b"]},
    )

    assert audit_words.changes(event) == [
        "role: viewer → admin",
        "note: new",
        "new password",
        "on: a; b",
    ]
