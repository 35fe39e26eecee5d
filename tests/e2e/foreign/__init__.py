"""Clients that are not ours: rhea on Node, and proton as its own examples use it.

Each exchanges messages on one address over TLS and says what it counted, or how it was refused.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Job:
    """What a client does. ``copies``: each receiver gets every message, else they share them."""

    host: str
    port: int
    ca: Path
    user: str
    password: str
    address: str
    messages: int = 20
    receivers: int = 2
    copies: bool = False

    @property
    def expected(self) -> int:
        """How many messages all receivers together get."""
        return self.messages * (self.receivers if self.copies else 1)


@dataclass(frozen=True)
class Told:
    """What a client says; ``refused`` is the error's name, empty when all went well."""

    accepted: int
    received: tuple[str, ...]
    refused: str
