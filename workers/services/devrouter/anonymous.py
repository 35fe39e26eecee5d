"""Serve anonymous senders: links without a target address, whose messages each name an address."""

from typing import TYPE_CHECKING

from proton import Condition, Delivery, Message, MessageException

from workers.services.devrouter import forwarding
from workers.services.devrouter.forwarding import Inbound, Verdict
from workers.services.devrouter.handshake import Peer

if TYPE_CHECKING:
    from workers.services.devrouter.links import Producer
    from workers.services.devrouter.router import Router

_DENIED = Verdict(
    Delivery.REJECTED, Condition("amqp:unauthorized-access", "disallowed by local policy")
)


class AnonymousSink:
    """The ``Sink`` of one anonymous sender: passes each message to the address in its field ``to``.

    It always lets the producer give credit, as Dispatch does. A message is rejected if ``peer`` may
    not send to its address, and released if there is no such address now.
    """

    has_path = True

    def __init__(self, router: "Router", peer: Peer) -> None:
        self._router = router
        self._peer = peer

    def accept(self, inbound: Inbound) -> None:
        message = Message()
        try:
            message.decode(inbound.payload)
            name = message.address or ""
        except MessageException:
            name = ""  # no address has this name, so the message is rejected or released
        address = self._router.find_known(name)
        if not self._peer.may("send", name):
            inbound.conclude(_DENIED)
        elif address is None:
            inbound.conclude(forwarding.RELEASED)
        else:
            address.accept(inbound)

    def leave(self, producer: "Producer") -> None:
        """Do nothing: no state is kept for a producer."""
