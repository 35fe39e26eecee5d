"""System checks: each contradiction is named, and a sound configuration is silent."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from controlplane import checks

SOUND = {
    "OIDC_ISSUER": "https://id.example",
    "OIDC_RP_CLIENT_ID": "waypost",
    "OIDC_RP_CLIENT_SECRET": "secret",
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "https://id.example/auth",
    "OIDC_OP_TOKEN_ENDPOINT": "https://id.example/token",
    "OIDC_OP_USER_ENDPOINT": "https://id.example/userinfo",
    "OIDC_OP_JWKS_ENDPOINT": "https://id.example/certs",
    "PUBLIC_URL": "https://waypost.example",
    "SECRET_KEY": "another",
    "SECRET_KEYS": ["another"],
    "METRICS_TOKEN": "token",
}


Found = Callable[..., set[str]]


@pytest.fixture
def found(settings: Settings) -> Found:
    """Return the ids of what the checks find with some settings changed."""

    def run(**changes: object) -> set[str]:
        for name, value in {**SOUND, **changes}.items():
            setattr(settings, name, value)
        return {str(m.id) for m in (*checks.check_oidc(None), *checks.check_secrets(None))}

    return run


def test_sound_settings_are_silent(found: Found) -> None:
    assert found() == set()


@pytest.mark.parametrize("name", [name for name in SOUND if name.startswith("OIDC_RP")])
def test_oidc_without_a_part_is_an_error_that_names_it(
    found: Found, name: str, settings: Settings
) -> None:
    assert found(**{name: ""}) == {"waypost.E001"}
    assert checks._OIDC_NEEDS[name] in checks.check_oidc(None)[0].msg


def test_the_issuer_finds_the_endpoints(found: Found) -> None:
    assert found(**{name: "" for name in SOUND if name.startswith("OIDC_OP")}) == set()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"OIDC_ISSUER": "http://id.example"}, "waypost.E002"),
        ({"OIDC_ISSUER": "https://"}, "waypost.E002"),
        ({"OIDC_ISSUER": "https://[::1"}, "waypost.E002"),
        ({"OIDC_ISSUER": f"https://{'a:b@'}id.example"}, "waypost.E002"),
        ({"OIDC_ISSUER": "https://id.example?a=b"}, "waypost.E002"),
        ({"OIDC_OP_TOKEN_ENDPOINT": "http://id.example/token"}, "waypost.E010"),
        ({"OIDC_OP_JWKS_ENDPOINT": "ftp://127.0.0.1/keys"}, "waypost.E010"),
        ({"OIDC_RP_SIGN_ALGO": "HS256"}, "waypost.E003"),
        ({"OIDC_RP_SIGN_ALGO": "none"}, "waypost.E003"),
        ({"SECRET_KEY": "only-for-building-and-tests"}, "waypost.E004"),
        ({"SECRET_KEYS": ["new", checks._TEST_KEYS]}, "waypost.E005"),
        ({"OIDC_ISSUER": "", "LOCAL_ACCOUNTS_ENABLED": False}, "waypost.E006"),
        ({"DEBUG": True}, "waypost.E007"),
        ({"PUBLIC_URL": "http://waypost.example"}, "waypost.E008"),
        ({"ALLOWED_HOSTS": ["waypost.example", "*"]}, "waypost.E009"),
        ({"METRICS_TOKEN": ""}, "waypost.W001"),
    ],
)
def test_contradiction_is_found(found: Found, changes: dict[str, Any], expected: str) -> None:
    assert found(**changes) == {expected}


@pytest.mark.parametrize("changes", [{}, {"DEBUG": True}, {"ALLOWED_HOSTS": ["*"]}])
def test_this_machine_may_be_unsafe(found: Found, changes: dict[str, Any]) -> None:
    keys = {"SECRET_KEY": "only-for-building-and-tests", "SECRET_KEYS": [checks._TEST_KEYS]}

    assert found(**keys, PUBLIC_URL="http://127.0.0.1:8000", **changes) == set()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"DEBUG": True}, "WAYPOST_DEBUG"),
        ({"PUBLIC_URL": "http://waypost.example"}, "WAYPOST_PUBLIC_URL"),
        ({"ALLOWED_HOSTS": ["*"]}, "WAYPOST_ALLOWED_HOSTS"),
        ({"SECRET_KEY": "only-for-building-and-tests"}, "WAYPOST_SECRET_KEY"),
        ({"OIDC_ISSUER": "http://id.example"}, "WAYPOST_OIDC_ISSUER"),
        ({"OIDC_RP_SIGN_ALGO": "HS256"}, "WAYPOST_OIDC_SIGN_ALGORITHM"),
        ({"OIDC_OP_USER_ENDPOINT": "http://id.example/me"}, "WAYPOST_OIDC_USER_ENDPOINT"),
    ],
)
def test_no_server_starts_with_unsafe_settings(
    settings: Settings, changes: dict[str, Any], named: str
) -> None:
    for name, value in SOUND.items():
        setattr(settings, name, value)
    checks.refuse_unsafe_settings()
    for name, value in changes.items():
        setattr(settings, name, value)

    with pytest.raises(ImproperlyConfigured, match=named):
        checks.refuse_unsafe_settings()


def test_settings_and_checks_know_the_same_test_keys() -> None:
    from controlplane import settings as source

    assert checks._TEST_KEYS in source.SECRET_KEYS
    assert source.SECRET_KEY == "only-for-building-and-tests"


APP = ("-A", "controlplane.celery")


@pytest.mark.parametrize(
    "command",
    [
        ["-c", "import controlplane.wsgi"],
        ["-m", "celery", "--skip-checks", *APP, "worker", "--pool", "solo"],
        ["-m", "celery", "--skip-checks", *APP, "beat"],
        ["-m", "workers.services.auth", "--port", "0"],
    ],
    ids=["web", "worker", "beat", "auth service"],
)
def test_no_server_starts_with_keys_from_the_source(command: list[str], tmp_path: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "WAYPOST_STATE_DIR": str(tmp_path),
    }

    done = subprocess.run(
        [sys.executable, *command],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode != 0
    assert "WAYPOST_SECRET_KEY is the one from the source." in done.stderr


@pytest.mark.parametrize(
    ("host", "url", "expected"),
    [
        ("", "https://waypost.example", ["waypost.W002"]),
        ("smtp.example", "https://waypost.example", []),
        ("", "http://localhost:8000", []),
    ],
)
def test_mails_that_do_not_leave_are_reported(
    settings: Settings, host: str, url: str, expected: list[str]
) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = host, url

    assert [message.id for message in checks.check_mail(None)] == expected
