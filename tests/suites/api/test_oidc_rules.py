"""Rules of an OpenID login that no honest provider breaks: audiences, issuers, linking."""

from typing import Any

import pytest
from django.core.exceptions import SuspiciousOperation

from controlplane import oidc
from tenants.models import User

CLAIMS = {"iss": "https://id.example", "aud": "waypost", "exp": 1, "sub": "42"}


def is_ours(**changes: Any) -> bool:
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    try:
        oidc.require_ours(claims, issuer="https://id.example", client_id="waypost")
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

    identity = oidc.read_identity(claims)

    assert (identity.email, identity.email_verified) == ("a@example.test", False)


def identity(**changes: Any) -> oidc.Identity:
    values: dict[str, Any] = {
        "subject": "https://id.example#42",
        "email": "a@example.test",
        "email_verified": True,
        "first_name": "A",
        "last_name": "B",
        **changes,
    }
    return oidc.Identity(**values)


@pytest.mark.django_db
def test_same_subject_with_an_unverified_email_still_gets_in() -> None:
    user = oidc.sign_in(identity())

    again = oidc.sign_in(identity(email="new@example.test", email_verified=False))

    assert again == user
    assert again.email == "a@example.test"


@pytest.mark.django_db
def test_same_subject_of_another_issuer_is_another_person() -> None:
    oidc.sign_in(identity())

    with pytest.raises(oidc.LoginRefused):
        oidc.sign_in(identity(subject="https://evil.example#42"))

    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{"email": ""}, {"email_verified": False}])
def test_no_account_without_a_verified_email(changes: dict[str, Any]) -> None:
    with pytest.raises(oidc.LoginRefused, match="verified"):
        oidc.sign_in(identity(**changes))

    assert not User.objects.exists()


@pytest.mark.django_db
def test_new_names_are_taken_over() -> None:
    oidc.sign_in(identity())

    user = oidc.sign_in(identity(first_name="Anna"))

    assert User.objects.get(pk=user.pk).first_name == "Anna"
