"""A wrong setting stops startup, in words that say what to do."""

import os
import subprocess
import sys

import pytest
from django.contrib.auth.hashers import make_password
from django.test import override_settings

from controlplane import settings as product
from tests.support.source_tree import ROOT


def refusal(name: str, value: str) -> str:
    """Return what a process says that cannot start with this setting."""
    ended = subprocess.run(
        [sys.executable, "-c", "import controlplane.settings"],
        env={"PATH": os.environ["PATH"], name: value},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode != 0
    return ended.stderr


@pytest.mark.parametrize("name", ["WAYPOST_ROLLOUT_BUDGET", "WAYPOST_ROLLOUT_WAVE"])
def test_a_rollout_that_could_never_go_on_stops_startup(name: str) -> None:
    told = refusal(name, "0")

    assert f"{name} must be 1 or more" in told
    assert "`waypost rollouts pause`" in told


@pytest.mark.parametrize("level", ["LOUD", "info", "NOTSET", ""])
def test_a_log_level_that_is_none_stops_startup(level: str) -> None:
    told = refusal("WAYPOST_LOG_LEVEL", level)

    known = "DEBUG, INFO, WARNING, ERROR, CRITICAL"
    assert f"WAYPOST_LOG_LEVEL must be one of {known}, not {level!r}" in told


def test_the_product_keeps_passwords_as_argon2_hashes() -> None:
    with override_settings(PASSWORD_HASHERS=product.PASSWORD_HASHERS):
        assert make_password("seventeen lazy dogs").startswith("argon2$argon2id$")


def test_a_mail_server_without_a_sender_stops_startup() -> None:
    assert "WAYPOST_MAIL_FROM must be" in refusal("WAYPOST_SMTP_HOST", "smtp.example")
