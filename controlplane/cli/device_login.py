"""`waypost login --device`: log in through the identity provider of a Waypost (RFC 8628).

The command asks the provider for a code, which the person enters in a browser anywhere. Meanwhile
the command polls the provider, no faster than the provider permits. Then it sends the provider's
tokens to Waypost.
"""

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx

from controlplane.cli import output
from controlplane.core.errors import Denied, Unavailable
from controlplane.rest_client import Api, Json

_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL_SECONDS = 5.0  # where the provider names none (RFC 8628, 3.2)
_SLOWER_SECONDS = 5.0  # for each ``slow_down`` (RFC 8628, 3.5)
_LONGEST_SECONDS = 3600.0  # to wait for the login, whatever the provider says
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}  # hosts that need no TLS
# Error of the device flow (RFC 8628, 3.5) -> message, code.
_REFUSALS = {
    "access_denied": ("The login was refused at the identity provider.", "login.denied"),
    "expired_token": ("The code was not entered in time. Begin again.", "login.expired"),
}
Sleep = Callable[[float], None]


def log_in(url: str, sleep: Sleep | None = None) -> Json:
    """Return the session that the Waypost at ``url`` gives the person; see ``POST /session``.

    Prints where to enter which code. ``sleep`` waits some seconds.

    Raises:
        Denied: ``login.no_device``: this Waypost offers no such login. ``login.denied``,
            ``login.expired``: the person refused, or took too long. Unavailable:
            ``identity_provider.unavailable``, ``identity_provider.invalid``.
        Refused: Waypost refuses the person.
    """
    api = Api(url)
    option = api.get("/login-options").get("device")
    if not option:
        raise Denied(
            "This Waypost offers no login by device: log in with email and password, or store an "
            "API token with `waypost contexts add`.",
            code="login.no_device",
        )
    # No redirects: one could take the device code and the tokens to another host.
    with httpx.Client(timeout=30, follow_redirects=False) as http:
        tokens = _Provider(http, option).ask(sleep or time.sleep)
    wanted = {"id_token": tokens["id_token"], "access_token": tokens["access_token"]}
    return api.post_once("/session/device", {**wanted, "nonce": option["nonce"]})


class _Provider:
    """The identity provider, as the installation's ``option`` names it."""

    def __init__(self, http: httpx.Client, option: Json) -> None:
        self._http, self._option, self._issuer = http, option, str(option["issuer"])
        issuer = urlsplit(self._issuer)
        if issuer.scheme != "https" and issuer.hostname not in _LOOPBACK:
            raise self._invalid("its address does not begin with https")

    def ask(self, sleep: Sleep) -> Json:
        """Show the code, and return the tokens once the person has entered it."""
        found = self._discover()
        started = self._post(
            self._endpoint(found, "device_authorization_endpoint"),
            {name: self._option[name] for name in ("client_id", "scope", "nonce")},
        )
        if not {"device_code", "user_code", "verification_uri"} <= set(started):
            raise self._invalid(str(started.get("error", "its answer has no code")))
        place, code = started["verification_uri"], started["user_code"]
        output.say(f"Open {place} in a browser and enter the code {code}")
        # Optional (RFC 8628, 3.2): an address that holds the code already.
        if complete := started.get("verification_uri_complete"):
            output.say(f"Or open {complete}")
        return self._poll(self._endpoint(found, "token_endpoint"), started, sleep)

    def _discover(self) -> Json:
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        found = self._json(lambda: self._http.get(url))
        # OpenID Connect Discovery 1.0, 4.3: both must be equal.
        if found.get("issuer") != self._issuer:
            raise self._invalid("it names another issuer than Waypost")
        return found

    def _endpoint(self, found: Json, name: str) -> str:
        url = str(found.get(name) or "")
        # A provider without TLS runs on this machine, and then its endpoints do too.
        if not (url.startswith("https://") or _origin(url) == _origin(self._issuer)):
            raise self._invalid(f"it names no safe {name}")
        return url

    def _poll(self, url: str, started: Json, sleep: Sleep) -> Json:
        """Ask for the tokens every ``interval`` seconds, until the code ends."""
        interval = _seconds(started.get("interval"), _INTERVAL_SECONDS)
        left = min(_seconds(started.get("expires_in"), _LONGEST_SECONDS), _LONGEST_SECONDS)
        form = {
            "grant_type": _GRANT,
            "device_code": str(started["device_code"]),
            "client_id": str(self._option["client_id"]),
        }
        while left > 0:
            # The pause first: a poll that comes too early costs a ``slow_down`` (RFC 8628, 3.5).
            sleep(interval)
            left -= interval
            try:
                found = self._post(url, form)
            except Unavailable:
                # Not a reason to begin again; but a provider in trouble is asked less often.
                interval *= 2
                continue
            if {"id_token", "access_token"} <= set(found):
                return found
            error = str(found.get("error"))
            if error == "slow_down":
                interval += _SLOWER_SECONDS
            elif error != "authorization_pending":
                text, code = _REFUSALS.get(error, (f"The login failed: {error}.", "login.denied"))
                raise Denied(text, code=code)
        text, code = _REFUSALS["expired_token"]
        raise Denied(text, code=code)

    def _post(self, url: str, form: dict[str, str]) -> Json:
        return self._json(lambda: self._http.post(url, data=form))

    def _json(self, send: Callable[[], httpx.Response]) -> Json:
        """Return the JSON object of an answer, errors of OAuth included.

        Raises:
            Unavailable: there is no answer, or none of OAuth.
        """
        try:
            answer = send()
            # A refusal of OAuth is JSON with status 400 (RFC 6749, 5.2), and ``_poll`` reads it.
            found: Any = answer.json() if answer.status_code < 500 else None
        except (httpx.HTTPError, ValueError):
            found = None
        if not isinstance(found, dict):
            raise Unavailable(
                f"The identity provider {self._issuer} does not answer as expected. Try again in "
                "some minutes.",
                code="identity_provider.unavailable",
            )
        return found

    def _invalid(self, reason: str) -> Unavailable:
        return Unavailable(
            f"The identity provider {self._issuer} is not usable: {reason}. Tell the operator.",
            code="identity_provider.invalid",
        )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def _seconds(value: Any, default: float) -> float:
    return float(value) if isinstance(value, int | float) and value > 0 else default
