"""A passkey as a browser registers it, made without a browser."""

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal.auth import WebAuthn
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import sha256, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from tenants.models import User


def register(user: User, name: str) -> Authenticator:
    """Store a passkey of ``user``; nobody has its private key."""
    key: Authenticator = WebAuthn.add(user, name, _credential()).instance
    return key


def _credential() -> dict[str, Any]:
    """Return a registration as JSON (W3C Web Authentication 2, section 5.1)."""
    identity = b"0123456789abcdef"
    private = ec.generate_private_key(ec.SECP256R1())
    public = ES256.from_cryptography_key(private.public_key())  # type: ignore[no-untyped-call]
    attested = AttestedCredentialData.create(Aaguid(bytes(16)), identity, public)
    flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.AT
    data = AuthenticatorData.create(sha256(b"localhost"), flags, 0, attested)
    client = CollectedClientData.create(
        CollectedClientData.TYPE.CREATE, b"challenge", "http://localhost"
    )
    return {
        "id": websafe_encode(identity),
        "rawId": websafe_encode(identity),
        "type": "public-key",
        "clientExtensionResults": {},
        "response": {
            "clientDataJSON": websafe_encode(client),
            "attestationObject": websafe_encode(AttestationObject.create("none", data, {})),
        },
    }
