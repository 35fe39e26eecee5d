"""An operator at a shell makes an account one of staff, and ends that."""

from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from pytest_django import Settings

from controlplane.core.models import AuditEvent
from tenants.models import User

pytestmark = pytest.mark.django_db


def account(email: str, *, is_confirmed: bool = True, is_staff: bool = False) -> User:
    user = User.objects.create_user(email, email, "a-password-1", is_staff=is_staff)
    EmailAddress.objects.create(user=user, email=email, verified=is_confirmed, primary=True)
    return user


def run(*words: str) -> str:
    out = StringIO()
    call_command("set_staff", *words, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def _logins(settings: Settings) -> None:
    settings.OIDC_ISSUER = "https://id.test"
    settings.EMAIL_CONFIRMATION = True


def actions() -> list[str]:
    rows = AuditEvent.objects.filter(action__contains="_staff").order_by("id")
    assert {row.actor for row in rows} <= {"operator:command-line"}
    return [row.action for row in rows]


def test_an_account_becomes_staff_once_and_leaves_once() -> None:
    account("first@op.test", is_staff=True)
    second = account("second@op.test")

    for _ in range(2):
        assert "is one of staff" in run("Second@op.test")
    second.refresh_from_db()
    assert second.is_staff
    assert not second.is_superuser
    for _ in range(2):
        assert "is not one of staff" in run("second@op.test", "--remove")
    second.refresh_from_db()
    assert not second.is_staff
    assert actions() == ["user.become_staff", "user.leave_staff"]


def test_an_address_that_nobody_confirmed_becomes_no_staff() -> None:
    user = account("typed@op.test", is_confirmed=False)

    with pytest.raises(CommandError, match="not confirmed"):
        run("typed@op.test")
    with pytest.raises(CommandError, match="no account"):
        run("nobody@op.test")

    user.refresh_from_db()
    assert not user.is_staff
    assert actions() == []


def test_the_last_account_of_staff_stays() -> None:
    user = account("only@op.test", is_staff=True)

    with pytest.raises(CommandError, match="no account of staff could log in"):
        run("only@op.test", "--remove")

    user.refresh_from_db()
    assert user.is_staff
    assert actions() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"is_active": False},
        {"password": "!unusable"},
        {"password": "!unusable", "oidc_subject": "https://former.test#1"},
        {"email": "never-confirmed@op.test"},
    ],
)
def test_an_account_that_cannot_log_in_does_not_count(changes: dict[str, object]) -> None:
    account("only@op.test", is_staff=True)
    other = account("other@op.test", is_staff=True)
    User.objects.filter(pk=other.pk).update(**changes)

    with pytest.raises(CommandError, match="no account of staff could log in"):
        run("only@op.test", "--remove")

    assert User.objects.get(email="only@op.test").is_staff
    assert "is not one of staff" in run(User.objects.get(pk=other.pk).email, "--remove")


def test_without_local_accounts_only_those_of_the_provider_count(settings: Settings) -> None:
    settings.LOCAL_ACCOUNTS_ENABLED = False
    account("only@op.test", is_staff=True)
    other = account("other@op.test", is_staff=True)

    with pytest.raises(CommandError, match="no account of staff could log in"):
        run("only@op.test", "--remove")
    User.objects.filter(pk=other.pk).update(oidc_subject="https://id.test#1", password="!none")

    assert "is not one of staff" in run("only@op.test", "--remove")


def test_an_address_need_not_be_confirmed_where_nobody_confirms(settings: Settings) -> None:
    settings.EMAIL_CONFIRMATION = False
    account("only@op.test", is_staff=True)
    account("other@op.test", is_staff=True, is_confirmed=False)

    assert "is not one of staff" in run("only@op.test", "--remove")
