"""Behind an invoice on the command line: days of a line, samples in a file, why it differs."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.rest_client import Api, OperationFailed
from tests.unit.controlplane.cli.conftest import Run

INVOICE = "/tenants/acme/invoices/INV-1"
READINGS = f"{INVOICE}/sample-readings"
STEP = {
    "starts_at": "2026-10-01T00:00:00Z",
    "ends_at": "2026-10-02T00:00:00Z",
    "used_base": 7_200_000,
    "included_base": 3_600_000,
    "billed_base": 3_600_000,
}
LINE = {
    "position": 2,
    "description": "Connection time",
    "meter": "connection_ms",
    "unit": "connection-hours",
    "base_per_unit": 3_600_000,
    "time_zone": "UTC",
    "is_exact": True,
    "steps": [STEP],
}


def test_a_line_is_shown_by_days_in_units_that_people_read(
    run: Run, answers: dict[str, Any]
) -> None:
    answers[f"{INVOICE}/lines/2"] = LINE

    shown = run("invoices", "line", "INV-1", "2").stdout.splitlines()

    assert shown[1].split()[-4:] == ["2", "1", "3600000", "connection-hours"]
    assert shown[-1] == "Connection time, UTC: they add up to the line"
    assert json.loads(run("invoices", "line", "INV-1", "2", "-o", "json").stdout) == LINE


def test_a_meter_that_only_a_newer_server_knows_is_shown_in_base_units(
    run: Run, answers: dict[str, Any]
) -> None:
    answers[f"{INVOICE}/lines/2"] = {**LINE, "meter": "messages_seen"}

    shown = run("invoices", "line", "INV-1", "2").stdout.splitlines()

    assert shown[1].split()[-3:] == ["7,200,000", "3,600,000", "3600000"]


def test_a_day_is_asked_for_and_what_is_none_refused(run: Run, answers: dict[str, Any]) -> None:
    asked: list[dict[str, str]] = []

    def get(request: httpx.Request) -> dict[str, Any]:
        asked.append(dict(request.url.params))
        return {**LINE, "is_exact": False}

    answers[f"{INVOICE}/lines/2"] = get

    shown = run("invoices", "line", "INV-1", "2", "--day", "2026-10-31").stdout

    assert asked == [{"day": "2026-10-31"}]
    assert "usage has changed since the invoice was made" in shown
    assert run("invoices", "line", "INV-1", "2", "--day", "monday").exit_code == 2


def test_samples_are_written_reading_by_reading(
    run: Run, answers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[dict[str, Any]] = []

    def post(request: httpx.Request) -> dict[str, Any]:
        bodies.append(json.loads(request.content))
        return {"id": "op", "state": "Succeeded", "subject_id": f"srd_{len(bodies)}"}

    answers[READINGS] = post
    reading = {"n_samples": 3, "sample_hash": "ab", "from_samples": {}, "hours": []}
    for n, values in ((1, [{"seq": 1}, {"seq": 2}]), (2, [{"seq": 3}])):
        answers[f"{READINGS}/srd_{n}"] = {**reading, "id": f"srd_{n}"}
        items = [{"position": 0, "values": value} for value in values]
        answers[f"{READINGS}/srd_{n}/samples"] = {"items": items, "next": None}
    monkeypatch.setattr(Api, "wait", lambda *_, **__: {})
    file = tmp_path / "samples.jsonl"

    ended = run("invoices", "samples", "INV-1", "--to", file, "--from", "2026-10-01")

    assert [json.loads(line)["seq"] for line in file.read_text().splitlines()] == [1, 2, 3]
    assert [body["first"] for body in bodies] == [0, 2]
    assert {body["starts_at"] for body in bodies} == {"2026-10-01T00:00:00+00:00"}
    assert ended.stdout == f"wrote {file}: 3 samples ab\n"


def test_samples_that_cannot_be_read_say_why(
    run: Run, answers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationFailed("A file is gone.", code="metering.table_replaced")

    answers[READINGS] = {"id": "op", "state": "Running", "subject_id": "srd_1"}
    monkeypatch.setattr(Api, "wait", fail)

    ended = run("invoices", "samples", "INV-1", "--to", tmp_path / "x")

    assert isinstance(ended.exception, OperationFailed)


def test_a_change_is_told_part_by_part_with_its_sum(run: Run, answers: dict[str, Any]) -> None:
    change = {
        "older": {"payable_minor": 100},
        "newer": {"payable_minor": 350},
        "currency": "EUR",
        "difference_minor": 250,
        "parts": [
            {"caused_by": "price", "meter": "messages", "title": "Messages", "amount_minor": 250,
             "words": "dearer"}
        ],
    }  # fmt: skip
    asked: list[dict[str, str]] = []

    def get(request: httpx.Request) -> dict[str, Any]:
        asked.append(dict(request.url.params))
        return change

    answers[f"{INVOICE}/change"] = get

    shown = run("invoices", "explain", "2026-09", "INV-1").stdout

    assert asked == [{"from": "2026-09"}]
    assert "dearer" in shown
    assert shown.count("2.50 EUR") == 2
    assert "2026-09: 1.00 EUR, INV-1: 3.50 EUR" in shown
    assert json.loads(run("invoices", "explain", "a", "INV-1", "-o", "json").stdout) == change
