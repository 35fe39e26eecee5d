"""What people read in tables: money, times and nested values; what a pipe gets is whole."""

import json
from typing import Any

import pytest

from controlplane.cli import cells, output
from controlplane.cli.output import Format
from tests.unit.controlplane.cli.conftest import Run

LONG = "word " * 60 + "x" * 200


@pytest.mark.parametrize(
    ("name", "value", "currency", "read"),
    [
        ("total_minor", 123_456, "EUR", "1,234.56 EUR"),
        ("total_minor", -5, "EUR", "-0.05 EUR"),
        ("total_minor", 1_234, "JPY", "1,234 JPY"),
        ("total_minor", 1_234, "KWD", "1.234 KWD"),
        ("total_minor", 0, "", "-"),
        ("total_minor", 12, "", "12"),
        ("percent", "10.000000000000", "", "10"),
        ("percent", "12.500000000000", "", "12.5"),
        ("percent", "100", "", "100"),
        ("percent", 50, "", "50"),
        ("percent", None, "", "-"),
        ("percent", "most", "", "most"),
        ("ends_at", "2026-11-21T19:48:54.123456Z", "", "2026-11-21 19:48:54 UTC"),
        ("ends_at", "2026-11-21T21:48:54+02:00", "", "2026-11-21 19:48:54 UTC"),
        ("ends_at", "soon", "", "soon"),
        ("failing_since", "2026-11-21T19:48:54.123456Z", "", "2026-11-21 19:48:54 UTC"),
        ("as_of", None, "", "-"),
        ("send_withdrawn", True, "", "yes"),
        ("pid", 12345, "", "12345"),
        ("name", "2026-11-21T19:48:54Z", "", "2026-11-21T19:48:54Z"),
        ("addresses", ["a", "b"], "", "a, b"),
        ("held_reasons", [], "", "-"),
        ("quota", {"limit": 3, "reason": "", "by": None}, "", "limit: 3"),
        ("tax", {"tax_minor": 190}, "EUR", "tax: 1.90 EUR"),
        ("held_reasons", [{"code": "a"}, {"code": "b"}], "", "code: a\ncode: b"),
    ],
)
def test_a_cell_reads_as_what_it_is(name: str, value: object, currency: str, read: str) -> None:
    assert cells.text(name, value, {"currency": currency}) == read


def test_the_head_of_an_amount_is_not_its_unit(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"total_minor": 1, "currency": "EUR"}]

    output.show_rows(rows, ["total_minor"], Format.TABLE)

    assert capfd.readouterr().out.split() == ["total", "0.01", "EUR"]


def test_a_line_break_in_a_body_is_no_part_of_its_text(capfd: pytest.CaptureFixture[str]) -> None:
    rows = [{"body": "a\nb; c", "properties": {"note": "d\r\ne"}}]

    output.show_rows(rows, ["body", "properties"], Format.TABLE)

    printed = capfd.readouterr().out
    assert "a␤b; c" in printed
    assert "note: d␍␤e" in printed


def test_json_keeps_what_the_api_said(capfd: pytest.CaptureFixture[str]) -> None:
    row = {"total_minor": 1, "currency": "EUR", "ends_at": "2026-11-21T19:48:54Z", "list": [1]}

    output.show_one(row, Format.JSON)

    assert json.loads(capfd.readouterr().out) == row


def test_a_pipe_gets_one_unbroken_line_for_a_row(capfd: pytest.CaptureFixture[str]) -> None:
    nested = [{"type": "Ready", "status": "True"}, {"type": "Full", "status": "False"}]

    output.show_rows([{"name": LONG, "conditions": nested}], ["name", "conditions"], Format.TABLE)

    head, row = capfd.readouterr().out.splitlines()
    assert head.split() == ["name", "conditions"]
    assert row.startswith(LONG)
    assert row.endswith("type: Ready, status: True; type: Full, status: False")


def test_a_pipe_gets_keys_and_values_whole(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    row = {"deletion_requested_at": None, "max_delivery_attempts_of_it": LONG}

    output.show_one(row, Format.TABLE)

    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith("deletion requested at ")
    assert second.startswith("max delivery attempts of it ")
    assert LONG in second


def test_who_may_use_what_is_a_sentence(run: Run, answers: dict[str, Any]) -> None:
    granted = [
        {"addresses": ["orders", "jobs"], "operations": ["send"]},
        {"addresses": ["#"], "operations": ["send", "recv"]},
    ]
    answers["/tenants/acme/address-spaces/shop/users"] = {
        "items": [{"name": "worker", "permissions": granted, "phase": "Active"}]
    }

    words = run("users", "list", "shop").stdout

    assert "send on orders jobs, send and recv on #" in words


def test_a_user_is_shown_with_its_newest_reading(run: Run, answers: dict[str, Any]) -> None:
    live = {"connections": 2, "links": 3, "sent_per_second": 2.5, "received_per_second": None}
    path = "/tenants/acme/address-spaces/shop/users"
    row = {"name": "till", "permissions": [], "phase": "Active", "live": live}
    answers[f"{path}/till"] = row
    answers[path] = {"items": [row], "next": None}

    shown = run("users", "show", "shop", "till").stdout
    listed = run("users", "list", "shop").stdout

    assert "connections: 2, links: 3, sent per second: 2.5" in shown
    assert "connections" in listed
    assert "2.5" in listed
