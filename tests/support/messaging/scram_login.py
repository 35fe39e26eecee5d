"""A login by SCRAM-SHA-256, frame by frame: what a library does not show (RFC 5802, RFC 7677)."""

import asyncio
import base64
import hashlib
import hmac
import secrets
import ssl
from contextlib import suppress

from tests.support.messaging.routing_rig import HOST, Rig
from workers.services import amqp_frames as frames
from workers.services.amqp_frames import Code, Frame


def outcome_of(router: Rig, name: str, password: str) -> Frame:
    """Return the SASL outcome that the router answers a right or wrong login with."""
    return asyncio.run(_log_in(router, name, password))


def outcome_without_service(router: Rig) -> Frame:
    """Return the SASL outcome of a login that nobody can judge: no challenge comes before it."""
    return asyncio.run(_begin_login(router))


async def _begin_login(router: Rig) -> Frame:
    trust = ssl.create_default_context(cafile=str(router.folder / "space-ca.pem"))
    reader, writer = await asyncio.open_connection(
        HOST, router.engine_layout.public_port, ssl=trust
    )
    try:
        writer.write(frames.SASL_HEADER)
        await frames.read_header(reader)
        answer = await frames.read_frame(reader, Code.MECHANISMS, Code.OUTCOME)
        if answer.code == Code.MECHANISMS:
            plain = frames.symbols(["PLAIN"]).elements[0]
            writer.write(frames.encode(Code.INIT, [plain, b"\0anna\0secret of anna", HOST]))
            answer = await frames.read_frame(reader, Code.OUTCOME)
        return answer
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


async def _log_in(router: Rig, name: str, password: str) -> Frame:
    trust = ssl.create_default_context(cafile=str(router.folder / "space-ca.pem"))
    reader, writer = await asyncio.open_connection(
        HOST, router.engine_layout.public_port, ssl=trust
    )
    try:
        writer.write(frames.SASL_HEADER)
        await frames.read_header(reader)
        await frames.read_frame(reader, Code.MECHANISMS)
        first = f"n={name},r={secrets.token_hex(8)}"
        mechanism = frames.symbols(["SCRAM-SHA-256"]).elements[0]
        writer.write(frames.encode(Code.INIT, [mechanism, f"n,,{first}".encode(), HOST]))
        challenge = (await frames.read_frame(reader, Code.CHALLENGE)).field(0).decode()
        final = _client_final(first, challenge, password)
        writer.write(frames.encode(Code.RESPONSE, [final.encode()]))
        answer = await frames.read_frame(reader, Code.CHALLENGE, Code.OUTCOME)
        if answer.code == Code.CHALLENGE:  # the server's own proof
            writer.write(frames.encode(Code.RESPONSE, [b""]))
            answer = await frames.read_frame(reader, Code.OUTCOME)
        return answer
    finally:
        writer.transport.abort()  # the router is not waited for, the socket's end is
        with suppress(OSError):
            await writer.wait_closed()


def _client_final(first: str, challenge: str, password: str) -> str:
    fields = dict(part.split("=", 1) for part in challenge.split(","))
    salt, rounds = base64.b64decode(fields["s"]), int(fields["i"])
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    without_proof = f"c=biws,r={fields['r']}"
    signed = f"{first},{challenge},{without_proof}".encode()
    signature = hmac.digest(hashlib.sha256(client_key).digest(), signed, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    return f"{without_proof},p={base64.b64encode(proof).decode()}"
