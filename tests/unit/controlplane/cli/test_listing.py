"""Filters of lists, and what output prints in each format."""

from typing import Any

import pytest

from controlplane.cli import output
from controlplane.cli.listing import matching
from controlplane.cli.output import Format
from controlplane.core.errors import Invalid
from controlplane.rest_client import Refused

ROWS: list[dict[str, Any]] = [
    {"name": "a", "on": True, "n": 9, "live": {"depth": 10}, "tags": ["x", "y"], "at": "2026-01"},
    {"name": "b", "on": False, "n": 10, "live": None, "tags": [], "at": None},
]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ([], "ab"),
        (["name=a"], "a"),
        (["name!=a"], "b"),
        (["on=true"], "a"),
        (["at=null"], "b"),
        (["n>9"], "b"),  # as numbers, not as texts
        (["n<=10"], "ab"),
        (["live.depth>=10"], "a"),
        (["tags=y"], "a"),
        (["tags~X"], "a"),
        (["at<2027"], "a"),
        (["n>1", "name=b"], "b"),
    ],
)
def test_filters(filters: list[str], names: str) -> None:
    assert "".join(row["name"] for row in matching(ROWS, filters)) == names


@pytest.mark.parametrize("wrong", ["name", "=a", "nmae=a", "live.depht=1"])
def test_a_wrong_filter_selects_nothing_by_mistake(wrong: str) -> None:
    with pytest.raises(Invalid):
        matching(ROWS, [wrong])


def test_names_prefer_the_first_column_then_a_name_then_an_id() -> None:
    assert output.name_of({"id": 7, "name": "ci"}) == "ci"
    assert output.name_of({"id": 7, "name": "ci"}, ["id"]) == "7"
    assert output.name_of({"id": "i", "number": None}, ["number"]) == "i"


def test_yaml_has_every_field(capfd: pytest.CaptureFixture[str]) -> None:
    output.show_one({"name": "a", "nested": {"ö": [1, None]}}, Format.YAML)

    assert capfd.readouterr().out == "name: a\nnested:\n  ö:\n  - 1\n  - null\n"


def test_alternatives_of_the_message_are_not_printed_again(
    capfd: pytest.CaptureFixture[str],
) -> None:
    offered = ["brokered-medium", "brokered-small"]
    detail = f"There is no space plan 'x'; choose one of: {', '.join(offered)}."
    with pytest.raises(SystemExit), output.refusals():
        raise Refused({"code": "plan", "detail": detail, "fields": {"offered": offered}}, 404)

    lines = capfd.readouterr().err.splitlines()
    assert lines == [detail, "code: plan"]


def test_a_long_wait_says_so_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(output, "say", said.append)
    clock = iter([0.0, 1.0, 3.0, 4.0, 5.0])
    step = {"name": "Brokers", "state": "waiting", "message": "broker-0 starts"}

    with output.progress("creating space a", clock=lambda: next(clock)) as update:
        update({"steps": [step]})  # after a second
        update({"steps": [step]})
        update({"steps": [step]})  # nothing new
        update({"steps": [], "state": "Succeeded"})

    assert said == ["creating space a: Brokers broker-0 starts"]


def test_work_that_takes_long_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    late = threading.Event()
    monkeypatch.setattr(output, "say", lambda _: late.set())

    with output.working("starting", quiet_seconds=0):
        assert late.wait(60)
