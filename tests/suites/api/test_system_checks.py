"""System checks: each contradiction is named, and a sound configuration is silent."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
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


@pytest.mark.parametrize(
    "name", [name for name in SOUND if name.startswith(("OIDC_RP", "OIDC_OP"))]
)
def test_oidc_without_a_part_is_an_error_that_names_it(
    found: Found, name: str, settings: Settings
) -> None:
    assert found(**{name: ""}) == {"waypost.E001"}
    assert checks._OIDC_NEEDS[name] in checks.check_oidc(None)[0].msg


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"OIDC_ISSUER": "http://id.example"}, "waypost.E002"),
        ({"OIDC_RP_SIGN_ALGO": "HS256"}, "waypost.E003"),
        ({"OIDC_RP_SIGN_ALGO": "none"}, "waypost.E003"),
        ({"SECRET_KEY": "only-for-building-and-tests"}, "waypost.E004"),
        ({"SECRET_KEYS": ["new", checks._TEST_KEYS]}, "waypost.E005"),
        ({"OIDC_ISSUER": "", "LOCAL_ACCOUNTS_ENABLED": False}, "waypost.E006"),
        ({"METRICS_TOKEN": ""}, "waypost.W001"),
    ],
)
def test_contradiction_is_found(found: Found, changes: dict[str, Any], expected: str) -> None:
    assert found(**changes) == {expected}


@pytest.mark.parametrize("changes", [{"PUBLIC_URL": "http://127.0.0.1:8000"}, {"DEBUG": True}])
def test_built_in_keys_serve_this_machine_only(found: Found, changes: dict[str, Any]) -> None:
    keys = {"SECRET_KEY": "only-for-building-and-tests", "SECRET_KEYS": [checks._TEST_KEYS]}

    assert found(**keys, **changes) == set()


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
