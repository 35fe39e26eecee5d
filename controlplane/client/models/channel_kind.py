from typing import Literal, cast

ChannelKind = Literal["chat", "webhook"]


def check_channel_kind(value: str) -> ChannelKind:
    """Return ``value``; a newer server may know others than these."""
    return cast(ChannelKind, value)
