"""Show a stored message: decode the begin of its AMQP encoding into bounded, printable values.

``brokers.stored_messages`` calls ``shown``. The encoding may end anywhere: a section that is not
complete is left out, except the body, of which the begin is shown. ``encode`` makes the encoding of
a message that Waypost sends. Source: AMQP 1.0, part 3.2 (message format) and part 1.6 (encodings).
"""

import base64
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proton import Data, DataException, Message

_BODY_BYTES = 4096  # that people see of a body
_TEXT = 1000  # characters of one value of a property
_HEADER, _PROPERTIES, _APPLICATION = 0x70, 0x73, 0x74
_BODIES = {0x75, 0x76, 0x77}  # data, AMQP sequence, AMQP value (AMQP 1.0, 3.2)
# In the order of AMQP 1.0, 3.2.4.
_PROPERTY_NAMES = (
    "message_id",
    "user_id",
    "to",
    "subject",
    "reply_to",
    "correlation_id",
    "content_type",
    "content_encoding",
    "absolute_expiry_time",
    "creation_time",
    "group_id",
    "group_sequence",
    "reply_to_group_id",
)
# Constructors of binary (0xA0, 0xB0) and string (0xA1, 0xB1): the width of the length that follows.
_WIDTHS = {0xA0: 1, 0xA1: 1, 0xB0: 4, 0xB1: 4}


@dataclass(frozen=True)
class ShownMessage:
    """A stored message as a person reads it. Times are ms since 1970, 0 if there is none.

    * ``id``: the broker's id of the message. ``size``: bytes. ``deliveries``: attempts
      in its present queue.
    * ``came_from``: the queue from which the broker moved it, for a dead letter; empty for others.
    * ``properties``: the AMQP properties by name, without those that are not set.
    * ``body``: a text, or base64 if ``is_binary``. ``is_whole`` is False if ``body`` is only the
      begin of the message's body.
    """

    id: int
    sent_ms: int
    expires_ms: int
    size: int
    durable: bool
    priority: int
    group: str
    deliveries: int
    came_from: str
    properties: Mapping[str, Any] = field(default_factory=dict)
    application_properties: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""
    is_binary: bool = False
    is_whole: bool = True


def shown(row: Mapping[str, Any], encoded: bytes) -> ShownMessage:
    """Return the message of ``row``, a row of ``Messages.list`` of the broker plugin.

    ``encoded``: the first bytes of its AMQP encoding; empty if the plugin has none. What cannot
    be decoded is left out.
    """
    sections, body, is_cut = _sections(encoded)
    properties = {
        name: _value(value)
        for name, value in zip(_PROPERTY_NAMES, sections.get(_PROPERTIES) or [], strict=False)
        if value is not None
    }
    own = sections.get(_APPLICATION) or {}
    text, is_binary, is_whole = _body(body)
    return ShownMessage(
        id=int(row["id"]),
        sent_ms=int(row["sent"]),
        expires_ms=int(row["expires"]),
        size=int(row["size"]),
        durable=bool(row["durable"]),
        priority=int(row["priority"]),
        group=str(row["group"]),
        deliveries=int(row["deliveries"]),
        came_from=str(row["from"]),
        properties=properties,
        application_properties={str(name): _value(value) for name, value in own.items()},
        body=text,
        is_binary=is_binary,
        is_whole=is_whole and bool(encoded) and not is_cut,
    )


def _sections(encoded: bytes) -> tuple[dict[int, Any], bytes, bool]:
    """Return the decoded sections before the body by code, and the bytes of the body's sections.

    The bytes begin with the code of the body's first section. The third value is True if the
    encoding ends before the body, which every message has; the bytes are then empty.
    """
    found: dict[int, Any] = {}
    while len(encoded) > 3 and encoded[:2] == b"\x00\x53":
        code = encoded[2]
        if code in _BODIES:
            return found, encoded[2:], False
        section = Data()
        try:
            length = section.decode(encoded)
        except DataException:
            return found, b"", True
        section.rewind()
        section.next()
        described: Any = section.get_py_described()
        found[code] = described.value
        encoded = encoded[length:]
    return found, b"", True


def _body(section: bytes) -> tuple[str, bool, bool]:
    """Return at most ``_BODY_BYTES`` of a body section as text, and two facts about the text.

    They are: whether it is base64, and whether it is the whole section. Binary data in UTF-8 is
    shown as text.
    """
    if len(section) < 2:
        return "", False, False
    width = _WIDTHS.get(section[1])
    if width is None:
        return _other_body(section)
    begin = 2 + width
    if len(section) < begin:  # the encoding ends inside the length
        return "", False, False
    length = struct.unpack(">B" if width == 1 else ">I", section[2:begin])[0]
    content = section[begin : begin + min(length, _BODY_BYTES)]
    is_whole = len(content) == length
    is_text = section[1] in (0xA1, 0xB1)
    try:
        # A cut may have split the last character.
        cut = (
            content if is_whole else content[:-3] + content[-3:].decode("utf-8", "ignore").encode()
        )
        return cut.decode(), False, is_whole
    except UnicodeDecodeError:
        if is_text:
            return content.decode("utf-8", "replace"), False, is_whole
        return base64.b64encode(content).decode(), True, is_whole


def _other_body(section: bytes) -> tuple[str, bool, bool]:
    value = Data()
    try:
        value.decode(section[1:])
    except DataException:
        return base64.b64encode(section[1 : 1 + _BODY_BYTES]).decode(), True, False
    value.rewind()
    value.next()
    text = str(value.get_object())
    return text[:_BODY_BYTES], False, len(text) <= _BODY_BYTES


def _value(value: Any) -> Any:
    """Return the value of a property as JSON can have it.

    Bytes become base64. A number that JSON's doubles cannot hold, and any other type, becomes a
    text. Texts and bytes are cut after ``_TEXT``.
    """
    if isinstance(value, bool | int | float) and not isinstance(value, bytes):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)[:_TEXT]).decode()
    return str(value)[:_TEXT]


def encode(body: str, properties: Mapping[str, Any], *, durable: bool) -> bytes:
    """Return the AMQP encoding of a message with the text ``body``.

    ``properties`` become its application properties.
    """
    message = Message(body=body, durable=durable, properties=dict(properties) or None)
    return bytes(message.encode())
