"""A function of the test in place of the server of every ``Api``."""

from collections.abc import Callable
from functools import partial

import httpx
import pytest

from controlplane import rest_client


def answer_by(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[httpx.Request], httpx.Response]
) -> None:
    """Let ``answer`` get the requests of each ``Api`` that is made from now on."""
    sender = partial(rest_client.Sender, transport=httpx.MockTransport(answer))
    monkeypatch.setattr(rest_client, "Sender", sender)
