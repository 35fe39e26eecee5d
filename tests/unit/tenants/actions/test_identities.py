"""An operator links an account, also one of staff, to a person of the identity provider."""

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.core.management import CommandError, call_command
from pytest_django import Settings

from controlplane.accounts import provider_identities as identities
from controlplane.core.models import AuditEvent
from tenants.models import User

pytestmark = pytest.mark.django_db
ISSUER = "https://id.example"


@pytest.fixture(autouse=True)
def provider(settings: Settings) -> None:
    settings.OIDC_ISSUER = ISSUER


@pytest.fixture
def staff() -> User:
    return User.objects.create_user("s@op.test", "s@op.test", "a-password-1", is_staff=True)


def link(*words: str) -> str:
    out = StringIO()
    call_command("link_identity", *words, stdout=out)
    return out.getvalue()


def identity(subject: str, email: str = "s@op.test") -> identities.Identity:
    return identities.Identity(f"{ISSUER}#{subject}", email, True, "", "")


def test_staff_log_in_by_the_provider_after_the_link_and_not_before(staff: User) -> None:
    with pytest.raises(identities.LoginRefused, match="of an operator"):
        identities.sign_in(identity("7"))
    RecoveryCodes.activate(staff)

    assert "s@op.test" in link("S@op.test", "7")

    found = identities.sign_in(identity("7"))
    assert (found.pk, found.is_staff, found.has_usable_password()) == (staff.pk, True, False)
    assert not Authenticator.objects.filter(user=staff).exists()
    event = AuditEvent.objects.get(action="user.link_identity")
    assert (event.actor, event.subject_name) == ("operator:command-line", "s@op.test")
    assert event.after == {"identity": f"{ISSUER}#7"}
    link("s@op.test", "7")
    assert AuditEvent.objects.filter(action="user.link_identity").count() == 1


def test_another_identity_needs_a_word_and_one_of_another_account_is_refused(staff: User) -> None:
    link("s@op.test", "7")
    with pytest.raises(CommandError, match="linked to"):
        link("s@op.test", "8")
    link("s@op.test", "8", "--replace")
    assert identities.sign_in(identity("8")).pk == staff.pk
    User.objects.create_user("o@op.test", "o@op.test", oidc_subject=f"{ISSUER}#9")
    with pytest.raises(CommandError, match="already"):
        link("s@op.test", "9", "--replace")


def test_no_account_no_subject_and_no_provider_say_so(staff: User, settings: Settings) -> None:
    for words, said in ((("x@op.test", "7"), "no account"), (("s@op.test", " "), "sub")):
        with pytest.raises(CommandError, match=said):
            link(*words)
    settings.OIDC_ISSUER = ""
    with pytest.raises(CommandError, match="WAYPOST_OIDC_ISSUER"):
        link("s@op.test", "7")
