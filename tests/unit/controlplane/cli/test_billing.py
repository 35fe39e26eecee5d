"""Invoices and usage on the command line: readable amounts, the right file, an answer to verify."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from controlplane.cli import billing
from controlplane.core.errors import WaypostError
from controlplane.rest_client import Api, OperationFailed
from tests.unit.controlplane.cli.conftest import Run

INVOICES = "/tenants/acme/invoices"
ROW = {
    "number": "INV-1",
    "id": "inv_x",
    "state": "issued",
    "starts_at": "2026-10-01T00:00:00Z",
    "ends_at": "2026-11-01T00:00:00Z",
    "currency": "EUR",
    "total_minor": 123456,
    "outstanding_minor": 99999,
}
LINE = {
    "position": 1,
    "description": "Messages",
    "quantity": "1234.500000000000",
    "unit": "thousand",
    "amount_minor": 99,
}


def test_list_shows_amounts_as_money(run: Run, answers: dict[str, Any]) -> None:
    answers[INVOICES] = {"items": [ROW], "next": None}

    shown = run("invoices", "list")

    assert "1,234.56 EUR" in shown.stdout
    assert "999.99 EUR" in shown.stdout
    assert "2026-10-01 00:00:00 UTC" in shown.stdout
    assert json.loads(run("invoices", "list", "-o", "json").stdout) == [ROW]


def test_a_list_has_no_total_of_an_invoice_that_is_still_closing(
    run: Run, answers: dict[str, Any]
) -> None:
    closing = {
        **ROW, "state": "closing", "currency": "", "total_minor": 0, "outstanding_minor": 0
    }  # fmt: skip
    answers[INVOICES] = {"items": [closing], "next": None}

    assert run("invoices", "list").stdout.splitlines()[-1].split()[-2:] == ["-", "-"]


def test_show_prints_lines_and_totals_as_money(run: Run, answers: dict[str, Any]) -> None:
    answers[f"{INVOICES}/INV-1"] = {**ROW, "tax_minor": 0, "document": {"lines": [LINE]}}

    words = run("invoices", "show", "INV-1").stdout

    assert "1,234.5 " in words
    assert "0.99 EUR" in words
    assert "1,234.56 EUR" in words


def test_show_says_that_credit_pays_a_draft_only_when_it_is_issued(
    run: Run, answers: dict[str, Any]
) -> None:
    issued = {**ROW, "tax_minor": 0, "document": {"lines": [LINE]}}
    answers[f"{INVOICES}/INV-1"] = issued
    answers[f"{INVOICES}/inv_x"] = {**issued, "number": None, "state": "draft"}

    assert billing.UNUSED_CREDIT in run("invoices", "show", "inv_x").stdout
    assert billing.UNUSED_CREDIT not in run("invoices", "show", "INV-1").stdout


def test_preview_shows_its_amount_as_money(run: Run, answers: dict[str, Any]) -> None:
    document = {"currency": "JPY", "lines": []}
    answers[f"{INVOICES}/preview"] = {"total_minor": 5000, "document": document}

    assert "5,000 JPY" in run("invoices", "preview").stdout


def test_preview_shows_what_makes_up_the_total(run: Run, answers: dict[str, Any]) -> None:
    document = {"currency": "EUR", "lines": [LINE]}
    answers[f"{INVOICES}/preview"] = {"total_minor": 99, "document": document}

    shown = run("invoices", "preview").stdout.splitlines()

    assert shown[-2].split() == ["position", "description", "quantity", "unit", "amount"]
    assert shown[-1].split() == ["1", "Messages", "1,234.5", "thousand", "0.99", "EUR"]
    whole = json.loads(run("invoices", "preview", "-o", "json").stdout)
    assert whole["document"] == document


def test_staff_see_the_positions_by_which_a_credit_note_names_lines(
    run: Run, answers: dict[str, Any]
) -> None:
    tax = {"percent": "19", "taxable_minor": 106, "tax_minor": 20}
    # The same description twice, as on an invoice with a change of plan.
    lines = [LINE, {**LINE, "position": 2, "amount_minor": 7}]
    answers["/staff/invoices/INV-1"] = {**ROW, "document": {"lines": lines, "taxes": [tax]}}

    shown = run("staff", "invoices", "show", "INV-1").stdout.splitlines()[-4:]

    assert shown[0].split()[0] == "position"
    assert [row.split()[0] for row in shown[1:]] == ["1", "2", "Tax:"]


@pytest.mark.parametrize("command", [["preview"], ["show", "INV-1"]])
def test_the_tax_stands_below_the_lines(
    run: Run, answers: dict[str, Any], command: list[str]
) -> None:
    tax = {"percent": "19", "taxable_minor": 99, "tax_minor": 19}
    document = {"currency": "EUR", "lines": [LINE], "taxes": [tax]}
    answers[f"{INVOICES}/{command[-1]}"] = {**ROW, "document": document}

    assert run("invoices", *command).stdout.splitlines()[-1].split() == [
        *"Tax: 19 % of 0.99 EUR".split(), "0.19", "EUR",
    ]  # fmt: skip


def test_each_line_names_its_tax_if_the_invoice_has_several(
    run: Run, answers: dict[str, Any]
) -> None:
    taxes = [{"percent": "21", "taxable_minor": 99, "tax_minor": 21},
             {"percent": "19", "taxable_minor": 7, "tax_minor": 1}]  # fmt: skip
    lines = [{**LINE, "tax": 1}, {**LINE, "position": 2, "amount_minor": 7, "tax": 2}]
    document = {"currency": "EUR", "lines": lines, "taxes": taxes}
    answers[f"{INVOICES}/INV-1"] = {**ROW, "document": document}

    heading, *shown = run("invoices", "show", "INV-1").stdout.splitlines()[-5:]

    assert heading.split()[-2:] == ["tax", "amount"]
    assert [row.split()[-4:-2] for row in shown[:2]] == [["21", "%"], ["19", "%"]]
    assert [row.split()[0] for row in shown[2:]] == ["Tax:", "Tax:"]


def test_usage_is_shown_in_units_that_people_read(run: Run, answers: dict[str, Any]) -> None:
    item = {"space": "orders", "address": ""}
    usage = {
        "as_of": "2026-11-21T19:48:54Z",
        "items": [
            {**item, "meter": "connection_ms", "quantity": 5_400_000},
            {**item, "meter": "messages_in", "quantity": 1_234_567},
            {**item, "meter": "stored_byte_ms", "quantity": 57_348_000},
            {**item, "meter": "peak_connections", "quantity": 0},
        ],
    }
    answers["/tenants/acme/usage"] = usage

    lines = run("usage", "show").stdout.splitlines()

    assert lines[1].split() == ["orders", "Connection", "time", "1.5", "connection-hours"]
    assert lines[2].split() == ["orders", "Messages", "in", "1,234,567", "messages"]
    assert lines[3].split() == ["orders", "Storage", "<0.000001", "GiB-hours"]
    assert lines[4].split() == ["orders", "Peak", "connections", "0", "connections"]
    assert lines[5] == "as of 2026-11-21 19:48:54 UTC"
    assert json.loads(run("usage", "show", "-o", "json").stdout) == usage


@pytest.mark.parametrize(
    ("name", "options", "kind"),
    [
        ("bill.pdf", [], "pdf"),
        ("bill.CSV", [], "csv"),
        ("bill.json", [], "json"),
        ("bill.json", ["--format", "json"], "json"),
        ("bill", ["--format", "csv"], "csv"),
    ],
)
def test_download_writes_what_the_suffix_names(
    run: Run, answers: dict[str, Any], tmp_path: Path, name: str, options: list[str], kind: str
) -> None:
    answers[f"{INVOICES}/INV-1.{kind}"] = kind.encode()

    ended = run("invoices", "download", "INV-1", "--to", tmp_path / name, *options)

    assert ended.exit_code == 0, ended.output
    assert (tmp_path / name).read_text() == kind


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("bill.docx", [], ".pdf, .csv, .json"),
        ("bill", [], "--format"),
        ("bill.docx", ["--format", "pdf"], ".pdf, .csv, .json"),
        ("bill.pdf", ["--format", "json"], "name it .json"),
    ],
)
def test_download_refuses_a_name_that_says_something_else(
    run: Run, answers: dict[str, Any], tmp_path: Path, name: str, options: list[str], word: str
) -> None:
    ended = run("invoices", "download", "INV-1", "--to", tmp_path / name, *options)

    assert isinstance(ended.exception, WaypostError), ended.output
    assert ended.exception.error_code == "invoice.format"
    assert word in ended.exception.message
    assert not (tmp_path / name).exists()


def test_verify_says_that_the_invoice_is_right(run: Run, answers: dict[str, Any]) -> None:
    answers[f"{INVOICES}/INV-1/verify"] = {"id": "op_1", "state": "Succeeded"}

    ended = run("invoices", "verify", "INV-1")

    assert ended.exit_code == 0
    assert "INV-1: verified, all bytes are identical" in ended.stdout


def test_verify_says_what_differs(
    run: Run, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationFailed("lines.1.amount_minor: 1, now 2", code="invoice.differs")

    answers[f"{INVOICES}/INV-1/verify"] = {"id": "op_1", "state": "Running"}
    monkeypatch.setattr(Api, "wait", fail)

    ended = run("invoices", "verify", "INV-1")

    assert isinstance(ended.exception, WaypostError)
    assert ended.exception.error_code == "invoice.differs"
    assert "verified" not in ended.stdout


@pytest.mark.parametrize(
    ("quantity", "told"),
    [("-0.0000001", ">-0.000001"), ("0.0000001", "<0.000001"), ("-3.5", "-3.5"), ("0", "0")],
)
def test_little_is_not_nothing_also_of_what_is_given_back(quantity: str, told: str) -> None:
    assert billing.quantity_words(quantity) == told


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("2026-11-01", "2026-11-01T00:00:00+00:00"),
        ("2026-11-01T08:30:00", "2026-11-01T08:30:00+00:00"),
        ("2026-11-01T08:30:00+02:00", "2026-11-01T08:30:00+02:00"),
    ],
)
def test_a_window_of_usage_begins_at_a_date_or_an_instant(
    run: Run, answers: dict[str, Any], written: str, asked: str
) -> None:
    windows: list[dict[str, str]] = []

    def get(request: httpx.Request) -> dict[str, Any]:
        windows.append(dict(request.url.params))
        return {"items": [], "as_of": None}

    answers["/tenants/acme/usage"] = get

    assert run("usage", "show", "--from", written, "--until", written).exit_code == 0
    assert windows == [{"starts_at": asked, "ends_at": asked}]


def test_what_is_no_instant_is_refused_by_the_option_s_own_name(run: Run) -> None:
    refused = run("usage", "show", "--from", "yesterday")

    assert refused.exit_code == 2
    assert "--from" in refused.stderr
    assert "2026-11-01T08:00:00Z" in refused.stderr


def test_costs_by_a_label_that_no_space_has_name_whose_labels_count(
    run: Run, answers: dict[str, Any]
) -> None:
    answers["/tenants/acme/usage/costs"] = {"divided_by": "", "labels": ["env"], "items": []}

    refused = run("usage", "costs", "--by", "team").exception

    assert isinstance(refused, WaypostError)
    assert "Labels of spaces: env. Labels of addresses do not divide" in refused.message
