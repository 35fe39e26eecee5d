"""`waypost send`, `receive` and `browse`: what they print, and what they refuse by themselves."""

from typing import Any

import pytest
from proton import Message, symbol

from controlplane.cli import traffic
from controlplane.core.errors import Invalid, Unavailable
from tests.unit.controlplane.cli.conftest import Run

USER = ("--user", "worker", "--password", "p")
PATH = "/tenants/acme/address-spaces/shop"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("text", "text"),
        (None, ""),
        (b"caf\xc3\xa9", "café"),
        (memoryview(b"\xff\x00"), "/wA="),
        ({"n": 1}, '{"n": 1}'),
        (7, "7"),
    ],
)
def test_a_body_as_text(body: Any, shown: str) -> None:
    assert traffic.text(body) == shown


def test_a_message_as_an_object() -> None:
    message = Message(
        body=b"x", ttl=2.5, durable=True, properties={"n": 1}, creation_time=1_700_000_000.0
    )

    found = traffic.document(message)

    assert found["body"] == "x"
    assert found["ttl_seconds"] == 2.5
    assert found["created_at"] == "2023-11-14T22:13:20+00:00"
    assert found["properties"] == {"n": 1}
    assert (found["id"], found["content_type"], found["priority"]) == (None, None, 4)
    message.content_type = symbol("text/plain")
    assert traffic.document(message)["content_type"] == "text/plain"


def test_a_standard_space_is_not_browsed(run: Run, answers: dict[str, Any]) -> None:
    answers[PATH] = {"name": "shop", "type": "standard", "endpoints": []}

    refused = run("browse", "shop", "orders", *USER).exception

    assert isinstance(refused, Invalid)
    assert "waypost messages browse shop orders" in refused.message


def test_a_space_without_an_endpoint_says_where_to_look(run: Run, answers: dict[str, Any]) -> None:
    answers[PATH] = {"name": "shop", "type": "brokered", "endpoints": []}

    refused = run("receive", "shop", "orders", *USER).exception

    assert isinstance(refused, Unavailable)
    assert refused.error_code == "messaging.no_endpoint"


def test_a_text_and_lines_contradict_each_other(run: Run) -> None:
    refused = run("send", "shop", "orders", "hello", "--lines", *USER).exception

    assert isinstance(refused, Invalid)


@pytest.mark.parametrize("verb", ["send", "receive", "browse"])
def test_the_name_of_the_space_leads_nowhere_else(run: Run, verb: str) -> None:
    refused = run(verb, "../x", "orders", *USER).exception

    assert isinstance(refused, Invalid)
    assert refused.error_code == "name.invalid"
