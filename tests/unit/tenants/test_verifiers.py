"""Password verifiers against the published test vectors and an independent computation."""

import base64
import hashlib
import hmac
import re
import secrets
from typing import Any

import pytest

from tenants import verifiers


def test_scram_verifier_checks_the_exchange_of_rfc_7677(monkeypatch: pytest.MonkeyPatch) -> None:
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    monkeypatch.setattr(verifiers, "SCRAM_ITERATIONS", 4096)
    monkeypatch.setattr(secrets, "token_bytes", lambda _: salt)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    message = (
        f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        f"c=biws,r={nonce}"
    ).encode()
    proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")

    made: Any = verifiers.build("pencil")["scram-sha-256"]

    assert (made["salt"], made["iterations"]) == ("W22ZaJ0SNY7soEsUEjb6gQ==", 4096)
    stored = base64.b64decode(made["stored_key"])
    signature = hmac.digest(stored, message, "sha256")
    client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
    assert hashlib.sha256(client_key).digest() == stored
    server = hmac.digest(base64.b64decode(made["server_key"]), message, "sha256")
    assert base64.b64encode(server) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_artemis_verifier_is_its_masked_form() -> None:
    made = str(verifiers.build("s3cret-pass")["artemis"])

    found = re.fullmatch(r"ENC\((\d+):([0-9A-F]{64}):([0-9A-F]{128})\)", made)
    assert found is not None
    iterations, salt, digest = int(found[1]), bytes.fromhex(found[2]), found[3]
    again = hashlib.pbkdf2_hmac("sha1", b"s3cret-pass", salt, iterations, 64)
    assert again.hex().upper() == digest


def test_two_verifiers_of_one_password_differ() -> None:
    assert verifiers.build("s3cret-pass") != verifiers.build("s3cret-pass")


def test_scram_takes_as_long_as_rfc_7677_asks() -> None:
    assert verifiers.SCRAM_ITERATIONS >= 4096
