"""Read and write AMQP 1.0 frames: those of SASL, as server and as client, and open and close.

The auth service uses no other frames. The development router uses this module for logins only.
Values are encoded and decoded by proton. Source: OASIS AMQP 1.0 part 2 section 2.3 (frames), part 5
section 5.3 (SASL).
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol, Self

from proton import UNDESCRIBED, Array, Data, ProtonException, symbol
from proton import ubyte as _ubyte

AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
AMQP_FRAME = 0  # the byte ``type`` of a frame (AMQP 1.0, 2.3.1)
SASL_FRAME = 1  # the byte ``type`` of a SASL frame (AMQP 1.0, 5.3.1)
_UNDESCRIBED: Any = UNDESCRIBED  # proton's type stubs declare a Constant
# Larger frames are refused. A login needs a few hundred bytes, and the open frame with a user's
# permissions up to 32 KiB (``auth.server``).
MAX_FRAME_BYTES = 65536


class Code(IntEnum):
    """Descriptors of the performatives that the auth service and the development router use."""

    OPEN = 0x10
    CLOSE = 0x18
    MECHANISMS = 0x40
    INIT = 0x41
    CHALLENGE = 0x42
    RESPONSE = 0x43
    OUTCOME = 0x44


class Outcome(IntEnum):
    """The codes of SASL outcomes that the auth service and the development router use.

    Source: AMQP 1.0 part 5, section 5.3.3.6.
    """

    OK = 0
    AUTH = 1
    SYSTEM_PERMANENT = 3
    SYSTEM_TEMPORARY = 4


class Malformed(Exception):
    """The peer sent something else than the header or frame that is required at this point."""


class Reader(Protocol):
    """A source of bytes: ``asyncio.StreamReader`` or the development router's ``Wire``."""

    async def readexactly(self, n: int) -> bytes: ...


@dataclass(frozen=True)
class Frame:
    """One received frame; ``raw`` holds its bytes as received, header included.

    ``code`` is the descriptor of its performative, ``fields`` are the performative's fields.
    """

    code: int
    fields: Sequence[Any]
    raw: bytes

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Decode the bytes of a whole frame, header included.

        Raises:
            Malformed: the frame's body is not a performative.
        """
        data = Data()
        try:
            # The fifth byte is the data offset, in words of 4 bytes.
            data.decode(raw[raw[4] * 4 :])
            data.rewind()
            data.next()
            described: Any = data.get_object()
            # Binary values may be views into ``data``; a copy outlives it.
            values = [
                bytes(value) if isinstance(value, memoryview) else value
                for value in described.value
            ]
            return cls(int(described.descriptor), values, raw)
        except (ProtonException, AttributeError, TypeError, ValueError) as error:
            raise Malformed(f"not a performative: {error}") from error

    def field(self, index: int) -> Any:
        """Return the field at ``index``; None if it is null, or left out at the end."""
        return self.fields[index] if index < len(self.fields) else None


async def read_header(reader: Reader) -> bytes:
    """Read and return the 8 bytes of a protocol header.

    Raises:
        Malformed: the bytes do not begin with ``AMQP``.
        EOFError: the connection ended before.
    """
    header = await reader.readexactly(8)
    if header[:4] != b"AMQP":
        raise Malformed(f"not an AMQP header: {header!r}")
    return header


async def read_frame(reader: Reader, *expected: Code) -> Frame:
    """Read and return the next frame.

    Raises:
        Malformed: the frame is too large, broken, or not one of ``expected``.
        EOFError: the connection ended before the frame's end.
    """
    head = await reader.readexactly(8)
    # Size in bytes, data offset in words of 4 bytes, type, channel (AMQP part 2 section 2.3.1).
    size, offset, _, _ = struct.unpack(">IBBH", head)
    if not 8 <= offset * 4 <= size <= MAX_FRAME_BYTES:
        raise Malformed(f"a frame of {size} bytes with offset {offset}")
    frame = Frame.decode(head + await reader.readexactly(size - 8))
    if frame.code not in expected:
        raise Malformed(f"unexpected performative 0x{frame.code:02x}")
    return frame


def encode(code: Code, fields: Sequence[Any]) -> bytes:
    """Return the bytes of a frame with the performative ``code``, on channel 0.

    proton chooses the AMQP type of each field by its Python type.
    """
    # A performative is a described list: its descriptor, then its fields in order.
    data = Data()
    data.put_described()
    data.enter()
    data.put_ulong(int(code))
    data.put_list()
    data.enter()
    for value in fields:
        data.put_object(value)
    data.exit()
    data.exit()
    body = bytes(data.encode())
    # All descriptors from MECHANISMS on belong to SASL.
    kind = SASL_FRAME if code >= Code.MECHANISMS else AMQP_FRAME
    return struct.pack(">IBBH", len(body) + 8, 2, kind, 0) + body


def symbols(names: Sequence[str]) -> Array:
    return Array(_UNDESCRIBED, Data.SYMBOL, *[symbol(name) for name in names])


def strings(values: Sequence[str]) -> Array:
    return Array(_UNDESCRIBED, Data.STRING, *values)


def ubyte(value: int) -> Any:
    return _ubyte(value)


def texts(values: Any) -> Sequence[str]:
    """Return the texts of a decoded array, as a list. A single text counts as an array of one.

    Source: AMQP part 1 section 1.4 (fields with ``multiple``).
    """
    if isinstance(values, str):
        return [values]
    return [str(value) for value in getattr(values, "elements", values)]


def symbol_map(values: Mapping[str, Any]) -> dict[symbol, Any]:
    return {symbol(key): value for key, value in values.items()}
