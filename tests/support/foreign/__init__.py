"""Clients that are not ours: rhea on Node, proton as its own examples use it, Qpid JMS in Java.

Each does one thing over TLS and says what it counted, or how it was refused: rhea and proton do a
``Job``, Qpid JMS has a program of its own (``jms``).
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """What a client does.

    ``copies``: each receiver gets every message, else they share them. ``source``: where they
    read, if not at ``address``. ``size``: of a message of bytes instead of text.
    """

    host: str
    port: int
    ca: Path
    user: str
    password: str
    address: str
    messages: int = 20
    receivers: int = 2
    copies: bool = False
    source: str = ""
    size: int = 0

    @property
    def expected(self) -> int:
        """How many messages all receivers together get."""
        return self.messages * (self.receivers if self.copies else 1)

    def body(self, number: int) -> bytes | str:
        """Return what the message of this number says."""
        if not self.size:
            return f"message {number}"
        return (bytes(range(256)) * (self.size // 256 + 1))[number:][: self.size]

    @property
    def bodies(self) -> tuple[str, ...]:
        """What a receiver says that it got, in order: texts, or the SHA-256 of bytes."""
        return tuple(said(self.body(number)) for number in range(self.messages))


def said(body: bytes | str) -> str:
    """Return what a receiver says of a body: a text as it is, else the SHA-256."""
    return body if isinstance(body, str) else hashlib.sha256(body).hexdigest()


@dataclass(frozen=True)
class Told:
    """What a client says; ``refused`` is the error's name, empty when all went well."""

    accepted: int
    received: tuple[str, ...]
    refused: str
