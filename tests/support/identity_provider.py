"""A fake OpenID provider: a real HTTP server with discovery, keys, code flow, device flow.

It checks what an honest provider checks: client, secret, redirect URI, PKCE, single use of codes.
Tests change ``document`` and ``claims`` to make it dishonest.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from controlplane.core.audit import SYSTEM
from tenants.actions import identity_providers
from tenants.models import IdentityProvider, Role, Tenant

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
Form = Mapping[str, str]
Reply = tuple[int, dict[str, Any]]


@cache
def _key() -> rsa.RSAPrivateKey:
    """One key for all providers of a run: making one takes a while."""
    return rsa.generate_private_key(65537, 2048)


@dataclass
class FakeProvider:
    """A running provider with one client.

    ``person`` are the claims of who logs in; ``claims`` change those of identity tokens, and
    ``document`` those of discovery (None: left out). ``requests`` are method and path of each
    request. ``device_answers`` are the errors that a device gets before its tokens.
    """

    port: int = 0
    client_id: str = "waypost"
    client_secret: str = "the-secret"
    person: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    key_id: str = "one"
    is_away: bool = False
    device_answers: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)
    _people: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self.port}/realm"

    def approve(self, location: str) -> str:
        """Return the query with which the provider sends the person back to ``redirect_uri``.

        ``location`` is the URL at the provider to which Waypost sent the browser.
        """
        asked = dict(parse_qsl(urlsplit(location).query))
        assert (asked["response_type"], asked["client_id"]) == ("code", self.client_id)
        code = secrets.token_urlsafe(8)
        self._codes[code] = asked
        return f"code={code}&state={asked['state']}"

    def count(self, path: str) -> int:
        """Return how many requests there were to ``path`` of the realm."""
        return sum(request.endswith(f"/realm{path}") for request in self.requests)

    def tokens(self, nonce: str = "", client_id: str = "") -> dict[str, Any]:
        """Return new tokens of ``person``."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": client_id or self.client_id,
            "iat": now,
            "exp": now + 300,
            "sub": self.person["sub"],
            **({"nonce": nonce} if nonce else {}),
            **self.claims,
        }
        access = secrets.token_urlsafe(8)
        self._people[access] = dict(self.person)
        signed = jwt.encode(
            {name: value for name, value in claims.items() if value is not None},
            _key(),
            "RS256",
            headers={"kid": self.key_id},
        )
        return {"access_token": access, "token_type": "Bearer", "id_token": signed}

    def get(self, path: str, token: str) -> Reply:
        """Return status and body of a GET."""
        if path == "/realm/.well-known/openid-configuration":
            return 200, self._discovery()
        if path == "/realm/keys":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(_key().public_key()))
            return 200, {"keys": [{**public, "kid": self.key_id, "alg": "RS256", "use": "sig"}]}
        if path == "/realm/userinfo" and token in self._people:
            return 200, self._people[token]
        return 404, {"error": "not_found"}

    def post(self, path: str, form: Form) -> Reply:
        """Return status and body of a POST."""
        if path == "/realm/device" and form.get("client_id"):
            code = secrets.token_urlsafe(8)
            self._codes[code] = dict(form)
            return 200, {
                "device_code": code,
                "user_code": "WDJB-MJHT",
                "verification_uri": f"{self.issuer}/enter",
                "verification_uri_complete": f"{self.issuer}/enter?user_code=WDJB-MJHT",
                "expires_in": 600,
                "interval": 5,
            }
        if path == "/realm/token" and form.get("grant_type") == DEVICE_GRANT:
            return self._device(form)
        if path == "/realm/token" and form.get("grant_type") == "authorization_code":
            return self._code(form)
        return 400, {"error": "invalid_request"}

    def _discovery(self) -> dict[str, Any]:
        found = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/logout",
            "device_authorization_endpoint": f"{self.issuer}/device",
            **self.document,
        }
        return {name: value for name, value in found.items() if value is not None}

    def _code(self, form: Form) -> Reply:
        asked = self._codes.pop(form.get("code", ""), None)
        if asked is None or form.get("redirect_uri") != asked["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        client = (form.get("client_id"), form.get("client_secret"))
        if client != (self.client_id, self.client_secret):
            return 401, {"error": "invalid_client"}
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if challenge != asked["code_challenge"]:
            return 400, {"error": "invalid_grant"}
        return 200, self.tokens(asked["nonce"])

    def _device(self, form: Form) -> Reply:
        if self.device_answers:
            return 400, {"error": self.device_answers.pop(0)}
        asked = self._codes.pop(form.get("device_code", ""), None)
        if asked is None or asked["client_id"] != form.get("client_id"):
            return 400, {"error": "invalid_grant"}
        return 200, self.tokens(asked.get("nonce", ""), asked["client_id"])


def of_tenant(
    tenant: Tenant, provider: FakeProvider, *, confirms: bool = True, **changes: Any
) -> IdentityProvider:
    """Make ``provider`` that of ``tenant``, with the domain acme.example; return its row."""
    values: dict[str, Any] = {
        "issuer": provider.issuer,
        "client_id": "waypost",
        "client_secret": "the-secret",
        "domains": ["acme.example"],
        "default_role": Role.VIEWER,
        **changes,
    }
    return identity_providers.save(
        tenant=tenant, wish=identity_providers.Wish(**values), by=SYSTEM, confirms=confirms
    )


@contextmanager
def running(**values: Any) -> Iterator[FakeProvider]:
    """Yield a provider on a free port of this machine; ``values`` are those of its fields."""
    provider = FakeProvider(**values)

    class Handler(BaseHTTPRequestHandler):
        """Answers what the provider says."""

        def do_GET(self) -> None:
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            self._answer(lambda path: provider.get(path, token))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: found[0] for name, found in parse_qs(body).items()}
            self._answer(lambda path: provider.post(path, form))

        def _answer(self, reply: Any) -> None:
            path = urlsplit(self.path).path
            provider.requests.append(f"{self.command} {path}")
            status, body = (503, {}) if provider.is_away else reply(path)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
