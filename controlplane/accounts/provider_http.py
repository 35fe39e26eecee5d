"""Sends HTTP requests to identity providers. It follows no redirect and limits the answer's size.

URLs that the operator has set are called with `requests`, which uses the proxies and certificate
authorities of the environment.
 Every other URL is called by the rules of ``core.outbound``: only public addresses,
or those of ``WEBHOOK_ALLOWED_RANGES``. An organization's provider cannot make Waypost call a host
of the installation.
"""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests
import structlog
from django.conf import settings

from controlplane.accounts.providers import Provider, ProviderUnavailable
from controlplane.core import outbound

_LONGEST_ANSWER = 500_000  # bytes: a document, or the keys, of a large provider
logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Answer:
    """The answer of a provider. ``text`` is its body."""

    status: int
    text: str
    content_type: str

    def members(self) -> dict[str, Any]:
        """Return the members of the JSON object in the body; none if it is no JSON object."""
        try:
            found = json.loads(self.text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def get(provider: Provider, url: str, headers: Mapping[str, str] | None = None) -> Answer:
    """Return the answer of ``url``, whatever its status.

    Raises:
        ProviderUnavailable: there is no answer, or the URL is not one that Waypost may call.
    """
    return _call(provider, url, "GET", None, {"Accept": "application/json", **(headers or {})})


def post_form(provider: Provider, url: str, form: Mapping[str, str]) -> Answer:
    """Post ``form`` to ``url`` and return the answer, whatever its status.

    Raises:
        ProviderUnavailable: there is no answer, or the URL is not one that Waypost may call.
    """
    headers = {
        "Accept": "application/json",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    return _call(provider, url, "POST", urlencode(form).encode(), headers)


def _call(
    provider: Provider, url: str, method: str, body: bytes | None, headers: Mapping[str, str]
) -> Answer:
    try:
        if provider.trusts(url):
            return _trusted(url, method, body, headers)
        wanted = outbound.Request(method, body, headers, _LONGEST_ANSWER)
        found = outbound.send(outbound.resolve(url), wanted, settings.OIDC_TIMEOUT)
        return Answer(found.status, found.text, found.content_type)
    except (
        requests.RequestException,
        outbound.TargetRefused,
        http.client.HTTPException,
        OSError,
    ) as error:
        reason = error.message if isinstance(error, outbound.TargetRefused) else type(error)
        logger.warning(
            "the identity provider failed", host=urlsplit(url).hostname, reason=str(reason)
        )
        raise ProviderUnavailable(
            f"The identity provider {urlsplit(provider.issuer).hostname} does not answer. Try "
            "again in some minutes; if it stays so, ask who runs it."
        ) from None


def _trusted(url: str, method: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    with requests.request(
        method,
        url,
        data=body,
        headers=headers,
        timeout=settings.OIDC_TIMEOUT,
        # A redirect could lead to a private host that the operator has not set.
        allow_redirects=False,
        stream=True,
    ) as answer:
        # ``answer.text`` would read an endless body.
        text = answer.raw.read(_LONGEST_ANSWER, decode_content=True).decode("utf-8", "replace")
        return Answer(answer.status_code, text, answer.headers.get("Content-Type", ""))
