"""Exit codes that scripts can use, and answers in the form they were asked for."""

import json
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from controlplane.cli import output
from controlplane.core.errors import (
    Conflict,
    Denied,
    Invalid,
    Missing,
    QuotaExceeded,
    Unavailable,
    WaypostError,
)
from controlplane.rest_client import Refused


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Invalid("no"), 1),
        (Denied("no"), 3),
        (Missing("no"), 4),
        (Conflict("no"), 5),
        (QuotaExceeded("no", resource="spaces", limit=1, used=1, asked=1), 6),
        (Unavailable("no"), 7),
        (Refused({"code": "quota_exceeded"}, 403), 6),
        (Refused({"code": "credentials.invalid"}, 401), 3),
        (Refused({"code": "missing"}, 404), 4),
        (Refused({"code": "etag.mismatch"}, 412), 5),
        (Refused({"code": "request.invalid"}, 400), 1),
        (Refused({}, 503), 7),
    ],
)
def test_refusals_end_with_the_documented_code(error: WaypostError, code: int) -> None:
    with pytest.raises(SystemExit) as ended, output.refusals():
        raise error

    assert ended.value.code == code


def test_refusals_print_message_and_code_and_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit), output.refusals():
        raise Conflict("The space [x] is busy.", code="space.busy")

    shown = capfd.readouterr()
    assert "The space [x] is busy." in shown.err
    assert "space.busy" in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_refusals_say_what_is_wrong_with_each_field(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), output.refusals():
        raise Refused(
            {
                "code": "address_space.invalid",
                "detail": "The space cannot be made like this.",
                "fields": {"name": ["Too long.", "No [dots]."], "code": ["Unknown."]},
            },
            400,
        )

    lines = [line.strip() for line in capfd.readouterr().err.splitlines()]
    assert lines[1:4] == ["name: Too long.", "name: No [dots].", "code: Unknown."]


def test_refusals_say_nothing_twice(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), output.refusals():
        raise Invalid("'.' is no address. No dots.", address=["No dots."])

    assert capfd.readouterr().err.count("No dots.") == 1


def test_refusals_leave_out_whole_sentences_only(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), output.refusals():
        raise Invalid("Fix these fields: name, limit.", name=["name", "Too long."], limit=3)

    lines = [line.strip() for line in capfd.readouterr().err.splitlines()]
    assert lines[1:4] == ["name: name", "name: Too long.", "limit: 3"]


def test_refusals_stop_after_twenty_reasons(capfd: pytest.CaptureFixture[str]) -> None:
    wrong: dict[str, Any] = {f"field{n}": ["Wrong."] for n in range(33)}

    with pytest.raises(SystemExit), output.refusals():
        raise Invalid("All wrong.", **wrong)

    shown = capfd.readouterr().err
    assert shown.count(": Wrong.") == 20
    assert "and 13 more" in shown


def test_refusals_of_a_program_are_json(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_requested", ContextVar("_requested", default=output.Format.JSON))

    with pytest.raises(SystemExit) as ended, output.refusals():
        raise Invalid("No.", code="address.invalid", address=["No dots."])

    assert ended.value.code == 1
    assert json.loads(capfd.readouterr().err) == {
        "code": "address.invalid",
        "message": "No.",
        "fields": {"address": ["No dots."]},
    }


def test_an_interrupt_ends_in_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, output.refusals():
        raise KeyboardInterrupt

    assert ended.value.code == 130
    assert capfd.readouterr().err == "interrupted\n"


def test_refusals_name_the_file_that_cannot_be_written(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as ended, output.refusals():
        (tmp_path / "away" / "bill.pdf").write_bytes(b"")

    assert ended.value.code == 1
    shown = capfd.readouterr().err
    assert "away/bill.pdf: No such file or directory" in shown
    assert "code: file.unusable" in shown


def test_show_rows_as_json_keeps_every_field(capfd: pytest.CaptureFixture[str]) -> None:
    output.show_rows([{"name": "a", "hidden": [1]}], ["name"], output.Format.JSON)

    assert json.loads(capfd.readouterr().out) == [{"name": "a", "hidden": [1]}]


def test_show_rows_as_table_shows_the_named_columns(capfd: pytest.CaptureFixture[str]) -> None:
    output.show_rows([{"name": "a", "hidden": "z"}], ["name"], output.Format.TABLE)

    shown = capfd.readouterr().out
    assert "name" in shown
    assert "a" in shown
    assert "z" not in shown


@pytest.mark.parametrize("name", ["orders[/late]", "orders[bold]late", "[red]"])
def test_brackets_are_text_everywhere(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    output.show_rows([{"name": name}], ["name"], output.Format.TABLE)
    output.show_one({"name": name}, output.Format.TABLE)
    output.say(name)
    with output.progress(name) as update:
        update({"steps": [{"name": name, "state": "running", "message": name}]})

    shown = capfd.readouterr()
    assert shown.out.count(name) == 2
    assert name in shown.err
