"""`waypost spaces change-plan`: what it asks the API, and that it asks a person first."""

import json
from typing import Any

import httpx
import pytest

from controlplane.core.errors import Missing
from tests.unit.controlplane.cli.conftest import Run

OPERATION: dict[str, Any] = {"id": "op_x", "state": "Succeeded", "steps": []}


@pytest.fixture
def patched(answers: dict[str, Any]) -> list[tuple[str, Any]]:
    """What was patched."""
    path = "/tenants/acme/address-spaces/orders"
    found: list[tuple[str, Any]] = []

    def patch(request: httpx.Request) -> Any:
        assert request.headers["If-Match"] == '"7"'  # the one that was read
        found.append((path, json.loads(request.content)))
        return OPERATION

    answers.update({f"GET {path}": {"plan": "brokered-small"}, f"PATCH {path}": patch})
    return found


def test_it_asks_for_the_plan_and_says_when_it_is_done(
    run: Run, patched: list[tuple[str, Any]]
) -> None:
    ended = run("spaces", "change-plan", "orders", "brokered-medium", "--yes")

    assert patched == [("/tenants/acme/address-spaces/orders", {"plan": "brokered-medium"})]
    assert ended.stdout == "moving space orders to brokered-medium: done (op_x)\n"  # by an old API


@pytest.mark.parametrize(
    ("restarts", "said"),
    [([], "Nothing restarts."), (["broker-0"], "broker-0 restarts."), (None, "done (op_x)\n")],
)
def test_it_says_what_restarts(
    run: Run, patched: list[Any], monkeypatch: pytest.MonkeyPatch, restarts: Any, said: str
) -> None:
    monkeypatch.setitem(OPERATION, "restarts", restarts)

    ended = run("spaces", "change-plan", "orders", "brokered-medium", "--yes")

    assert said in ended.stdout
    assert ("restart" in ended.stdout) == (restarts is not None)


@pytest.fixture
def offered(answers: dict[str, Any]) -> None:
    answers["/tenants/acme/address-spaces/orders"] = {"plan": "brokered-small"}
    offers = [
        {"key": "brokered-small", "definition": {"hour_price": "0.04"}},
        {
            "key": "brokered-medium",
            "definition": {"hour_price": "0.10", "hour_prices": {"EUR": "0.10", "USD": "0.12"}},
        },
    ]
    answers["/tenants/acme/plan-subscription"] = {"currency": "USD"}
    answers["/space-plans"] = {"items": offers, "next": None}


@pytest.mark.usefixtures("offered")
def test_nothing_moves_without_a_word(run: Run, patched: list[tuple[str, Any]]) -> None:
    ended = run("spaces", "change-plan", "orders", "brokered-medium")

    assert ended.exit_code != 0
    assert "from brokered-small to brokered-medium?" in ended.stderr
    assert "0.12 an hour from now on" in ended.stderr
    assert patched == []


@pytest.mark.usefixtures("offered")
def test_a_plan_that_is_not_offered_is_refused_without_a_question(
    run: Run, patched: list[tuple[str, Any]]
) -> None:
    ended = run("spaces", "change-plan", "orders", "brokered-huge")

    assert isinstance(ended.exception, Missing), ended.exception
    assert "brokered-small, brokered-medium" in ended.exception.message
    assert (ended.stderr, patched) == ("", [])
