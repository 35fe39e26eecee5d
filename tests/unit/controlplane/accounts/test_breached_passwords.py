"""Passwords that are known from breaches: the file, the range service, a list that is away."""

import hashlib
from pathlib import Path

import pytest
import requests
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings
from structlog.testing import capture_logs

from controlplane.accounts import breached_passwords
from controlplane.accounts.breached_passwords import BreachedPasswordValidator


def digest(password: str) -> str:
    return hashlib.sha1(password.encode()).hexdigest().upper()


def write(path: Path, digests: list[str], end: str = "\n") -> Path:
    path.write_text("\n".join(sorted(digests)) + end)
    return path


@given(
    known=st.lists(st.integers(0, 10**6), min_size=1, max_size=40, unique=True),
    other=st.integers(0, 10**6),
    counts=st.booleans(),
    end=st.sampled_from(["\n", ""]),
)
def test_the_file_is_searched_like_a_set(
    tmp_path_factory: pytest.TempPathFactory, known: list[int], other: int, counts: bool, end: str
) -> None:
    digests = [digest(str(number)) for number in known]
    lines = [f"{each}:{index + 3}" for index, each in enumerate(digests)] if counts else digests
    path = write(tmp_path_factory.mktemp("list") / "sha1", lines, end)

    assert all(breached_passwords.in_file(path, known_one) for known_one in digests)
    assert breached_passwords.in_file(path, digest(str(other))) == (other in known)


def test_a_listed_password_is_refused(settings: Settings, tmp_path: Path) -> None:
    settings.BREACHED_PASSWORDS = str(write(tmp_path / "sha1", [digest("tr0ub4dor&3")]))

    with pytest.raises(ValidationError, match="breach"):
        BreachedPasswordValidator().validate("tr0ub4dor&3")
    BreachedPasswordValidator().validate("correct horse battery")


def test_without_a_list_nothing_is_refused(settings: Settings) -> None:
    settings.BREACHED_PASSWORDS = ""

    with capture_logs() as logged:
        BreachedPasswordValidator().validate("password")
        assert not breached_passwords.is_breached("password")

    assert logged == []  # nothing was looked up, so nothing is missing


def test_a_missing_or_empty_file_refuses_nothing(settings: Settings, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    for path, reason in ((tmp_path / "none", "FileNotFoundError"), (empty, "ValueError")):
        settings.BREACHED_PASSWORDS = str(path)

        with capture_logs() as logged:
            BreachedPasswordValidator().validate("password")

        assert [(line["log_level"], line["reason"]) for line in logged] == [("warning", reason)]


class _Range:
    """The answer of the range service: one hash with a count, one that is padding."""

    def __init__(self, known: str, padding: str) -> None:
        self.text = f"{digest(known)[5:]}:17\r\n{digest(padding)[5:]}:0\r\n"

    def raise_for_status(self) -> None:
        """Do nothing: the status is 200."""


def test_the_service_gets_five_digits_and_no_more(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BREACHED_PASSWORDS = "https://ranges.example/list/"
    asked: list[str] = []

    def get(url: str, **options: object) -> _Range:
        asked.append(url)
        return _Range("password", "padding")

    monkeypatch.setattr(requests, "get", get)

    assert breached_passwords.is_breached("password")
    assert not breached_passwords.is_breached("padding")
    assert asked[0] == "https://ranges.example/list/" + digest("password")[:5]


def test_a_service_that_is_away_refuses_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BREACHED_PASSWORDS = "https://ranges.example/list/"

    def get(url: str, **options: object) -> _Range:
        raise requests.ConnectionError

    monkeypatch.setattr(requests, "get", get)

    assert not breached_passwords.is_breached("password")
