"""`waypost login --device`: what the command asks, shows, waits for and stores."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controlplane.cli import device_login, login_store, output
from controlplane.cli.login_store import Login
from controlplane.core.errors import Denied, Unavailable, WaypostError
from controlplane.rest_client import Api
from tests.support import identity_provider
from tests.support.identity_provider import FakeProvider
from tests.unit.controlplane.cli.conftest import Run

_AT = "http://127.0.0.1:9"


def _no_wait(_seconds: float) -> None:
    """Nobody waits in these tests."""


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with identity_provider.running(person={"sub": "42"}) as fake:
        yield fake


@pytest.fixture
def posted(
    provider: FakeProvider, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> list[Any]:
    """What the command posts to Waypost, which offers the provider."""
    option = {
        "issuer": provider.issuer,
        "client_id": "waypost-command",
        "scope": "openid email",
        "nonce": "n1",
    }
    answers["/login-options"] = {"local_accounts": True, "device": option}
    sent: list[Any] = []

    def answer(_api: Api, path: str, body: Any) -> Any:
        sent.append((path, body))
        return {"token": "wps_x", "name": "anna@a.test", "tenants": [{"slug": "acme"}]}

    monkeypatch.setattr(Api, "post_once", answer)
    return sent


def refused(error: type[WaypostError]) -> WaypostError:
    with pytest.raises(error) as found:
        device_login.log_in(_AT, _no_wait)
    return found.value


def test_the_login_is_stored_as_one_with_a_password(
    run: Run,
    posted: list[Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider: FakeProvider,
) -> None:
    for name in ("WAYPOST_URL", "WAYPOST_TOKEN", "WAYPOST_TENANT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(time, "sleep", _no_wait)
    provider.device_answers = ["authorization_pending"]

    result = run("login", "--device", "--url", _AT)

    assert result.exit_code == 0, result.output
    assert "WDJB-MJHT" in result.output
    assert f"{provider.issuer}/enter" in result.output
    assert "as anna@a.test, tenant acme" in result.output
    assert login_store.stored() == Login(_AT, "wps_x", "acme")


def test_the_tokens_and_the_nonce_go_to_waypost(posted: list[Any], provider: FakeProvider) -> None:
    device_login.log_in(_AT, _no_wait)

    ((path, body),) = posted
    assert path == "/session/device"
    assert set(body) == {"id_token", "access_token", "nonce"}
    assert body["nonce"] == "n1"


def test_the_provider_says_how_often_it_is_asked(posted: list[Any], provider: FakeProvider) -> None:
    provider.device_answers = ["authorization_pending", "slow_down", "authorization_pending"]
    waited: list[float] = []

    device_login.log_in(_AT, waited.append)

    assert waited == [5.0, 5.0, 10.0, 10.0]


@pytest.mark.parametrize(
    ("answer", "code"),
    [("access_denied", "login.denied"), ("expired_token", "login.expired")],
)
def test_a_refusal_ends_the_login(
    posted: list[Any], provider: FakeProvider, answer: str, code: str
) -> None:
    provider.device_answers = [answer]

    assert refused(Denied).error_code == code
    assert posted == []


def test_a_code_that_nobody_enters_ends(posted: list[Any], provider: FakeProvider) -> None:
    provider.device_answers = ["authorization_pending"] * 200
    waited: list[float] = []

    with pytest.raises(Denied) as found:
        device_login.log_in(_AT, waited.append)

    assert found.value.error_code == "login.expired"
    assert sum(waited) == 600.0  # as long as the provider said


def test_a_pause_of_the_provider_does_not_end_the_login(
    posted: list[Any], provider: FakeProvider
) -> None:
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        provider.is_away = len(waited) == 1

    device_login.log_in(_AT, sleep)

    assert waited == [5.0, 10.0]


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"issuer": "https://evil.example"}, "another issuer"),
        ({"token_endpoint": "http://login.example/token"}, "token_endpoint"),
        ({"device_authorization_endpoint": None}, "device_authorization_endpoint"),
    ],
)
def test_a_provider_that_is_not_the_one_is_refused(
    posted: list[Any], provider: FakeProvider, document: dict[str, Any], reason: str
) -> None:
    provider.document = document

    error = refused(Unavailable)

    assert error.error_code == "identity_provider.invalid"
    assert reason in error.message
    assert posted == []


def test_a_provider_without_encryption_is_refused(
    posted: list[Any], answers: dict[str, Any]
) -> None:
    answers["/login-options"]["device"]["issuer"] = "http://login.example"

    assert refused(Unavailable).error_code == "identity_provider.invalid"


def test_a_provider_that_is_away_is_named(posted: list[Any], provider: FakeProvider) -> None:
    provider.is_away = True

    error = refused(Unavailable)

    assert (error.error_code, output.exit_code(error)) == ("identity_provider.unavailable", 7)


def test_a_waypost_without_such_a_login_says_so(posted: list[Any], answers: dict[str, Any]) -> None:
    answers["/login-options"] = {"local_accounts": True, "device": None}

    assert refused(Denied).error_code == "login.no_device"
