"""Settings of `waypost up --set`: names that Waypost knows, and that an installation may change."""

import re

import pytest

from controlplane.core.errors import Invalid
from controlplane.embedded import chosen_settings
from tests.support.source_tree import ROOT


def test_settings_are_names_and_values() -> None:
    texts = ["WAYPOST_SMTP_PORT=25", "WAYPOST_PAYMENT_INSTRUCTIONS=IBAN=DE1", "WAYPOST_MAIL_FROM="]

    assert chosen_settings.parse(texts) == {
        "WAYPOST_SMTP_PORT": "25",
        "WAYPOST_PAYMENT_INSTRUCTIONS": "IBAN=DE1",
        "WAYPOST_MAIL_FROM": "",
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("WAYPOST_SMTP_HOST", "Write WAYPOST_SMTP_HOST as NAME=VALUE."),
        ("WAYPOST_SMTP_HOTS=x", "There is no setting WAYPOST_SMTP_HOTS."),
        ("PATH=/tmp", "There is no setting PATH."),
        ("WAYPOST_DATABASE_URL=x", "decides WAYPOST_DATABASE_URL for itself"),
        ("WAYPOST_CACHE=x", "decides WAYPOST_CACHE for itself"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Invalid, match=re.escape(reason)) as refused:
        chosen_settings.parse([text])

    assert refused.value.error_code == "stack.setting"


@pytest.mark.parametrize("page", ["operate/install.md", "operate/payments.md", "notifications.md"])
def test_every_documented_setting_is_accepted(page: str) -> None:
    # A variable of the shell, for a program that runs elsewhere.
    elsewhere = {"WAYPOST_WHEEL"}
    text = (ROOT / "docs" / page).read_text()
    named = set(re.findall(r"WAYPOST_[A-Z0-9_]*[A-Z]\b", text)) - elsewhere

    assert len(named) > 3
    assert {name.removesuffix("_FILE") for name in named} <= chosen_settings.known()
