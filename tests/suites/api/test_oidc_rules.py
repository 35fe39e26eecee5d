"""Rules of an OpenID login that no honest provider breaks: audiences, issuers, linking."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.core.exceptions import SuspiciousOperation
from pytest_django import Settings

from controlplane.accounts import provider_groups, provider_identities, provider_tokens
from tenants.models import IdentityProvider, Tenant, TenantIdentity, User
from tests.support.access import passkeys

CLAIMS = {"iss": "https://id.example", "aud": "waypost", "exp": 1, "sub": "42"}


def is_ours(**changes: Any) -> bool:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    try:
        provider_tokens.require_ours(claims, issuer="https://id.example", client_id="waypost")
    except SuspiciousOperation:
        return False
    return True


@pytest.mark.parametrize(
    "changes",
    [{}, {"aud": ["waypost"]}, {"aud": ["other", "waypost"], "azp": "waypost"}, {"azp": "waypost"}],
)
def test_token_for_us_is_accepted(changes: dict[str, Any]) -> None:
    assert is_ours(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://id.example/"},
        {"iss": None},
        {"aud": "other"},
        {"aud": None},
        {"aud": ["other"]},
        {"aud": ["other", "waypost"]},
        {"aud": ["other", "waypost"], "azp": "other"},
        {"azp": "other"},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
    ],
)
def test_token_for_anyone_else_is_refused(changes: dict[str, Any]) -> None:
    assert not is_ours(**changes)


@pytest.mark.parametrize("verified", ["true", 1, "1", None, False])
def test_only_a_true_claim_verifies_an_email(verified: bool | int | str | None) -> None:
    claims = {**CLAIMS, "email": "A@Example.test", "email_verified": verified}

    identity = provider_identities.read_identity(claims)

    assert (identity.email, identity.email_verified) == ("a@example.test", False)


def identity(**changes: Any) -> provider_identities.Identity:
    values: dict[str, Any] = {
        "subject": "https://id.example#42",
        "email": "a@example.test",
        "email_verified": True,
        "first_name": "A",
        "last_name": "B",
        **changes,
    }
    return provider_identities.Identity(**values)


@pytest.mark.django_db
def test_same_subject_with_an_unverified_email_still_gets_in() -> None:
    user = provider_identities.sign_in(identity())

    again = provider_identities.sign_in(identity(email="new@example.test", email_verified=False))

    assert again == user
    assert again.email == "a@example.test"


@pytest.mark.django_db
def test_same_subject_of_another_issuer_is_another_person() -> None:
    provider_identities.sign_in(identity())

    with pytest.raises(provider_identities.LoginRefused):
        provider_identities.sign_in(identity(subject="https://evil.example#42"))

    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{"email": ""}, {"email_verified": False}])
def test_no_account_without_a_verified_email(changes: dict[str, Any]) -> None:
    with pytest.raises(provider_identities.LoginRefused, match="verified"):
        provider_identities.sign_in(identity(**changes))

    assert not User.objects.exists()


@pytest.mark.django_db
def test_linking_removes_second_factors_that_somebody_else_may_have_added() -> None:
    local = User.objects.create_user("a@example.test", "a@example.test", "set-by-whoever")
    passkeys.register(local, "of whoever")
    TOTP.activate(local, "SECRETSECRETSECRET")

    assert provider_identities.sign_in(identity()) == local

    assert not Authenticator.objects.exists()


@pytest.mark.django_db
def test_linking_ends_the_identity_at_a_provider_of_a_tenant() -> None:
    local = User.objects.create_user("a@example.test", "a@example.test", "set-by-whoever")
    provider = IdentityProvider.objects.create(
        tenant=Tenant.objects.create(name="A", slug="a"), issuer="https://login.a.example"
    )
    TenantIdentity.objects.create(
        provider=provider, user=local, subject="https://login.a.example#1"
    )

    assert provider_identities.sign_in(identity()) == local

    assert not TenantIdentity.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{"is_staff": True}, {"is_staff": True, "is_superuser": True}])
def test_an_operators_account_is_linked_to_nobody_that_the_provider_does_not_call_staff(
    changes: dict[str, Any],
) -> None:
    account = User.objects.create_user("a@example.test", "a@example.test", "set-by-me", **changes)
    with pytest.raises(provider_identities.LoginRefused, match="of an operator"):
        provider_identities.sign_in(identity())
    assert User.objects.get(pk=account.pk).oidc_subject is None


@pytest.mark.django_db
def test_an_operators_account_is_linked_if_the_provider_calls_the_person_staff() -> None:
    account = User.objects.create_user(
        "a@example.test", "a@example.test", "set-by-me", is_staff=True
    )
    with pytest.raises(provider_identities.LoginRefused, match="verified"):
        provider_identities.sign_in(identity(is_staff=True, email_verified=False))

    assert provider_identities.sign_in(identity(is_staff=True)) == account
    account.refresh_from_db()
    assert account.oidc_subject == "https://id.example#42"
    assert not account.has_usable_password()


@pytest.mark.django_db
@pytest.mark.parametrize(("group", "expected"), [("ops", True), ("devs", False), ("", False)])
def test_the_group_of_the_operators_makes_staff(
    settings: Settings, group: str, expected: bool
) -> None:
    settings.OIDC_STAFF_GROUP = group

    assert provider_groups.read_identity({**CLAIMS, "groups": ["/ops", ""]}).is_staff is expected


@pytest.mark.django_db
def test_new_names_are_taken_over() -> None:
    provider_identities.sign_in(identity())

    user = provider_identities.sign_in(identity(first_name="Anna"))

    assert User.objects.get(pk=user.pk).first_name == "Anna"
