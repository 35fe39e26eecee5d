"""The registry of events: complete rows, and texts that have all their fields."""

import json
import re

import pytest
from django.urls import resolve

from tenants.models import Role
from tenants.notifications import rendering
from tenants.notifications.event_kind import EventKind
from tenants.notifications.event_kinds import BY_KEY, REGISTRY
from tenants.notifications.models import Event
from tenants.notifications.preferences import may_get

BY_NAME = pytest.mark.parametrize("kind", REGISTRY, ids=lambda kind: kind.key)


def test_keys_are_unique() -> None:
    assert len(BY_KEY) == len(REGISTRY)


@BY_NAME
def test_a_sample_has_every_field_of_the_texts(kind: EventKind) -> None:
    made = rendering.sample(kind, "Acme", "acme")

    assert "?" not in made.subject + made.text + made.url
    assert "{" not in made.subject + made.text + made.url
    assert made.subject[0].isupper() or made.subject[0].isdigit() or kind.is_addressed
    assert made.text.endswith(".")


@BY_NAME
def test_a_page_of_an_event_exists(kind: EventKind) -> None:
    made = rendering.sample(kind, "Acme", "acme")
    assert re.match(r"https?://[^/]+/", made.url)
    if "{link}" not in kind.path:  # the page of an invitation belongs to its sender
        page = resolve(re.sub(r"^https?://[^/]+", "", made.url))
        assert page.func.__module__.startswith("controlplane.console.views.")


@pytest.mark.parametrize(
    "kind", [kind for kind in REGISTRY if kind.to_staff], ids=lambda kind: kind.key
)
def test_staff_get_the_name_of_the_organization_and_a_page_that_they_may_open(
    kind: EventKind,
) -> None:
    made = rendering.sample(kind.for_staff(), "Acme", "acme")

    assert made.subject.startswith("Acme: ")
    assert made.text.endswith(" The organization is Acme (acme).")
    path = re.sub(r"^https?://[^/]+", "", made.url)
    assert resolve(path).func.__module__.startswith("controlplane.console.views.staff_")
    assert "?" not in made.url


@BY_NAME
def test_the_members_who_get_it_may_see_it(kind: EventKind) -> None:
    assert all(may_get(role, kind) for role in kind.roles)
    assert kind.is_addressed or Role.OWNER in kind.roles


def test_a_missing_field_shows_and_does_not_fail() -> None:
    made = rendering.message(Event(kind="alarm.raised", fields={"space": "main"}))

    assert made.subject == "Alarm: ? in main: ?"


@pytest.mark.parametrize("raised_at", ["2026-12-01T02:00:30.123456Z", "2026-12-01 02:00"])
def test_people_read_a_short_time_also_of_an_event_of_an_older_version(raised_at: str) -> None:
    fields = {**BY_KEY["alarm.cleared"].sample, "tenant": "a", "raised_at": raised_at}
    made = rendering.message(Event(kind="alarm.cleared", fields=fields))

    assert made.text.endswith("It began at 2026-12-01 02:00 UTC.")


def test_a_sentence_that_an_older_version_did_not_write_is_left_out() -> None:
    kind = BY_KEY["invoice.issued"]
    fields = {name: value for name, value in kind.sample.items() if name != "to_pay"}
    event = Event(kind="invoice.issued", fields={**fields, "tenant": "a", "organization": "A"})

    made = rendering.message(event)

    assert made.text == "The invoice EU-000042 of A is issued."
    assert made.subject == "Invoice EU-000042: 119.00 EUR to pay"
    event.fields["to_pay"] = "There is nothing to pay."
    assert rendering.message(event).text.endswith("is issued. There is nothing to pay.")


def test_a_line_break_in_a_name_adds_no_header() -> None:
    fields = {"space": "main\r\nBcc: all@b.test", "address": "q", "value_words": "1 message"}
    made = rendering.message(Event(kind="alarm.raised", fields=fields))

    assert "\n" not in made.subject
    assert "\r" not in made.subject


def test_html_is_escaped() -> None:
    fields = {"space": "<script>", "address": "q", "value_words": "1 message"}

    assert "<script>" not in rendering.message(Event(kind="alarm.raised", fields=fields)).html


def test_a_body_of_a_webhook_has_type_time_and_fields() -> None:
    from datetime import UTC, datetime

    event = Event(
        kind="invoice.issued",
        fields={**BY_KEY["invoice.issued"].sample, "tenant": "acme", "organization": "Acme"},
        occurred_at=datetime(2026, 12, 1, 2, tzinfo=UTC),
    )
    body = json.loads(rendering.webhook_body(event))

    assert body["type"] == "invoice.issued"
    assert body["timestamp"] == "2026-12-01T02:00:00.000000Z"
    assert body["data"]["number"] == "EU-000042"
    assert body["data"]["tenant"] == "acme"
    assert body["data"]["severity"] == "info"
