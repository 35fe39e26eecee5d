"""Finds the endpoints and the keys of identity providers (OpenID Connect Discovery 1.0).

A provider says in ``<issuer>/.well-known/openid-configuration`` where its endpoints are. Each
process caches this document for an hour and the keys for five minutes. So a key that the provider
has withdrawn may be accepted for five more minutes. If a token needs a key that is not cached, the
keys are fetched again, but not more often than every ten seconds.

The document must name the issuer that was configured: otherwise another issuer's provider could
pose as it. Endpoints must be https, or at the issuer's own host and port. The authorization
endpoint must leave the parameters of the request to Waypost.

Any organization may name a provider, so each process caches little: only the members that are used,
of answers that are not long, for a limited number of providers.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import structlog

from controlplane.accounts import provider_http
from controlplane.accounts.providers import Provider, ProviderUnavailable, origin

# Name of an endpoint -> its member of the document.
FIELDS: Mapping[str, str] = {
    "authorization": "authorization_endpoint",
    "token": "token_endpoint",
    "user": "userinfo_endpoint",
    "keys": "jwks_uri",
    "logout": "end_session_endpoint",
}
DOCUMENT_SECONDS = 3600.0  # how old a cached document with the endpoints may be
KEYS_SECONDS = 300.0  # how old cached keys may be
UNKNOWN_KEY_SECONDS = 10.0  # how old cached keys may be that lack the key of a token
_LONGEST_KEPT = 65_536  # characters of a document, or of a set of keys
_MOST_KEPT = 200  # documents and sets of keys
_MOST_KEYS = 100  # of a set
# What Waypost says in an authorization request, or what would replace it (OpenID Connect Core 1.0,
# 3.1.2.1 and 6).
_OURS = frozenset(
    "response_type response_mode client_id redirect_uri scope state nonce code_challenge "
    "code_challenge_method request request_uri".split()
)
logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Kept:
    fetched_at: float
    members: dict[str, Any]


class Discovery:
    """The documents and keys that this process caches. ``now`` is a clock in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        # By trust and URL: a provider that is not trusted must not read what Waypost fetched from
        # a private network for a trusted one.
        self._kept: dict[tuple[bool, str], _Kept] = {}

    def endpoint(self, provider: Provider, name: str) -> str:
        """Return the URL of the endpoint ``name`` of ``FIELDS``: the explicit one, if there is one.

        Raises:
            ProviderUnavailable: the provider does not answer (``identity_provider.unavailable``),
                or names no such endpoint, a wrong issuer or an unsafe URL
                (``identity_provider.invalid``).
        """
        if name in provider.explicit:
            return provider.explicit[name]
        found = self._document(provider).get(FIELDS[name])
        if not isinstance(found, str) or not _is_safe(found, provider.issuer):
            raise _invalid(provider, f"it names no usable {FIELDS[name]}")
        if name == "authorization" and (taken := _parameters(found) & _OURS):
            raise _invalid(provider, f"its {FIELDS[name]} sets {', '.join(sorted(taken))}")
        return found

    def logout_endpoint(self, provider: Provider) -> str:
        """Return where the provider ends its own session.

        Empty if the provider names no such endpoint, or does not answer. An endpoint that is not at
        the issuer's own host and port counts only if it is explicit: the Content-Security-Policy of
        pages permits forms to the issuer, and is written without the provider's document.
        """
        if "logout" in provider.explicit:
            return provider.explicit["logout"]
        try:
            found = self._document(provider).get(FIELDS["logout"])
        except ProviderUnavailable:
            return ""  # people can log out while the provider is away
        is_own = isinstance(found, str) and origin(found) == origin(provider.issuer)
        return str(found) if is_own else ""

    def key(self, provider: Provider, key_id: str, algorithm: str) -> dict[str, Any] | None:
        """Return the provider's key with this id for this algorithm (a JWK); None: it has none.

        Raises:
            ProviderUnavailable: see ``endpoint``.
        """
        url = self.endpoint(provider, "keys")
        for longest_age in (KEYS_SECONDS, UNKNOWN_KEY_SECONDS):
            found = self._fetched(provider, url, longest_age).get("keys")
            for one in found if isinstance(found, list) else []:
                if isinstance(one, dict) and _fits(one, key_id, algorithm):
                    return one
        return None

    def forget(self) -> None:
        """Forget everything that is kept, for tests and after a provider was changed."""
        self._kept.clear()

    def _document(self, provider: Provider) -> dict[str, Any]:
        url = f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration"
        document = self._fetched(provider, url, DOCUMENT_SECONDS)
        if document.get("issuer") != provider.issuer:
            # Not kept: the operator may correct it now.
            self._kept.pop((provider.is_trusted, url), None)
            raise _invalid(provider, f"it says that its issuer is {document.get('issuer')!r:.100}")
        return document

    def _fetched(self, provider: Provider, url: str, longest_age: float) -> dict[str, Any]:
        kept = self._kept.get((provider.is_trusted, url))
        if kept is not None and self._now() - kept.fetched_at < longest_age:
            return kept.members
        answer = provider_http.get(provider, url)
        is_short = len(answer.text) <= _LONGEST_KEPT
        members = _used(answer.members()) if is_short else {}
        if answer.status != 200 or not members:
            logger.warning("the identity provider failed", url=url, status=answer.status)
            raise ProviderUnavailable(
                f"The identity provider {urlsplit(provider.issuer).hostname} did not answer as "
                "expected. Try again in some minutes; if it stays so, ask who runs it."
            )
        self._keep((provider.is_trusted, url), members)
        return members

    def _keep(self, key: tuple[bool, str], members: dict[str, Any]) -> None:
        """Keep ``members``; drop what is too old, and the oldest ones if there are too many."""
        now = self._now()
        self._kept.pop(key, None)
        # The oldest first. A copy, because other threads change the dict too.
        kept = list(self._kept.items())
        spare = len(kept) - _MOST_KEPT + 1
        for place, (former, one) in enumerate(kept):
            if place < spare or now - one.fetched_at >= DOCUMENT_SECONDS:
                self._kept.pop(former, None)
        self._kept[key] = _Kept(now, members)


# What this process keeps.
discovery = Discovery()


def _used(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a document or a set of keys that are used, of the right types."""
    names = ("issuer", *FIELDS.values())
    found: dict[str, Any] = {
        name: members[name] for name in names if isinstance(members.get(name), str)
    }
    keys = members.get("keys")
    if isinstance(keys, list):
        found["keys"] = [
            # What is needed of a key is text; anything else is not stored.
            {name: value for name, value in key.items() if isinstance(value, str)}
            for key in keys[:_MOST_KEYS]
            if isinstance(key, dict)
        ]
    return found


def _parameters(url: str) -> set[str]:
    """Return the names of the parameters in ``url``, joined with ``&`` or with ``;``."""
    query = urlsplit(url).query
    found = (parse_qsl(query, keep_blank_values=True, separator=mark) for mark in "&;")
    return {name for pairs in found for name, _ in pairs}


def _fits(key: Mapping[str, Any], key_id: str, algorithm: str) -> bool:
    return (
        key.get("kid") == key_id
        and key.get("alg", algorithm) == algorithm
        and key.get("use", "sig") == "sig"
    )


def _is_safe(url: str, issuer: str) -> bool:
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_plain = parts.username is None and not parts.fragment and url.isprintable()
    is_private = parts.scheme == "https" or origin(url) == origin(issuer)
    return has_host and is_plain and is_private and " " not in url


def _invalid(provider: Provider, reason: str) -> ProviderUnavailable:
    logger.warning("the identity provider is not usable", issuer=provider.issuer, reason=reason)
    return ProviderUnavailable(
        f"The identity provider {urlsplit(provider.issuer).hostname} is not usable: {reason}.",
        code="identity_provider.invalid",
    )
