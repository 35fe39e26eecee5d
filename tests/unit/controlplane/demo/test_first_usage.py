"""The demonstration waits for runs of the pipeline, and not for a time."""

from typing import Any, cast

import pytest

from controlplane.core.errors import Unavailable
from controlplane.demo import first_usage
from controlplane.demo.customers import Customer, Operator
from controlplane.demo.narrator import Narrator


class FakeApi:
    """Answers as an installation whose pipeline has ended one more run at each look."""

    def __init__(self, *quantities: int, error_code: str = "", runs: int = 0) -> None:
        self._quantities, self._error_code, self._runs = list(quantities), error_code, runs

    def get(self, path: str, **query: Any) -> Any:
        if path == "/staff/pipeline/runs":
            assert query["job"] == "pipeline"
            self._runs += 1
            return {"items": [{"error_code": self._error_code}] * (self._runs - 1)}
        quantity = self._quantities.pop(0) if len(self._quantities) > 1 else self._quantities[0]
        item = {"space_id": "spc_1", "address": "a", "meter": "messages_out", "quantity": quantity}
        return {"items": [item]}


class Party:
    """The tenant and the operator of one fake installation."""

    def __init__(self, api: FakeApi) -> None:
        self.api = api

    def path(self, rest: str) -> str:
        return f"/tenants/demo{rest}"


def waited(api: FakeApi) -> Any:
    party = Party(api)
    return first_usage.wait(cast(Customer, party), cast(Operator, party), 5, Narrator())


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def test_usage_that_a_later_run_completes_is_waited_for() -> None:
    assert waited(FakeApi(0, 3, 5)) == {("spc_1", "a", "messages_out"): 5}


def test_usage_that_three_runs_lack_ends_the_wait() -> None:
    with pytest.raises(
        Unavailable, match=r"after 3 runs .*spark.failed.* shows 3 of 5 messages"
    ) as raised:
        waited(FakeApi(3, error_code="spark.failed"))

    assert raised.value.error_code == "demo.no_usage"


def test_a_pipeline_that_never_runs_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_usage, "_SILENCE_SECONDS", -1)

    with pytest.raises(Unavailable, match="after 0 runs"):
        waited(FakeApi(0))
