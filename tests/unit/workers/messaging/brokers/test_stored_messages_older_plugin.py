"""A broker that runs since before an upgrade moves messages by its own operations."""

from collections.abc import Sequence
from typing import Any

import pytest

from workers.messaging.brokers.stored_messages import MessageChanges
from workers.messaging.management import ManagementClient, Refused, Request


class Broker(ManagementClient):
    """Refuses the plugin's operations with ``answer``, and does its own."""

    def __init__(self, answer: str) -> None:
        self._answer = answer
        self.done: list[tuple[str, str, Sequence[Any]]] = []

    def ask(self, requests: Sequence[Request]) -> list[Any]:
        for one in requests:
            if one.resource == "waypost.messages":
                raise Refused(self._answer)
            self.done.append((one.resource, one.operation, one.arguments))
        return [True for _ in requests]


def test_an_older_plugin_is_replaced_by_the_brokers_own_operations() -> None:
    broker = Broker("AMQ229069: no operation resend/2")

    moved = MessageChanges(broker).move("dead", [7], "orders")
    resent = MessageChanges(broker).resend("dead", [8, 9])

    assert (moved, resent) == (1, 2)
    assert broker.done == [
        ("queue.dead", "moveMessage", [7, "orders"]),
        ("queue.dead", "retryMessage", [8]),
        ("queue.dead", "retryMessage", [9]),
    ]


def test_any_other_refusal_moves_nothing() -> None:
    broker = Broker('AMQ229102: Address "orders" is full.')

    with pytest.raises(Refused, match="is full"):
        MessageChanges(broker).resend("dead", [8])

    assert broker.done == []
