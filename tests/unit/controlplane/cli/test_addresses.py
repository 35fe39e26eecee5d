"""`waypost addresses create`: every setting of the API has an option, and none is invented."""

import json
from dataclasses import asdict
from typing import Any

import httpx
import pytest
import typer.main

from controlplane.api.addresses import AddressCreateSerializer
from controlplane.cli.app import app
from controlplane.core.address_types import AddressSettings
from controlplane.core.errors import Invalid
from tests.unit.controlplane.cli.conftest import Run

PLAIN = {"address": "q1", "type": "queue", "plan": "p"}


@pytest.fixture
def posted(run: Run, answers: dict[str, Any]) -> list[Any]:
    """The bodies of what was asked for."""
    found: list[Any] = []

    def post(request: httpx.Request) -> Any:
        assert request.headers["Idempotency-Key"]
        found.append(json.loads(request.content))
        return {"id": "op_x", "state": "Succeeded", "steps": []}

    answers["/tenants/acme/address-spaces/shop/addresses"] = post
    return found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("topic", "news"),
        ("message_ttl_ms", 60_000),
        ("max_delivery_attempts", 0),
        ("redelivery_delay_ms", 500),
        ("max_bytes", 1_000_000),
        ("dead_letter", "lost"),
    ],
)
def test_an_option_sets_its_field(run: Run, posted: list[Any], name: str, value: object) -> None:
    option = f"--{name.replace('_', '-')}"

    ended = run("addresses", "create", "shop", "q1", "--plan", "p", option, value)

    assert ended.exit_code == 0, ended.output
    assert posted == [{**PLAIN, name: value}]


def test_what_is_not_chosen_is_left_to_the_plan(run: Run, posted: list[Any]) -> None:
    run("addresses", "create", "shop", "q1", "--plan", "p")

    assert posted == [PLAIN]


def test_every_setting_of_the_api_has_an_option() -> None:
    # A label is an option each.
    settings = set(AddressCreateSerializer().fields) - {"address", "labels"}
    tree: Any = typer.main.get_command(app)

    options = {param.name for param in tree.commands["addresses"].commands["create"].params}

    assert settings <= options


@pytest.fixture
def changed(run: Run, answers: dict[str, Any]) -> list[Any]:
    """The bodies and generations of PUT requests; the API has a queue with two settings."""
    found: list[Any] = []
    path = "/tenants/acme/address-spaces/shop/addresses/q1"
    settings = asdict(AddressSettings(message_ttl_ms=5, max_bytes=9, dead_letter="lost"))
    row = {"type": "queue", "plan": "p", "generation": 3, "phase": "Active", **settings}

    def put(request: httpx.Request) -> Any:
        body = json.loads(request.content)
        found.append((body, request.headers["If-Match"]))
        is_same = {name: row[name] for name in body} == body
        return row if is_same else {"id": "op_x", "state": "Done", "steps": []}

    answers.update({f"GET {path}": row, f"PUT {path}": put})
    return found


def test_update_keeps_what_is_not_given(run: Run, changed: list[Any]) -> None:
    given = ("--max-bytes", 10, "--reset", "message-ttl-ms", "--reset", "dead_letter")
    ended = run("addresses", "update", "shop", "q1", *given)

    assert ended.exit_code == 0, ended.output
    ((body, tag),) = changed
    assert tag == '"7"'
    assert body == {"type": "queue", "plan": "p", **asdict(AddressSettings(max_bytes=10))}


def test_an_update_without_a_change_says_so(run: Run, changed: list[Any]) -> None:
    ended = run("addresses", "update", "shop", "q1", "--max-bytes", 9)

    assert (ended.exit_code, ended.output) == (0, "changing address q1: nothing to change\n")


def test_an_unknown_setting_is_refused(run: Run, changed: list[Any]) -> None:
    ended = run("addresses", "update", "shop", "q1", "--reset", "max-size")

    assert isinstance(ended.exception, Invalid)
    assert ended.exception.error_code == "setting.unknown"
    assert changed == []


POINT = {
    "at": "2026-11-23T10:00:00Z",
    "messages_in": 55,
    "messages_out": 5,
    "depth": 1234,
    "stored_bytes": None,
    "consumers": 2,
}


@pytest.mark.parametrize("span", ["1h", "24h", "7d", "30d"])
def test_history_has_a_row_for_each_step(run: Run, answers: dict[str, Any], span: str) -> None:
    path = f"/tenants/acme/address-spaces/shop/addresses/a%2Fb/history?span={span}"
    answers[path] = {"step_seconds": 60, "points": [POINT]}

    table = run("addresses", "history", "shop", "a/b", "--span", span)
    document = run("addresses", "history", "shop", "a/b", "--span", span, "-o", "json")

    assert table.exit_code == 0, table.output
    head, row = table.stdout.splitlines()
    assert "stored bytes" in head
    assert row.split() == ["2026-11-23", "10:00:00", "UTC", "55", "5", "1234", "-", "2"]
    assert json.loads(document.stdout) == answers[path]


@pytest.mark.parametrize(
    ("live", "rate", "read"),
    [
        ({"is_stale": False}, "2.5", "10:00:00 UTC"),
        ({"is_stale": True}, "not known", "10:00:00 UTC (old)"),
        ({}, "2.5", "10:00:00 UTC"),  # of a server of an older version
    ],
)
def test_the_list_says_how_old_a_reading_is(
    run: Run, answers: dict[str, Any], live: dict[str, Any], rate: str, read: str
) -> None:
    reading = {"depth": 7, "in_per_second": 2.5, "as_of": "2026-11-23T10:00:00Z", **live}
    row = {"address": "orders", "type": "queue", "plan": "p", "phase": "Active", "live": reading}
    answers["/tenants/acme/address-spaces/shop/addresses"] = {"items": [row], "next": None}

    ended = run("addresses", "list", "shop")

    assert rate in ended.stdout
    assert ("2.5" in ended.stdout) == (rate == "2.5")
    assert ended.stdout.rstrip().removesuffix("-").rstrip().endswith(read)  # and no labels
