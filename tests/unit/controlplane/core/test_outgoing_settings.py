"""Settings of mails and webhooks that are unsafe or make no sense stop startup."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from controlplane.core import outgoing_settings


@pytest.mark.parametrize(
    ("sender", "user", "security", "words"),
    [
        ("", "", "starttls", "WAYPOST_MAIL_FROM must be the address"),
        ("Waypost", "", "starttls", "WAYPOST_MAIL_FROM must be the address"),
        ("a@b.test", "waypost", "none", "in plain text"),
    ],
)
def test_a_mail_server_that_cannot_be_used_safely_is_refused(
    sender: str, user: str, security: str, words: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=words):
        outgoing_settings.check_mail("smtp.example", sender, user, security)
    outgoing_settings.check_mail("", sender, user, security)  # without a server nothing is wrong


def test_a_mail_server_without_a_login_may_be_plain() -> None:
    outgoing_settings.check_mail("smtp.example", "a@b.test", "", "none")
    outgoing_settings.check_mail("localhost", "a@b.test", "waypost", "none")


def test_a_range_that_is_none_is_refused() -> None:
    assert outgoing_settings.allowed_ranges(["10.0.0.0/8", "::1/128"]) == ["10.0.0.0/8", "::1/128"]
    with pytest.raises(ImproperlyConfigured, match="WAYPOST_WEBHOOK_ALLOWED_RANGES"):
        outgoing_settings.allowed_ranges(["nonsense"])


def test_an_unknown_security_is_refused() -> None:
    assert outgoing_settings.mail_security("tls") == "tls"
    with pytest.raises(ImproperlyConfigured, match="must be starttls, tls or none"):
        outgoing_settings.mail_security("ssl")
