"""`waypost addresses create`: every setting of the API has an option, and none is invented."""

from typing import Any

import pytest
import typer.main

from controlplane.api.addresses import AddressCreateSerializer
from controlplane.cli.app import app
from controlplane.rest_client import Api
from tests.unit.controlplane.cli.conftest import Run

PLAIN = {"address": "q1", "type": "queue", "plan": "p"}


@pytest.fixture
def posted(run: Run, monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any]) -> list[Any]:
    """The bodies of what was asked for."""
    found: list[Any] = []

    def post(_api: Api, path: str, body: Any) -> Any:
        found.append(body)
        return {"id": "op_x", "state": "Succeeded", "steps": []}

    monkeypatch.setattr(Api, "post", post)
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
    settings = set(AddressCreateSerializer().fields) - {"address"}
    tree: Any = typer.main.get_command(app)

    options = {param.name for param in tree.commands["addresses"].commands["create"].params}

    assert settings <= options
