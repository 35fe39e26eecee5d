"""A name that a person types is one segment of the API's path, whatever is in it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import typer.main

from controlplane.cli.app import app
from controlplane.core.errors import Invalid
from controlplane.rest_client import last_segments, segment
from tests.support import rest_answers
from tests.unit.controlplane.cli.conftest import Run

# What makes something sends its name in the body, where the API judges it.
MAKE = ("create", "issue", "add", "add-channel", "send", "transfer", "close-now")
# An address in a path may have slashes; "kind" is one of events, and "limits" are of an alarm.
IN_BODY = (
    *("address", "plan", "to", "ids", "day", "start", "minutes", "amount"),
    *("kind", "limits", "role", "changes", "code", "title"),
    *("number", "legal_entity", "currency", "minimum"),
    "file",  # on this machine
    *("invitation", "payment", "position"),  # numbers, which the command itself checks
    "older",  # a query parameter
)
PLAIN = {
    "day": "sunday",
    "start": "02:00",
    "minutes": "60",
    "amount": "1",
    "minimum": "1",
    "invitation": "1",
    "kind": "usage",
    "payment": "1",
    "position": "1",
    "changes": "team=shop",  # of labels
}
# They do not speak to the API in the name of a tenant, nor take the name of anything in it.
OTHER = ("catalog", "rollouts", "pipeline", "contexts")


def _verbs() -> Iterator[tuple[str, ...]]:
    """Yield each verb of the API with an argument or a tenant that leads elsewhere."""
    tree: Any = typer.main.get_command(app)
    for noun, group in tree.commands.items():
        if noun not in OTHER and hasattr(group, "commands"):
            yield from _verbs_of((noun,), group)


def _verbs_of(words: tuple[str, ...], group: Any) -> Iterator[tuple[str, ...]]:
    for verb, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _verbs_of((*words, verb), command)
        else:
            yield from _misuses((*words, verb), command)


def _misuses(verb: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    names = [param.name for param in command.params if param.param_type_name == "argument"]
    options = _needed(command)
    plain = [PLAIN.get(name, "x") for name in names]
    if any("-t" in param.opts for param in command.params):
        yield (*verb, *plain, *options, "-t", "../../x")
    for at, name in enumerate(names):
        in_path = verb[-1] not in MAKE or (name == "space")
        if in_path and name not in IN_BODY:
            yield (*verb, *plain[:at], "a/b", *plain[at + 1 :], *options)


def _needed(command: Any) -> list[str]:
    given = {
        "--reference": "r",
        "--line": "1=100",
        "--received": "2026-11-30",
        "--plan": "p",
        "--to": "/nowhere/x.csv" if command.name == "get" else "/nowhere/x.pdf",
        "--message": "m",
        "--reason": "r",
        "--text": "t",
        "--from": "2026-01-01",
    }
    flags = [flag for param in command.params for flag in param.opts]
    needed = [param.opts[0] for param in command.params if param.required]
    values = [word for flag in needed if flag in given for word in (flag, given[flag])]
    return [*values, *(["--yes"] if "--yes" in flags else [])]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("orders", "orders"),
        ("q1?x=y", "q1%3Fx%3Dy"),
        ("a#b", "a%23b"),
        ("%2e%2e", "%252e%252e"),
        ("größe", "gr%C3%B6%C3%9Fe"),
    ],
)
def test_a_name_leads_nowhere_else(name: str, path: str) -> None:
    assert segment(name) == path


@pytest.mark.parametrize("name", ["", ".", "..", "orders/new", "../../victim", "/", "a/"])
def test_what_is_not_one_segment_is_no_name(name: str) -> None:
    with pytest.raises(Invalid) as refused:
        segment(name)

    assert refused.value.error_code == "name.invalid"


@pytest.mark.parametrize("words", list(_verbs()), ids=" ".join)
def test_no_verb_sends_a_name_that_leads_elsewhere(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    sent: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(f"{request.method} {request.url}")
        return httpx.Response(200, json={})

    rest_answers.answer_by(monkeypatch, answer)

    refused = run(*words).exception

    assert sent == []
    assert isinstance(refused, Invalid), refused
    assert refused.error_code == "name.invalid"


def test_an_address_may_hold_slashes() -> None:
    assert last_segments("orders/new") == "orders%2Fnew"


@pytest.mark.parametrize(
    "words",
    [
        ("users", "revoke", "shop", ""),
        ("addresses", "delete", "shop", ""),
        ("spaces", "delete", "shop/addresses/q1"),
    ],
    ids=" ".join,
)
def test_nobody_is_asked_about_what_is_no_name(run: Run, words: tuple[str, ...]) -> None:
    ended = run(*words)

    assert isinstance(ended.exception, Invalid), ended.exception
    assert ended.exception.error_code == "name.invalid"
    assert ended.stderr == ""
