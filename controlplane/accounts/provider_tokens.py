"""Checks what an identity provider says about a person: one set of rules for every kind of login.

The login in a browser, the login of the command by device and the login through an organization's
provider end here. Of the identity token these are checked (OpenID Connect Core 3.1.3.7): the
signature by a key of the provider and the one configured algorithm, issuer, audience, authorized
party, expiry, subject, and the nonce with which the login began.
"""

from collections.abc import Mapping
from typing import Any

import jwt
from django.core.exceptions import SuspiciousOperation

from controlplane.accounts import provider_http
from controlplane.accounts.provider_discovery import discovery
from controlplane.accounts.provider_identities import LoginRefused
from controlplane.accounts.providers import Provider, ProviderUnavailable


def with_user_claims(
    provider: Provider, claims: Mapping[str, Any], access_token: str
) -> dict[str, Any]:
    """Return the checked ``claims`` of an identity token together with those of user-info.

    Claims of the user-info answer replace those of the token, but for issuer and subject.

    Raises:
        LoginRefused: the user-info answer is about another subject. SuspiciousOperation: it is a
            token that is refused. ProviderUnavailable: the provider does not answer.
    """
    found = user_claims(provider, access_token)
    # OpenID Connect Core 5.3.2: an access token of somebody else may have been slipped in.
    if found.get("sub") != claims["sub"]:
        raise LoginRefused("The identity provider returned another person's data. Try again.")
    return {**claims, **found, "iss": claims["iss"], "sub": claims["sub"]}


def identity_claims(provider: Provider, token: str, *, nonce: str) -> dict[str, Any]:
    """Return the claims of an identity token; see the top of this module for what is checked.

    Raises:
        SuspiciousOperation: a check failed. ProviderUnavailable: the provider's keys cannot be had.
    """
    claims = signed_claims(provider, token)
    require_ours(claims, issuer=provider.issuer, client_id=provider.client_id)
    # An empty nonce binds the token to no login, even if the token repeats it.
    if not nonce or claims.get("nonce") != nonce:
        raise SuspiciousOperation("identity token with another nonce")
    return claims


def signed_claims(provider: Provider, token: str) -> dict[str, Any]:
    """Return the claims of a token that the provider has signed and that has not expired.

    Raises:
        SuspiciousOperation: the token is not such a token. ProviderUnavailable: the provider's keys
            cannot be had.
    """
    try:
        header = jwt.get_unverified_header(token)
        algorithm = provider.sign_algorithm
        # A token must not choose its algorithm, such as ``none``.
        if header.get("alg") != algorithm:
            raise SuspiciousOperation(f"token signed by {header.get('alg')!r:.20}")
        key = discovery.key(provider, str(header.get("kid")), algorithm)
        if key is None:
            raise SuspiciousOperation("token signed by an unknown key")
        claims: dict[str, Any] = jwt.decode(
            token,
            jwt.PyJWK(key, algorithm=algorithm).key,
            algorithms=[algorithm],
            # ``require_ours`` checks the audience, also of logout tokens.
            options={"verify_aud": False},
        )
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise SuspiciousOperation(f"token refused: {type(error).__name__}") from error
    return claims


def user_claims(provider: Provider, access_token: str) -> dict[str, Any]:
    """Return the answer of the provider's user-info endpoint to ``access_token``.

    Raises:
        ProviderUnavailable: the provider refuses the token, or does not answer.
        SuspiciousOperation: the answer is a token, and a check of it failed.
    """
    url = discovery.endpoint(provider, "user")
    answer = provider_http.get(provider, url, {"Authorization": f"Bearer {access_token}"})
    if answer.status != 200:
        raise ProviderUnavailable("The identity provider did not answer correctly. Try again.")
    # A provider may sign the answer (OpenID Connect Core 5.3.2).
    if answer.content_type.lower().startswith("application/jwt"):
        claims = signed_claims(provider, answer.text)
        if claims.get("iss", provider.issuer) != provider.issuer:
            raise SuspiciousOperation("user-info of another issuer")
        return claims
    return answer.members()


def require_ours(claims: Mapping[str, Any], *, issuer: str, client_id: str) -> None:
    """Check that ``issuer`` issued the token for ``client_id``, with an expiry and a subject.

    ``claims`` are those of the token. Checks that there is an expiry, not that it is in the future,
    because the library has done so.

    Raises:
        SuspiciousOperation: a check failed (OpenID Connect Core 3.1.3.7, steps 2 to 5 and 9).
    """
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    # Only a token with a single audience may leave out ``azp``.
    authorized = claims.get("azp", client_id if len(audiences) == 1 else None)
    if claims.get("iss") != issuer:
        raise SuspiciousOperation("identity token of another issuer")
    if client_id not in audiences or authorized != client_id:
        raise SuspiciousOperation("identity token for another client")
    if "exp" not in claims or not claims.get("sub"):
        raise SuspiciousOperation("identity token without expiry or subject")
