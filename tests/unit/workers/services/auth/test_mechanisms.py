"""The login mechanisms against the published example and against everything a liar can try."""

import base64
import hashlib
import hmac

import pytest
from scramp import ScramClient

from tenants import verifiers
from workers.services.auth import mechanisms
from workers.services.auth.state import KnownUser, Verifier

# RFC 7677 section 3: user "user", password "pencil", both nonces, the proof and the signature.
SALT, ITERATIONS = "W22ZaJ0SNY7soEsUEjb6gQ==", 4096
CLIENT_NONCE, SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
CLIENT_FIRST = f"n,,n=user,r={CLIENT_NONCE}".encode()
SERVER_FIRST = f"r={CLIENT_NONCE}{SERVER_NONCE},s={SALT},i={ITERATIONS}".encode()
WITHOUT_PROOF = f"c=biws,r={CLIENT_NONCE}{SERVER_NONCE}"
PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def verifier(password: str = "pencil") -> Verifier:
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), base64.b64decode(SALT), ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    return Verifier(
        SALT, ITERATIONS, base64.b64encode(stored).decode(), base64.b64encode(server).decode()
    )


USER = KnownUser("user", verifier(), {})


def find(name: str) -> KnownUser | None:
    return USER if name == "user" else None


def exchange() -> mechanisms.ScramExchange:
    return mechanisms.ScramExchange(find, nonce=SERVER_NONCE)


def test_scram_answers_the_example_of_the_rfc() -> None:
    conversation = exchange()

    first = conversation.begin(CLIENT_FIRST)
    user, final = conversation.finish(f"{WITHOUT_PROOF},p={PROOF}".encode())

    assert (first, user, final) == (SERVER_FIRST, USER, SERVER_FINAL)


@pytest.mark.parametrize(
    "final",
    [
        f"{WITHOUT_PROOF},p={base64.b64encode(bytes(32)).decode()}",
        f"{WITHOUT_PROOF},p=",
        f"{WITHOUT_PROOF},p=not base64",
        WITHOUT_PROOF,
        f"c=biws,r={CLIENT_NONCE}other,p={PROOF}",
        f"c=eSws,r={CLIENT_NONCE}{SERVER_NONCE},p={PROOF}",
        "",
    ],
)
def test_scram_refuses_a_final_that_proves_nothing(final: str) -> None:
    conversation = exchange()
    conversation.begin(CLIENT_FIRST)

    with pytest.raises(mechanisms.Refused):
        conversation.finish(final.encode())


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"n,,",
        b"n,,n=user",
        b"n,,r=x",
        b"p=tls-unique,,n=user,r=x",
        b"n,a=other,n=user,r=x",
        b"\xff\xfe",
        b"n,,n=user,r=x,m=extension",
        b"n,,n=us=er,r=x",
        b"n,,n=" + b"a" * 600 + b",r=x",
    ],
)
def test_scram_refuses_a_first_message_that_is_not_one(first: bytes) -> None:
    with pytest.raises(mechanisms.Refused):
        exchange().begin(first)


def test_scram_answers_an_unknown_name_like_a_known_one() -> None:
    conversation = exchange()

    first = conversation.begin(f"n,,n=nobody,r={CLIENT_NONCE}".encode()).decode()

    again = exchange().begin(f"n,,n=nobody,r={CLIENT_NONCE}".encode()).decode()
    assert first == again  # the same salt each time, or a salt would tell who exists
    assert first.startswith(f"r={CLIENT_NONCE}{SERVER_NONCE},s=")
    with pytest.raises(mechanisms.Refused):
        conversation.finish(f"{WITHOUT_PROOF},p={PROOF}".encode())


def test_scram_takes_what_tenants_verifiers_have_stored() -> None:
    stored = verifiers.build("pencil")["scram-sha-256"]
    known = KnownUser("user", Verifier(**stored), {})  # type: ignore[arg-type]
    client = ScramClient(["SCRAM-SHA-256"], "user", "pencil")
    conversation = mechanisms.ScramExchange(lambda _: known)

    client.set_server_first(conversation.begin(client.get_client_first().encode()).decode())
    user, final = conversation.finish(client.get_client_final().encode())

    client.set_server_final(final.decode())  # raises unless the server proved itself
    assert user is known


def test_the_decoy_of_an_unknown_name_opens_for_no_password() -> None:
    for password in ("", "pencil", "\x01"):
        with pytest.raises(mechanisms.Refused):
            mechanisms.check_plain(f"\0nobody\0{password}".encode(), find)


@pytest.mark.parametrize("authorization", ["", "user"])
def test_plain_lets_the_right_password_in(authorization: str) -> None:
    assert mechanisms.check_plain(f"{authorization}\0user\0pencil".encode(), find) is USER


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"\0user",
        b"\0user\0",
        b"\0user\0Pencil",
        b"other\0user\0pencil",
        b"\0user\0pencil\0x",
        b"\0\xff\0pencil",
    ],
)
def test_plain_refuses_everything_else(response: bytes) -> None:
    with pytest.raises(mechanisms.Refused):
        mechanisms.check_plain(response, find)
