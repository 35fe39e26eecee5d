"""Measure operations on 100,000 stored messages of a real broker: `make bench-messages`."""

import base64
import os
import sys
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
django.setup()

from controlplane.core.address_types import AddressSettings  # noqa: E402
from tests.support.messaging import public_broker  # noqa: E402
from workers.messaging import encoded_message, management  # noqa: E402
from workers.messaging.brokers import stored_messages  # noqa: E402
from workers.messaging.brokers.desired import BrokerAddressKind, DesiredAddress  # noqa: E402
from workers.messaging.brokers.stored_messages import MessageChanges, Position  # noqa: E402
from workers.messaging.management import ManagementClient, Request  # noqa: E402
from workers.messaging.observed import ManagementTarget  # noqa: E402

_MESSAGES = 100_000
_BATCH = 200
_PAGE = 50
_QUEUE = BrokerAddressKind.QUEUE


def main() -> None:
    """Fill a queue, move everything to another one, and print how long each operation takes.

    The pages are read in three ways: the first one, all of them in order, and the last one alone.
    """
    dead = DesiredAddress("dead", _QUEUE)
    orders = DesiredAddress("orders", _QUEUE, limits=AddressSettings(dead_letter="dead"))
    with (
        tempfile.TemporaryDirectory() as folder,
        public_broker.running(Path(folder), (dead, orders), ()) as broker,
    ):
        with _connected(broker.rigged.target) as client:
            _fill(client)
        began = time.monotonic()
        listed = stored_messages.list_messages(broker.rigged.target, "dead", count=_PAGE, seconds=5)
        _say(f"first page of {len(listed.messages)}", began)
        _walk(broker.rigged.target)
        began = time.monotonic()
        far = Position(_MESSAGES - _PAGE)
        stored_messages.list_messages(broker.rigged.target, "dead", far, count=_PAGE, seconds=60)
        _say("last page without the pages before it", began)
        # Another connection: the broker closes one that says nothing while the pages are read.
        with _connected(broker.rigged.target) as client:
            _resend(MessageChanges(client))


def _connected(target: ManagementTarget) -> AbstractContextManager[ManagementClient]:
    return management.connected(target, purpose="bench", timeout_seconds=300)


def _resend(changes: MessageChanges) -> None:
    began, done = time.monotonic(), 0
    while page := changes.find("dead", newest=0, skip=0, count=_BATCH).messages:
        done += changes.resend("dead", [message.id for message in page])
    _say(f"{done} messages resent", began)


def _walk(target: ManagementTarget) -> None:
    """Read all pages, one after the other, as somebody does who looks for a message."""
    began = time.monotonic()
    after: Position | None = Position()
    ids: set[int] = set()
    pages: list[float] = []
    while after is not None:
        at = time.monotonic()
        listed = stored_messages.list_messages(target, "dead", after, count=_PAGE, seconds=60)
        pages.append(time.monotonic() - at)
        ids.update(message.id for message in listed.messages)
        after = listed.next
    _say(f"all {len(pages)} pages, {len(ids)} messages", began)
    most, last = max(pages), pages[-1]
    sys.stdout.write(f"slowest page: {most:.2f} s; the last one: {last:.2f} s\n")


def _fill(client: ManagementClient) -> None:
    encoded = encoded_message.encode("x" * 200, {"n": 1}, durable=True)
    began = time.monotonic()
    text = base64.b64encode(encoded).decode()
    request = Request("waypost.messages", "send", ["orders", text])
    client.ask([request] * _MESSAGES)
    client.call("queue.orders", "moveMessages", "", "dead")
    _say(f"{_MESSAGES} messages sent and moved", began)


def _say(what: str, began: float) -> None:
    sys.stdout.write(f"{what}: {time.monotonic() - began:.2f} s\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
